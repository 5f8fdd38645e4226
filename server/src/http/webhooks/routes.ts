import type { FastifyInstance, FastifyRequest } from 'fastify'
import { operations } from '../../../../contract/service.ts'
import { isHookId, type Repository } from '../../domain/repositories/repository.ts'
import type { Context } from '../context.ts'
import { notFound } from '../errors.ts'
import { route } from '../route.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The repository that the webhook belongs to. */
    repository: Repository
  }
}

/** Receives webhook deliveries: verifies and stores each one, then responds. The worker processes it later. */
export function webhookRoutes(app: FastifyInstance, { store, repositories }: Context): void {
  app.decorateRequest('repository')
  // Keep the raw bytes, whatever the content type: the signature covers them.
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: FastifyRequest, bytes: Buffer) => bytes)

  /** Runs before the body is read, so that only a known webhook URL can make us receive 25 MB. */
  async function onRequest(request: FastifyRequest): Promise<void> {
    const { hook_id: hookId } = request.params as { hook_id: string }
    const repository = isHookId(hookId) ? await store.repositories.findByHook(hookId) : null
    if (repository === null || repository.disconnectedAt !== null) throw notFound()
    request.repository = repository
  }

  route(
    app,
    operations.receiveDelivery,
    async ({ repository, headers, body }, reply) => {
      await repositories.receive(repository, { headers, body: (body as Buffer | undefined) ?? Buffer.alloc(0) })
      return reply.status(202).send({ data: { status: 'accepted' } })
    },
    { onRequest, bodyLimit },
  )
}

// GitHub, which sends the largest deliveries, stops at 25 MB.
const bodyLimit = 25 * 1024 * 1024
