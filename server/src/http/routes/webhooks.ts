import { isUtf8 } from 'node:buffer'
import type { FastifyInstance } from 'fastify'
import { DomainError, invalid, notFound } from '../../domain/errors.ts'
import { isHookId, type Repository } from '../../domain/repository.ts'
import type { Instant } from '../../domain/time.ts'
import type { Vault } from '../../domain/vault.ts'
import { forgeOf } from '../../forges/index.ts'
import type { Context } from '../app.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The repository that the hook belongs to. */
    repository: Repository
  }
}

// What the largest forges send at most.
const bodyLimit = 25 * 1024 * 1024

/** Where forges send their deliveries: verified, stored and answered at once; the work is done later. */
export function webhookRoutes({ store, clock, following }: Context) {
  return async (app: FastifyInstance) => {
    app.removeAllContentTypeParsers()
    // The signature is over the bytes as they came, whatever they say they are.
    app.addContentTypeParser<Buffer>('*', { parseAs: 'buffer', bodyLimit }, (_request, bytes, done) =>
      done(null, bytes),
    )

    app.post('/webhooks/:hook_id', async (request, reply) => {
      const { hook_id: hookId } = request.params as { hook_id: string }
      const repository = isHookId(hookId) ? await store.repositories.findByHook(hookId) : null
      if (repository === null || repository.disconnectedAt !== null) throw notFound()
      const forge = forgeOf(repository.forge)
      const incoming = { headers: request.headers, body: (request.body as Buffer | undefined) ?? Buffer.alloc(0) }
      const now = clock()
      if (!forge.verify(incoming, secretsOf(repository, following.vault, now), now)) throw wrongSignature()
      if (!isUtf8(incoming.body)) throw invalid('The body is not valid UTF-8')
      // Text with NUL characters is no JSON, and not every engine can store it.
      const body = incoming.body.toString().replaceAll('\0', '\ufffd')
      await store.deliveries.receive(repository, { ...forge.describe(request.headers), body, receivedAt: now })
      following.wake(repository.id)
      return reply.status(202).send({ data: { status: 'accepted' } })
    })
  }
}

function secretsOf(
  { sealedSecret, sealedOldSecret, oldSecretUntil }: Repository,
  vault: Vault,
  now: Instant,
): string[] {
  const old = sealedOldSecret !== null && oldSecretUntil !== null && now < oldSecretUntil ? [sealedOldSecret] : []
  return [sealedSecret, ...old].map((sealed) => vault.open(sealed))
}

function wrongSignature(): DomainError {
  return new DomainError('unauthorized', 'The signature is missing or does not fit: check the secret of the webhook.')
}
