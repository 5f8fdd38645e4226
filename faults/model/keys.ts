import { audit } from './audit.ts'
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

const roles: Role[] = ['ingest', 'recorder', 'reader', 'standard', 'admin']

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

function keyBody({ id: organisation_id }: Organisation, key: Omit<Key, 'secret'>) {
  const { id, name, role, prompts, createdAt, expiresAt } = key
  const times = { created_at: isoOrNull(createdAt), expires_at: isoOrNull(expiresAt) }
  return { id, organisation_id, name, role, prompts, ...times }
}

type Terms = Pick<Key, 'name' | 'role' | 'prompts' | 'createdAt' | 'expiresAt'>

function issue(organisation: Organisation, terms: Terms, onIssued: (key: Key) => void): Prediction {
  const key = { ...terms, id: 0, revokedAt: null }
  const body = { data: { ...keyBody(organisation, key), id: any, key: any } }
  return created<{ data: { id: number; key: string } }>(body, ({ data }) => {
    const issued = { ...key, id: data.id, secret: data.key }
    organisation.keys.push(issued)
    onIssued(issued)
  })
}

export function createKey({ organisation, key: by, request, now }: Call): Prediction {
  const given = parseObject(request.body) as { name?: string; role?: Role; prompts?: string; expires_at?: string }
  const { name = 'unnamed', role = 'standard', prompts = null } = given
  if (!roles.includes(role)) return invalid()
  if (prompts !== null && (role === 'admin' || prompts === '' || prompts.split('*').length > 11)) return invalid()
  const expiresAt = given.expires_at === undefined ? null : parseTime(given.expires_at)
  if (expiresAt !== null && expiresAt <= now) return invalid()
  return issue(organisation, { name, role, prompts, createdAt: now, expiresAt }, (subject) => {
    const details = { role, ...(prompts !== null && { prompts }) }
    audit({ organisation, key: by, action: 'key.created', subject, details }, now)
  })
}

export function rotateKey({ organisation, key: by, id, request, now }: Call): Prediction {
  const old = findKey(organisation, id)
  const { overlap_hours: overlap = 24 } = request.body === undefined ? {} : parseObject(request.body)
  if (!(Number.isInteger(overlap) && Number(overlap) >= 0 && Number(overlap) <= 8_760)) return invalid()
  if (!isActive(old, now)) return reject(409, 'conflict')
  const { name, role, prompts } = old
  const expiresAt = old.expiresAt === null ? null : now + old.expiresAt - old.createdAt
  old.expiresAt = Math.min(old.expiresAt ?? Number.POSITIVE_INFINITY, now + Number(overlap) * hour)
  return issue(organisation, { name, role, prompts, createdAt: now, expiresAt }, ({ id: new_key_id }) => {
    audit({ organisation, key: by, action: 'key.rotated', subject: old, details: { new_key_id } }, now)
  })
}

export function revokeKey({ organisation, key: by, id, now }: Call): Prediction {
  const key = findKey(organisation, id)
  if (key.revokedAt === null) {
    key.revokedAt = now
    audit({ organisation, key: by, action: 'key.revoked', subject: key }, now)
  }
  return noContent()
}

function findKey({ keys }: Organisation, id: string): Key {
  return keys.find((key) => String(key.id) === id) ?? notFound()
}
