import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { operations } from '../../../../contract/service.ts'
import { isHookId, type Repository } from '../../domain/repositories/repository.ts'
import type { Context } from '../context.ts'
import { notFound } from '../errors.ts'
import { route } from '../route.ts'
import { bodyLimit, readBody, tooLarge } from './body.ts'
import { createUploads, type Upload, uploadLimits } from './uploads.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The repository that the webhook belongs to. */
    repository: Repository
    /** Null until the body arrives. */
    upload: Upload | null
  }
}

/** Receives webhook deliveries: verifies and stores each one, then responds. The worker processes it later. */
export function webhookRoutes({ store, repositories }: Context) {
  return async (app: FastifyInstance) => {
    const uploads = createUploads(uploadLimits, () => app.loadShedder.countRejection('webhooks'))
    app.decorateRequest('repository')
    app.decorateRequest('upload', null)
    app.removeAllContentTypeParsers()
    // Keep the raw bytes, whatever the content type: the signature covers them.
    app.addContentTypeParser('*', async (request: FastifyRequest, body: Readable) => {
      if (Number(request.headers['content-length']) > bodyLimit) throw tooLarge()
      request.upload = { hookId: request.repository.hookId, bytes: 0, abort: null }
      return readBody(body, request.upload, uploads)
    })
    // The memory of a body is in use until the delivery is stored.
    app.addHook('onSend', (request, _reply, payload, done) => {
      if (request.upload !== null) uploads.remove(request.upload)
      done(null, payload)
    })

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
}
