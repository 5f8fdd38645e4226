import { auditRepeated } from './audit.ts'
import { type Call, created, isCookie, noContent, ok, type Prediction, reject } from './request.ts'
import { day, isActive, isoOrNull, type Key, type Model, type Organisation, type Session } from './state.ts'

const maxLifetimeMs = 30 * day

export function authenticateSession({ sessions }: Model, cookie: string, now: number): Session | null {
  const session = sessions.find((session) => session.cookie === cookie)
  return session !== undefined && isSessionActive(session, now) ? session : null
}

function isSessionActive({ ended, expiresAt, key }: Session, now: number): boolean {
  return !ended && now < expiresAt && isActive(key, now)
}

function sessionBody({ id, name, plan }: Organisation, key: Key, expiresAt: number | null) {
  const { role, prompts, secret } = key
  const expires_at = isoOrNull(key.expiresAt)
  const keyBody = { id: key.id, name: key.name, role, prompts, hint: secret.slice(-4), expires_at }
  return { data: { organisation: { id, name, plan }, key: keyBody, expires_at: isoOrNull(expiresAt) } }
}

/** A session cannot start another one, so that it cannot extend itself. */
export function signIn({ model, organisation, key, request, now }: Call): Prediction {
  if (isCookie(request.key)) reject(401, 'unauthorized')
  auditRepeated(model, { organisation, key, action: 'session.started', subject: key }, '', now)
  const expiresAt = Math.min(now + maxLifetimeMs, key.expiresAt ?? Number.POSITIVE_INFINITY)
  const prediction = created(sessionBody(organisation, key, expiresAt), (_, headers) => {
    const [cookie = ''] = headers['set-cookie']?.[0]?.split(';') ?? []
    // The service forgets expired sessions now. Whether they are active again after a step back in time is not specified.
    model.sessions = model.sessions.filter((session) => session.expiresAt > now)
    model.sessions.push({ cookie, organisation, key, expiresAt, ended: false })
  })
  return { ...prediction, headers: { 'cache-control': 'no-store' } }
}

export function readSession({ model, organisation, key, request, now }: Call): Prediction {
  const session = isCookie(request.key) ? authenticateSession(model, request.key, now) : null
  const ends = [session?.expiresAt, key.expiresAt].filter((at) => at != null)
  return ok(sessionBody(organisation, key, ends.length === 0 ? null : Math.min(...ends)))
}

export function signOut({ model, request }: Call): Prediction {
  const session = model.sessions.find(({ cookie }) => cookie === request.key)
  if (session !== undefined) session.ended = true
  return noContent()
}
