import { isUtf8 } from 'node:buffer'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { DomainError, invalid, notFound } from '../../domain/errors.ts'
import { isHookId, type Repository } from '../../domain/repositories/repository.ts'
import type { Vault } from '../../domain/repositories/vault.ts'
import type { Instant } from '../../domain/time.ts'
import { forgeOf } from '../../forges/index.ts'
import type { Context } from '../context.ts'
import { errorBodySchema, errorSchema } from '../error-schema.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The repository that the hook belongs to. */
    repository: Repository
  }
}

// What the largest forges send at most.
const bodyLimit = 25 * 1024 * 1024

const unsigned = 'The signature is missing or does not fit: check the secret of the webhook.'

const schema = {
  operationId: 'receiveDelivery',
  summary: 'Where forges send their deliveries',
  description:
    'Pushes and pull requests, as the forge sends them, up to 25 MB. No key, but a signature over the bytes with ' +
    'the secret of the webhook. Stored and answered at once; the work is done later.',
  tags: ['Repositories'],
  security: ['github', 'gitlab', 'gitlab_signed', 'gitea', 'forgejo', 'bitbucket'],
  params: {
    type: 'object',
    required: ['hook_id'],
    properties: {
      hook_id: {
        type: 'string',
        description: 'The last part of `webhook_url`',
        examples: ['Xk2mPa9Qw4Rt6Yu8Io1Zx3Cv'],
      },
    },
  },
  body: { type: 'object', description: 'What the forge has to say', examples: [{ zen: 'Design for failure.' }] },
  response: {
    202: {
      type: 'object',
      required: ['data'],
      properties: {
        data: {
          type: 'object',
          required: ['status'],
          properties: { status: { const: 'accepted' } },
          additionalProperties: false,
        },
      },
      additionalProperties: false,
      description: 'The delivery is stored',
      examples: [{ data: { status: 'accepted' } }],
    },
    401: errorSchema('unauthorized', unsigned),
    404: errorBodySchema,
    422: errorSchema('validation_error', 'The body is not valid UTF-8'),
    500: errorBodySchema,
  },
}

/** Where forges send their deliveries: verified, stored and answered at once; the work is done later. */
export function webhookRoutes({ store, clock, repositories: following }: Context) {
  return async (app: FastifyInstance) => {
    app.decorateRequest('repository')
    app.removeAllContentTypeParsers()
    // The signature is over the bytes as they came, whatever they say they are.
    app.addContentTypeParser<Buffer>('*', { parseAs: 'buffer', bodyLimit }, (_request, bytes, done) =>
      done(null, bytes),
    )

    /** Before the body is read: whoever does not know the address of a hook could send a lot of it. */
    async function onRequest(request: FastifyRequest): Promise<void> {
      const { hook_id: hookId } = request.params as { hook_id: string }
      const repository = isHookId(hookId) ? await store.repositories.findByHook(hookId) : null
      if (repository === null || repository.disconnectedAt !== null) throw notFound()
      request.repository = repository
    }

    app.post('/webhooks/:hook_id', { schema, onRequest, bodyLimit }, async (request, reply) => {
      const { repository } = request
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
  return new DomainError('unauthorized', unsigned)
}
