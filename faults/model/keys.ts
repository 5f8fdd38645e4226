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
import { hour, isActive, isoOrNull, type Key, type Organisation, type Role } from './state.ts'

export function listKeys({ organisation, query }: Call): Prediction {
  const keys = organisation.keys.toSorted((a, b) => a.id - b.id)
  const bodies = keys.map((key) => ({
    ...keyBody(organisation, key),
    hint: key.secret.slice(-4),
    revoked_at: isoOrNull(key.revokedAt),
    // Flushed in the background.
    last_used_at: any,
  }))
  return ok(page(bodies, query))
}

function keyBody({ id: organisation_id }: Organisation, { id, name, role, createdAt, expiresAt }: Omit<Key, 'secret'>) {
  return { id, organisation_id, name, role, created_at: isoOrNull(createdAt), expires_at: isoOrNull(expiresAt) }
}

function issue(organisation: Organisation, terms: Pick<Key, 'name' | 'role' | 'createdAt' | 'expiresAt'>): Prediction {
  const key = { ...terms, id: 0, revokedAt: null }
  const body = { data: { ...keyBody(organisation, key), id: any, key: any } }
  return created<{ data: { id: number; key: string } }>(body, ({ data }) => {
    organisation.keys.push({ ...key, id: data.id, secret: data.key })
  })
}

export function createKey({ organisation, request, now }: Call): Prediction {
  const given = parseObject(request.body) as { name?: string; role?: Role; expires_at?: string }
  const { name = 'unnamed', role = 'standard' } = given
  if (!['ingest', 'standard', 'admin'].includes(role)) return invalid()
  const expiresAt = given.expires_at === undefined ? null : parseTime(given.expires_at)
  if (expiresAt !== null && expiresAt <= now) return invalid()
  return issue(organisation, { name, role, createdAt: now, expiresAt })
}

export function rotateKey({ organisation, id, request, now }: Call): Prediction {
  const old = findKey(organisation, id)
  const { overlap_hours: overlap = 24 } = request.body === undefined ? {} : parseObject(request.body)
  if (!(Number.isInteger(overlap) && Number(overlap) >= 0 && Number(overlap) <= 8_760)) return invalid()
  if (!isActive(old, now)) return reject(409, 'conflict')
  const { name, role } = old
  const expiresAt = old.expiresAt === null ? null : now + old.expiresAt - old.createdAt
  old.expiresAt = Math.min(old.expiresAt ?? Number.POSITIVE_INFINITY, now + Number(overlap) * hour)
  return issue(organisation, { name, role, createdAt: now, expiresAt })
}

export function revokeKey({ organisation, id, now }: Call): Prediction {
  findKey(organisation, id).revokedAt ??= now
  return noContent()
}

function findKey({ keys }: Organisation, id: string): Key {
  return keys.find((key) => String(key.id) === id) ?? notFound()
}
