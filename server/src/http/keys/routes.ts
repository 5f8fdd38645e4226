import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type NewKeyBody, operations } from '../../../../contract/keys.ts'
import { type Access, type ApiKey, issueKey, type Role, rotateKey } from '../../domain/access/api-key.ts'
import { ownKeyRoles, type Person } from '../../domain/access/person.ts'
import { invalid } from '../../domain/errors.ts'
import { type Instant, parseTime } from '../../domain/time.ts'
import type { Context } from '../context.ts'
import { forbidden, notFound } from '../errors.ts'
import { requestedPage, sendPage } from '../page-body.ts'
import { idParameter, overlapMs } from '../parameters.ts'
import { beforeBody, route } from '../route.ts'
import { toIssuedKeyBody, toKeyBody } from './body.ts'

/** Manage API keys, as the CLI does: admins those of the organisation, other people their own. */
export function keyRoutes(app: FastifyInstance, { store, vault, clock }: Context): void {
  /**
   * Whose keys the caller may manage: null for all, otherwise their own. Only while signed in: one of their keys may have fewer
   * rights than they have, and must not create one that has them all.
   */
  async function ownerFor(access: Access): Promise<Person | null> {
    if (access.role === 'admin') return null
    const person = await store.people.ofKey(access.keyId)
    if (person?.keyId !== access.keyId) throw forbidden(access.role)
    return person
  }

  /** The key in the path. A key that the caller may not manage is a 404, and so is the key of a person's sessions. */
  async function findKey({ params, access }: FastifyRequest): Promise<ApiKey> {
    const owner = await ownerFor(access)
    const key = await store.keys.find(idParameter(params, 'key_id'))
    if (key === null || key.organisationId !== access.organisationId || key.hint === '') throw notFound()
    if (owner !== null && key.personId !== owner.id) throw notFound()
    return key
  }

  /** The person that a new key will belong to. */
  async function newOwner(access: Access, role: Role, isPersonal: boolean): Promise<Person | null> {
    const owner = isPersonal ? await store.people.ofKey(access.keyId) : await ownerFor(access)
    if (isPersonal && owner === null)
      throw invalid('personal must be false, because this request has a key that belongs to no person')
    if (owner !== null) {
      const allowed = ownKeyRoles(owner.role)
      if (!allowed.includes(role)) {
        throw invalid(`role must be one that a ${owner.role} may have: ${allowed.join(', ')}`)
      }
    }
    return owner
  }

  route(app, operations.listKeys, async (request, reply) => {
    const owner = await ownerFor(request.access)
    const page = requestedPage(request.query)
    const { keys, totalCount } = await store.keys.page(request.access.organisationId, owner?.id ?? null, page)
    return sendPage(reply, keys.map(toKeyBody), page, totalCount)
  })

  const checkOwner = beforeBody(({ access }) => ownerFor(access))
  route(
    app,
    operations.createKey,
    async (request, reply) => {
      const body = request.body as NewKeyBody
      const { name = 'unnamed', role = 'standard', prompts = null, expires_at: expires, personal = false } = body
      const { access } = request
      const { organisationId } = access
      const now = clock()
      const expiresAt = expires == null ? null : futureTime('expires_at', expires, now)
      const personId = (await newOwner(access, role, personal))?.id ?? null
      const details = { organisationId, personId, name, role, prompts, createdAt: now, expiresAt }
      const issued = await issueKey(store.keys, details, access, vault)
      return reply.status(201).send({ data: toIssuedKeyBody(issued) })
    },
    checkOwner,
  )

  route(app, operations.revokeKey, async (request, reply) => {
    const { id } = await findKey(request)
    await store.keys.revoke(id, clock(), request.access)
    return reply.status(204).send()
  })

  route(
    app,
    operations.rotateKey,
    async (request, reply) => {
      const key = await findKey(request)
      const issued = await rotateKey(store.keys, key, overlapMs(request.body), clock(), request.access, vault)
      return reply.status(201).send({ data: toIssuedKeyBody(issued) })
    },
    beforeBody(findKey),
  )
}

function futureTime(field: string, text: string, now: Instant): Instant {
  const at = parseTime(field, text)
  if (at <= now) throw invalid(`${field} must be in the future`)
  return at
}
