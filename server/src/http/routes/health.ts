import type { FastifyInstance } from 'fastify'
import { DomainError } from '../../domain/errors.ts'
import type { Context } from '../app.ts'
import { errorBody } from '../errors.ts'

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
    app.get('/healthz', async () => ({ status: 'ok' }))

    app.get('/readyz', async (request, reply) => {
      try {
        await checkWritable()
        return { status: 'ready' }
      } catch (error) {
        log.warn({ requestId: request.id, err: error }, 'not ready')
        const unavailable = new DomainError('internal_error', 'The database does not accept writes.')
        return reply.status(503).type('application/json; charset=utf-8').send(errorBody(unavailable))
      }
    })
  }
}
