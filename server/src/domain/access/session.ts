import { hash } from 'node:crypto'
import { randomBase62 } from '../random.ts'
import type { Instant } from '../time.ts'
import type { Access } from './api-key.ts'

export interface NewSession {
  tokenHash: string
  organisationId: number
  keyId: number
  createdAt: Instant
  expiresAt: Instant
}

export interface SessionStore {
  /** Also removes the sessions, whosoever they are, that have expired by then. */
  create(session: NewSession): Promise<void>
  /** What the session's key opens now, until the session or the key expires, whichever comes first. */
  findAccess(tokenHash: string): Promise<Access | null>
  /** Ending what is not there changes nothing. */
  end(tokenHash: string): Promise<void>
}

/** A session that has just begun, with its token, which nobody can tell later. */
export interface StartedSession {
  token: string
  expiresAt: Instant
}

const day = 86_400_000
const longest = 30 * day
// As many as the random part of a key has: 256 bits.
const tokenLength = 43

export function hashToken(token: string): string {
  return hash('sha256', token, 'hex')
}

/** Begins a session for the key that opens this. */
export async function startSession(
  sessions: SessionStore,
  { keyId, organisationId, expiresAt: keyExpiresAt }: Access,
  now: Instant,
): Promise<StartedSession> {
  const token = randomBase62(tokenLength)
  const expiresAt = Math.min(now + longest, keyExpiresAt ?? Number.POSITIVE_INFINITY)
  await sessions.create({ tokenHash: hashToken(token), organisationId, keyId, createdAt: now, expiresAt })
  return { token, expiresAt }
}
