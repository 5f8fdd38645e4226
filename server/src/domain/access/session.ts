import type { PageRequest } from '../page.ts'
import { randomBase62 } from '../random.ts'
import { sanitisedLine } from '../text.ts'
import { day, type Instant } from '../time.ts'
import { type Access, hashSecret } from './api-key.ts'
import type { Actor } from './audit.ts'

interface NewSession {
  tokenHash: string
  organisationId: number
  keyId: number
  /** What the browser calls itself. */
  client: string | null
  createdAt: Instant
  expiresAt: Instant
}

export interface ListedSession extends Pick<NewSession, 'keyId' | 'client' | 'createdAt' | 'expiresAt'> {
  /** Names the session, and grants nothing. */
  id: string
  /** The name of the key, or of the person. */
  keyName: string
  personId: number | null
}

export interface SessionStore {
  /** Also deletes every expired session, and the oldest of a key with more than `maxSessionsOfKey`, so the table does not grow without bound. */
  create(session: NewSession): Promise<void>
  /** What the key behind the session grants now, until the session or the key expires. */
  findAccess(tokenHash: string): Promise<Access | null>
  /** Does nothing if the session does not exist. */
  end(tokenHash: string): Promise<void>
  /** The active ones, newest first, of one key or of the whole organisation. */
  page(
    organisationId: number,
    keyId: number | null,
    now: Instant,
    request: PageRequest,
  ): Promise<{ sessions: ListedSession[]; totalCount: number }>
  /** Returns false if the key, or the organisation, has no such session. */
  endById(organisationId: number, keyId: number | null, id: string, at: Instant, by: Actor): Promise<boolean>
}

/** A session that was just started. The token is available only now: the store keeps just its hash. */
interface StartedSession {
  token: string
  expiresAt: Instant
}

// Many people may share a key.
export const maxSessionsOfKey = 1_000

const maxLifetimeMs = 30 * day
// 256 bits, like the random part of an API key.
const tokenLength = 43

const maxClientLength = 200

/** Names the session of a token in lists. */
export function sessionIdOf(token: string): string {
  return hashSecret(token).slice(0, 32)
}

export function isSessionId(text: string): boolean {
  return /^[0-9a-f]{32}$/.test(text)
}

/** Starts a session for a key, ending no later than `endsBy`. `client` is what the browser calls itself, if anything. */
export async function startSession(
  sessions: SessionStore,
  { keyId, organisationId }: Pick<Access, 'keyId' | 'organisationId'>,
  { endsBy, client = '' }: { endsBy: Instant | null; client?: string | undefined },
  now: Instant,
): Promise<StartedSession> {
  const token = randomBase62(tokenLength)
  const expiresAt = Math.min(now + maxLifetimeMs, endsBy ?? Number.POSITIVE_INFINITY)
  await sessions.create({
    tokenHash: hashSecret(token),
    organisationId,
    keyId,
    client: sanitisedLine(client, maxClientLength, '') || null,
    createdAt: now,
    expiresAt,
  })
  return { token, expiresAt }
}
