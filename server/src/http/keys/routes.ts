import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type NewKeyBody, operations } from '../../../../contract/keys.ts'
import { defaultOverlapHours, type OverlapBody } from '../../../../contract/schema.ts'
import { type ApiKey, issueKey, rotateKey } from '../../domain/access/api-key.ts'
import { invalid } from '../../domain/errors.ts'
import { pageOffset } from '../../domain/page.ts'
import { hour, type Instant, parseTime } from '../../domain/time.ts'
import type { Context } from '../context.ts'
import { notFound } from '../errors.ts'
import { renderPage, requestedPage } from '../page-body.ts'
import { idParameter } from '../parameters.ts'
import { beforeBody, route } from '../route.ts'
import { toIssuedKeyBody, toKeyBody } from './body.ts'

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
    route(app, operations.listKeys, async (request, reply) => {
      const keys = await store.keys.list(request.access.organisationId)
      const pageRequest = requestedPage(request.query)
      const offset = pageOffset(pageRequest)
      const page = keys.slice(offset, offset + pageRequest.limit)
      return reply
        .type('application/json; charset=utf-8')
        .send(renderPage(page.map(toKeyBody), pageRequest, keys.length))
    })

    route(app, operations.createKey, async (request, reply) => {
      const { name = 'unnamed', role = 'standard', prompts = null, expires_at: expires } = request.body as NewKeyBody
      const { access } = request
      const { organisationId } = access
      const now = clock()
      const expiresAt = expires == null ? null : futureTime('expires_at', expires, now)
      const details = { organisationId, name, role, prompts, createdAt: now, expiresAt }
      const issued = await issueKey(store.keys, details, access, vault)
      return reply.status(201).send({ data: toIssuedKeyBody(issued) })
    })

    route(app, operations.revokeKey, async (request, reply) => {
      const { id } = await findKey(request)
      await store.keys.revoke(id, clock(), request.access)
      return reply.status(204).send()
    })

    route(
      app,
      operations.rotateKey,
      async (request, reply) => {
        const { overlap_hours: overlapHours = defaultOverlapHours } = (request.body ?? {}) as OverlapBody
        const key = await findKey(request)
        const issued = await rotateKey(store.keys, key, overlapHours * hour, clock(), request.access, vault)
        return reply.status(201).send({ data: toIssuedKeyBody(issued) })
      },
      beforeBody(findKey),
    )
  }
}

function futureTime(field: string, text: string, now: Instant): Instant {
  const at = parseTime(field, text)
  if (at <= now) throw invalid(`${field} must be in the future`)
  return at
}
