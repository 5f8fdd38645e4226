import { any, type Call, created, invalid, noContent, notFound, type Prediction, reject } from './request.ts'
import { hour, isActive, iso, type Key, type Organisation } from './state.ts'

function issue(organisation: Organisation, createdAt: number, expiresAt: number | null): Prediction {
  const terms = { name: 'bot', role: 'admin', prompts: null }
  const times = { created_at: iso(createdAt), expires_at: expiresAt === null ? null : iso(expiresAt) }
  const body = { data: { id: any, organisation_id: organisation.id, ...terms, ...times, key: any } }
  return created<{ data: { id: number; key: string } }>(body, ({ data: { id, key: secret } }) => {
    organisation.keys.push({ id, secret, createdAt, expiresAt, revokedAt: null })
  })
}

export function createKey({ organisation, request, now }: Call): Prediction {
  const { expires_at }: { expires_at?: string } = JSON.parse(request.body ?? '')
  const expiresAt = expires_at === undefined ? null : Date.parse(expires_at)
  return expiresAt !== null && expiresAt <= now ? invalid() : issue(organisation, now, expiresAt)
}

/** The new key lives as long as the old one did, which ends with the overlap. */
export function rotateKey({ organisation, ids, request, now }: Call): Prediction {
  const old = findKey(organisation, ids)
  if (!isActive(old, now)) return reject(409, 'conflict')
  const { overlap_hours: overlap = 24 }: { overlap_hours?: number } = JSON.parse(request.body ?? '{}')
  const expiresAt = old.expiresAt === null ? null : now + old.expiresAt - old.createdAt
  old.expiresAt = Math.min(old.expiresAt ?? Number.POSITIVE_INFINITY, now + overlap * hour)
  return issue(organisation, now, expiresAt)
}

export function revokeKey({ organisation, ids, now }: Call): Prediction {
  findKey(organisation, ids).revokedAt ??= now
  return noContent()
}

function findKey({ keys }: Organisation, [id]: string[]): Key {
  return keys.find((key) => String(key.id) === id) ?? notFound()
}
