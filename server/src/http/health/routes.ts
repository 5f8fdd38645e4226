import type { FastifyInstance } from 'fastify'
import { DomainError } from '../../domain/errors.ts'
import type { Context } from '../context.ts'
import { errorSchema, malformedRequestSchema } from '../error-schema.ts'
import { errorBody } from '../errors.ts'

const tags = ['Service']
const healthy = '{"status":"ok"}'
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

const healthSchema = {
  operationId: 'getHealth',
  summary: 'Check that the process is running',
  tags,
  response: { 200: statusSchema('ok'), 422: malformedRequestSchema },
}

const readinessSchema = {
  operationId: 'getReadiness',
  summary: 'Check that the database accepts writes',
  tags,
  response: {
    200: statusSchema('ready'),
    422: malformedRequestSchema,
    503: errorSchema('internal_error', notWritable),
  },
}

/** Health checks for load balancers and orchestrators. Unauthenticated; they reveal only the status. */
export function healthRoutes({ store, log }: Context) {
  let check: Promise<void> | null = null

  // Each check writes to the database, so concurrent requests share one.
  function checkWritable(): Promise<void> {
    check ??= store.checkWritable().finally(() => {
      check = null
    })
    return check
  }

  return async (app: FastifyInstance) => {
    app.get('/healthz', { schema: healthSchema }, (_request, reply) => {
      reply.type('application/json; charset=utf-8').send(healthy)
    })

    app.get('/readyz', { schema: readinessSchema }, async (request, reply) => {
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
