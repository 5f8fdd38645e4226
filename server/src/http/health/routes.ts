import type { FastifyInstance } from 'fastify'
import { notWritable, operations } from '../../../../contract/service.ts'
import { DomainError } from '../../domain/errors.ts'
import type { Context } from '../context.ts'
import { errorBody } from '../errors.ts'
import { route } from '../route.ts'

const healthy = '{"status":"ok"}'

/** Health checks for load balancers and orchestrators. Unauthenticated; they reveal only the status. */
export function healthRoutes(app: FastifyInstance, { store, log }: Context): void {
  let check: Promise<void> | null = null

  // Each check writes to the database, so concurrent requests share one.
  function checkWritable(): Promise<void> {
    check ??= store.checkWritable().finally(() => {
      check = null
    })
    return check
  }

  route(app, operations.getHealth, (_request, reply) => {
    reply.type('application/json; charset=utf-8').send(healthy)
  })

  route(app, operations.getReadiness, async (request, reply) => {
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
