import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type ApiKey, issueKey, rotateKey } from '../../domain/access/api-key.ts'
import { invalid } from '../../domain/errors.ts'
import { pageOffset } from '../../domain/page.ts'
import { type Instant, parseTime } from '../../domain/time.ts'
import type { Context } from '../context.ts'
import { errorBodySchema, errorSchema, unexpectedBodySchema } from '../error-schema.ts'
import { notFound } from '../errors.ts'
import { renderPage, requestedPage } from '../page-body.ts'
import { pageQuerySchema } from '../page-schema.ts'
import { idParameter } from '../parameters.ts'
import { toIssuedKeyBody, toKeyBody } from './body.ts'
import {
  issuedKeySchema,
  keyPageSchema,
  keyParamsSchema,
  type NewKeyBody,
  newKeySchema,
  type RotationBody,
  rotationSchema,
} from './schema.ts'

const config = { roles: ['admin'] } as const
const errors = { 401: errorBodySchema, 403: errorBodySchema, 500: errorBodySchema }
const params = keyParamsSchema
const tags = ['Keys']
const hour = 3_600_000

/** The organisation's keys, as the command manages them. */
export function keyRoutes({ store, clock }: Context) {
  /** The key that the path names, if it is the organisation's own. */
  async function named(request: FastifyRequest): Promise<ApiKey> {
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
          tags,
          querystring: pageQuerySchema,
          response: { 200: keyPageSchema, ...errors },
        },
        config,
      },
      async (request, reply) => {
        const found = await store.keys.list(request.access.organisationId)
        const asked = requestedPage(request.query)
        const page = found.slice(pageOffset(asked), pageOffset(asked) + asked.limit)
        return reply.type('application/json; charset=utf-8').send(renderPage(page.map(toKeyBody), asked, found.length))
      },
    )

    app.post(
      '/keys',
      {
        schema: {
          operationId: 'createKey',
          summary: 'Create a key',
          tags,
          body: newKeySchema,
          response: {
            201: issuedKeySchema,
            ...errors,
            422: errorSchema('validation_error', 'role must be "ingest", "standard" or "admin"'),
          },
        },
        config,
      },
      async (request, reply) => {
        const { name = 'unnamed', role = 'standard', expires_at: expires } = request.body as NewKeyBody
        const { access } = request
        const { organisationId } = access
        const now = clock()
        const expiresAt = expires == null ? null : future('expires_at', expires, now)
        const issued = await issueKey(store.keys, { organisationId, name, role, createdAt: now, expiresAt }, access)
        return reply.status(201).send({ data: toIssuedKeyBody(issued) })
      },
    )

    app.delete(
      '/keys/:key_id',
      {
        schema: {
          operationId: 'revokeKey',
          summary: 'Revoke a key',
          description: 'It is refused from then on.',
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
        const { id } = await named(request)
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
          description: 'Makes a key like it; the old one works on for a while. Without a body, for a day.',
          tags,
          params,
          body: rotationSchema,
          response: {
            201: issuedKeySchema,
            ...errors,
            404: errorBodySchema,
            409: errorSchema('conflict', 'Key 12 is revoked or has expired: create a new one'),
            422: errorSchema('validation_error', 'overlap_hours must be >= 0'),
          },
        },
        config,
        // Before the body is looked at: what is not there comes first, as with prompts.
        onRequest: async (request) => {
          await named(request)
        },
      },
      async (request, reply) => {
        const { overlap_hours: overlap = 24 } = (request.body ?? {}) as RotationBody
        const key = await named(request)
        const issued = await rotateKey(store.keys, key, overlap * hour, clock(), request.access)
        return reply.status(201).send({ data: toIssuedKeyBody(issued) })
      },
    )
  }
}

function future(field: string, text: string, now: Instant): Instant {
  const at = parseTime(field, text)
  if (at <= now) throw invalid(`${field} must be in the future`)
  return at
}
