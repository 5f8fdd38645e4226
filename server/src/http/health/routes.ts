import type { FastifyInstance } from 'fastify'
import { DomainError } from '../../domain/errors.ts'
import type { Context } from '../context.ts'
import { errorSchema, malformedRequestSchema } from '../error-schema.ts'
import { errorBody } from '../errors.ts'

const tags = ['Service']
const notWritable = 'The database does not accept writes.'

function statusSchema(status: string) {
  return {
    type: 'object',
    required: ['status'],
    properties: { status: { const: status } },
    additionalProperties: false,
    examples: [{ status }],
  }
}

const livesSchema = {
  operationId: 'getHealth',
  summary: 'Whether the process lives',
  tags,
  response: { 200: statusSchema('ok'), 422: malformedRequestSchema },
}

const readySchema = {
  operationId: 'getReadiness',
  summary: 'Whether the database accepts a write',
  tags,
  response: {
    200: statusSchema('ready'),
    422: malformedRequestSchema,
    503: errorSchema('internal_error', notWritable),
  },
}

/** For whoever watches the process: no key needed, nothing told. */
export function healthRoutes({ store, log }: Context) {
  let check: Promise<void> | null = null

  // Each check writes, so those that come together share one.
  function checkWritable(): Promise<void> {
    check ??= store.checkWritable().finally(() => {
      check = null
    })
    return check
  }

  return async (app: FastifyInstance) => {
    app.get('/healthz', { schema: livesSchema }, async () => ({ status: 'ok' }))

    app.get('/readyz', { schema: readySchema }, async (request, reply) => {
      try {
        await checkWritable()
        return { status: 'ready' }
      } catch (error) {
        log.warn({ requestId: request.id, err: error }, 'not ready')
        const unavailable = new DomainError('internal_error', notWritable)
        return reply.status(503).type('application/json; charset=utf-8').send(errorBody(unavailable))
      }
    })
  }
}
