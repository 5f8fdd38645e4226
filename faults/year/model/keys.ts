import { any, invalid, notFound, type Prediction, parsed, Refused, type Request, refuse, timeIn } from './request.ts'
import { audit, type Caller, type Key, type Model, type Organisation, type Role, works } from './state.ts'
import { day, hour, iso, isoOrNull } from './time.ts'

export function keyBody(organisation: Organisation, key: Key): object {
  const { id, secret, name, role, createdAt, expiresAt, revokedAt, lastUsedAt } = key
  return {
    id,
    organisation_id: organisation.id,
    name,
    role,
    hint: secret.slice(-4),
    created_at: iso(createdAt),
    expires_at: isoOrNull(expiresAt),
    revoked_at: isoOrNull(revokedAt),
    last_used_at: isoOrNull(lastUsedAt),
  }
}

type Terms = Pick<Key, 'name' | 'role' | 'createdAt' | 'expiresAt'>

function issue(organisation: Organisation, terms: Terms, onIssued: (key: Key) => void): Prediction {
  const { name, role, createdAt, expiresAt } = terms
  const data = { name, role, created_at: iso(createdAt), expires_at: isoOrNull(expiresAt) }
  return {
    status: 201,
    body: { data: { id: any, key: any, organisation_id: organisation.id, ...data } },
    headers: {},
    learn({ data }: { data: { id: number; key: string } }) {
      const key = { ...terms, id: data.id, secret: data.key, revokedAt: null, lastUsedAt: null, notedAt: null }
      organisation.keys.push(key)
      onIssued(key)
    },
  }
}

export function createKey({ organisation, key: by }: Caller, { body = '' }: Request, now: number): Prediction {
  const {
    name = 'unnamed',
    role = 'standard',
    expires_at,
  } = parsed(body) as { name?: string; role?: Role; expires_at?: string }
  if (!['ingest', 'standard', 'admin'].includes(role)) throw invalid()
  const expiresAt = expires_at === undefined ? null : timeIn(expires_at)
  if (expiresAt !== null && expiresAt <= now) throw invalid()
  return issue(organisation, { name, role, createdAt: now, expiresAt }, (key) => {
    audit(organisation, by, now, 'key.created', key.id, name, { role })
  })
}

export function rotate({ organisation, key: by }: Caller, id: string, { body }: Request, now: number): Prediction {
  const old = organisation.keys.find((key) => String(key.id) === id) ?? refuse(notFound())
  const { overlap_hours: overlap = 24 } = body === undefined ? {} : (parsed(body) as { overlap_hours?: number })
  if (!Number.isInteger(overlap) || overlap < 0 || overlap > 8_760) throw invalid()
  if (!works(old, now)) throw new Refused(409, 'conflict')
  const { name, role } = old
  const expiresAt = old.expiresAt === null ? null : now + old.expiresAt - old.createdAt
  old.expiresAt = Math.min(old.expiresAt ?? Number.POSITIVE_INFINITY, now + overlap * hour)
  return issue(organisation, { name, role, createdAt: now, expiresAt }, (key) => {
    audit(organisation, by, now, 'key.rotated', old.id, name, { new_key_id: key.id })
  })
}

export function signIn(model: Model, caller: Caller, now: number): Prediction {
  const { organisation, key, session } = caller
  // A session does not prolong itself.
  if (session !== null) throw new Refused(401, 'unauthorized')
  const begun = { organisation, key, expiresAt: Math.min(now + 30 * day, key.expiresAt ?? Number.POSITIVE_INFINITY) }
  return {
    status: 201,
    body: { data: sessionBody({ ...caller, session: begun }) },
    headers: {},
    learn: ({ token }: { token: string }) => model.sessions.set(token, begun),
  }
}

export function sessionBody({ organisation, key, session }: Caller): object {
  const { id, name, plan } = organisation
  const expiresAt = Math.min(key.expiresAt ?? Number.POSITIVE_INFINITY, session?.expiresAt ?? Number.POSITIVE_INFINITY)
  return {
    organisation: { id, name, plan },
    key: {
      id: key.id,
      name: key.name,
      role: key.role,
      hint: key.secret.slice(-4),
      expires_at: isoOrNull(key.expiresAt),
    },
    expires_at: expiresAt === Number.POSITIVE_INFINITY ? null : iso(expiresAt),
  }
}
