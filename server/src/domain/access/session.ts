import { hash } from 'node:crypto'
import { randomBase62 } from '../random.ts'
import { day, type Instant } from '../time.ts'
import type { Access } from './api-key.ts'

export interface NewSession {
  tokenHash: string
  organisationId: number
  keyId: number
  createdAt: Instant
  expiresAt: Instant
}

export interface SessionStore {
  /** Also deletes every expired session, so the table does not grow without bound. */
  create(session: NewSession): Promise<void>
  /** What the key behind the session grants now, until the session or the key expires. */
  findAccess(tokenHash: string): Promise<Access | null>
  /** Does nothing if the session does not exist. */
  end(tokenHash: string): Promise<void>
}

/** A session that was just started. The token is available only now: the store keeps just its hash. */
export interface StartedSession {
  token: string
  expiresAt: Instant
}

const maxLifetimeMs = 30 * day
// 256 bits, like the random part of an API key.
const tokenLength = 43

export function hashToken(token: string): string {
  return hash('sha256', token, 'hex')
}

/** Starts a session for the key behind `access`, ending no later than the key itself. */
export async function startSession(
  sessions: SessionStore,
  { keyId, organisationId, expiresAt: keyExpiresAt }: Access,
  now: Instant,
): Promise<StartedSession> {
  const token = randomBase62(tokenLength)
  const expiresAt = Math.min(now + maxLifetimeMs, keyExpiresAt ?? Number.POSITIVE_INFINITY)
  await sessions.create({ tokenHash: hashToken(token), organisationId, keyId, createdAt: now, expiresAt })
  return { token, expiresAt }
}
