import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type ApiKey, issueKey, rotateKey } from '../../domain/access/api-key.ts'
import { invalid } from '../../domain/errors.ts'
import { pageOffset } from '../../domain/page.ts'
import { hour, type Instant, parseTime } from '../../domain/time.ts'
import type { Context } from '../context.ts'
import { errorBodySchema, errorSchema, unexpectedBodySchema } from '../error-schema.ts'
import { notFound } from '../errors.ts'
import { defaultOverlapHours, type OverlapBody, overlapSchema } from '../overlap-schema.ts'
import { renderPage, requestedPage } from '../page-body.ts'
import { pageQuerySchema } from '../page-schema.ts'
import { idParameter } from '../parameters.ts'
import { toIssuedKeyBody, toKeyBody } from './body.ts'
import { issuedKeySchema, keyPageSchema, keyParamsSchema, type NewKeyBody, newKeySchema } from './schema.ts'

const config = { roles: ['admin'] } as const
const errors = { 401: errorBodySchema, 403: errorBodySchema, 500: errorBodySchema }
const params = keyParamsSchema
const tags = ['Keys']

/** Manage the organisation's API keys, as the CLI does. */
export function keyRoutes({ store, vault, clock }: Context) {
  /** The key in the path. A key of another organisation is a 404. */
  async function findKey(request: FastifyRequest): Promise<ApiKey> {
    const { key_id: id } = request.params as { key_id: string }
    const key = await store.keys.find(idParameter(id))
    if (key === null || key.organisationId !== request.access.organisationId) throw notFound()
    return key
  }

  return async (app: FastifyInstance) => {
    app.get(
      '/keys',
      {
        schema: {
          operationId: 'listKeys',
          summary: 'List keys',
          description: 'Oldest first, including revoked and expired keys.',
          tags,
          querystring: pageQuerySchema,
          response: { 200: keyPageSchema, ...errors },
        },
        config,
      },
      async (request, reply) => {
        const keys = await store.keys.list(request.access.organisationId)
        const pageRequest = requestedPage(request.query)
        const offset = pageOffset(pageRequest)
        const page = keys.slice(offset, offset + pageRequest.limit)
        return reply
          .type('application/json; charset=utf-8')
          .send(renderPage(page.map(toKeyBody), pageRequest, keys.length))
      },
    )

    app.post(
      '/keys',
      {
        schema: {
          operationId: 'createKey',
          summary: 'Create a key',
          description: 'The response contains the key. It is shown only once.',
          tags,
          body: newKeySchema,
          response: {
            201: issuedKeySchema,
            ...errors,
            422: errorSchema(
              'validation_error',
              'role must be "ingest", "recorder", "reader", "standard", "admin" or "signing"',
            ),
          },
        },
        config,
      },
      async (request, reply) => {
        const { name = 'unnamed', role = 'standard', prompts = null, expires_at: expires } = request.body as NewKeyBody
        const { access } = request
        const { organisationId } = access
        const now = clock()
        const expiresAt = expires == null ? null : futureTime('expires_at', expires, now)
        const details = { organisationId, name, role, prompts, createdAt: now, expiresAt }
        const issued = await issueKey(store.keys, details, access, vault)
        return reply.status(201).send({ data: toIssuedKeyBody(issued) })
      },
    )

    app.delete(
      '/keys/:key_id',
      {
        schema: {
          operationId: 'revokeKey',
          summary: 'Revoke a key',
          description: 'Requests with the key are rejected from now on.',
          tags,
          params,
          response: {
            204: { type: 'null', description: 'The key is revoked' },
            ...errors,
            404: errorBodySchema,
            422: unexpectedBodySchema,
          },
        },
        config,
      },
      async (request, reply) => {
        const { id } = await findKey(request)
        await store.keys.revoke(id, clock(), request.access)
        return reply.status(204).send()
      },
    )

    app.post(
      '/keys/:key_id/rotate',
      {
        schema: {
          operationId: 'rotateKey',
          summary: 'Rotate a key',
          description:
            'Creates a replacement with the same name, role, prompts and lifetime. The old key stays valid during the overlap, 24 hours by ' +
            'default.',
          tags,
          params,
          body: overlapSchema('key'),
          response: {
            201: issuedKeySchema,
            ...errors,
            404: errorBodySchema,
            409: errorSchema('conflict', 'Key 12 is revoked or expired. Create a new key instead.'),
            422: errorSchema('validation_error', 'overlap_hours must be >= 0'),
          },
        },
        config,
        // Before the body is read: 404 comes before 422, as for prompts.
        onRequest: async (request) => {
          await findKey(request)
        },
      },
      async (request, reply) => {
        const { overlap_hours: overlapHours = defaultOverlapHours } = (request.body ?? {}) as OverlapBody
        const key = await findKey(request)
        const issued = await rotateKey(store.keys, key, overlapHours * hour, clock(), request.access, vault)
        return reply.status(201).send({ data: toIssuedKeyBody(issued) })
      },
    )
  }
}

function futureTime(field: string, text: string, now: Instant): Instant {
  const at = parseTime(field, text)
  if (at <= now) throw invalid(`${field} must be in the future`)
  return at
}
