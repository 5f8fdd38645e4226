import {
  any,
  type Call,
  created,
  invalid,
  noContent,
  notFound,
  ok,
  type Prediction,
  page,
  parseObject,
  parseTime,
  reject,
} from './request.ts'
import { audit, day, hour, isActive, isoOrNull, type Key, type Organisation, type Role, type Session } from './state.ts'

export function listKeys({ organisation, query }: Call): Prediction {
  return ok(
    page(
      organisation.keys.toSorted((a, b) => a.id - b.id).map((key) => keyBody(organisation, key)),
      query,
    ),
  )
}

function keyBody(organisation: Organisation, key: Key): object {
  const { id, secret, name, role, createdAt, expiresAt, revokedAt } = key
  return {
    id,
    organisation_id: organisation.id,
    name,
    role,
    hint: secret.slice(-4),
    created_at: isoOrNull(createdAt),
    expires_at: isoOrNull(expiresAt),
    revoked_at: isoOrNull(revokedAt),
    // Flushed in the background.
    last_used_at: any,
  }
}

type NewKey = Pick<Key, 'name' | 'role' | 'createdAt' | 'expiresAt'>

function issue(organisation: Organisation, terms: NewKey, onIssued: (key: Key) => void): Prediction {
  const { name, role, createdAt, expiresAt } = terms
  const data = { name, role, created_at: isoOrNull(createdAt), expires_at: isoOrNull(expiresAt) }
  const body = { data: { id: any, key: any, organisation_id: organisation.id, ...data } }
  return created<{ data: { id: number; key: string } }>(body, ({ data: { id, key: secret } }) => {
    const key = { ...terms, id, secret, revokedAt: null }
    organisation.keys.push(key)
    onIssued(key)
  })
}

export function createKey({ organisation, key: by, request, now }: Call): Prediction {
  const given = parseObject(request.body) as { name?: string; role?: Role; expires_at?: string }
  const { name = 'unnamed', role = 'standard' } = given
  if (!['ingest', 'standard', 'admin'].includes(role)) return invalid()
  const expiresAt = given.expires_at === undefined ? null : parseTime(given.expires_at)
  if (expiresAt !== null && expiresAt <= now) return invalid()
  return issue(organisation, { name, role, createdAt: now, expiresAt }, (key) => {
    audit(organisation, by, now, 'key.created', key.id, name, { role })
  })
}

export function rotateKey({ organisation, key: by, id, request, now }: Call): Prediction {
  const old = findKey(organisation, id)
  const { overlap_hours: overlap = 24 } = request.body === undefined ? {} : parseObject(request.body)
  if (!(Number.isInteger(overlap) && Number(overlap) >= 0 && Number(overlap) <= 8_760)) return invalid()
  if (!isActive(old, now)) return reject(409, 'conflict')
  const { name, role } = old
  const expiresAt = old.expiresAt === null ? null : now + old.expiresAt - old.createdAt
  old.expiresAt = Math.min(old.expiresAt ?? Number.POSITIVE_INFINITY, now + Number(overlap) * hour)
  return issue(organisation, { name, role, createdAt: now, expiresAt }, (key) => {
    audit(organisation, by, now, 'key.rotated', old.id, name, { new_key_id: key.id })
  })
}

export function revokeKey({ organisation, key: by, id, now }: Call): Prediction {
  const key = findKey(organisation, id)
  if (key.revokedAt === null) audit(organisation, by, now, 'key.revoked', key.id, key.name)
  key.revokedAt ??= now
  return noContent()
}

function findKey({ keys }: Organisation, id: string): Key {
  return keys.find((key) => String(key.id) === id) ?? notFound()
}

export function signIn(call: Call): Prediction {
  const { model, organisation, key, now } = call
  // A session cannot extend itself.
  if (call.session !== null) return reject(401, 'unauthorized')
  const session = { organisation, key, expiresAt: Math.min(now + 30 * day, key.expiresAt ?? Number.POSITIVE_INFINITY) }
  const learn = ({ token }: { token: string }) => model.sessions.set(token, session)
  return created({ data: sessionBody(session, key) }, learn)
}

export function readSession({ organisation, key, session }: Call): Prediction {
  return ok({ data: sessionBody(session ?? { organisation, key, expiresAt: Number.POSITIVE_INFINITY }, key) })
}

export function signOut({ model, request }: Call): Prediction {
  model.sessions.delete(request.token ?? '')
  return noContent()
}

function sessionBody({ organisation, expiresAt }: Session, key: Key): object {
  const { id, name, plan } = organisation
  const end = Math.min(key.expiresAt ?? Number.POSITIVE_INFINITY, expiresAt)
  return {
    organisation: { id, name, plan },
    key: {
      id: key.id,
      name: key.name,
      role: key.role,
      hint: key.secret.slice(-4),
      expires_at: isoOrNull(key.expiresAt),
    },
    expires_at: isoOrNull(end === Number.POSITIVE_INFINITY ? null : end),
  }
}
