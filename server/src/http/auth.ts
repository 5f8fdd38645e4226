import type { IncomingHttpHeaders } from 'node:http'
import { type Access, hashSecret, isActive, isSecret } from '../domain/access/api-key.ts'
import { hashToken } from '../domain/access/session.ts'
import { DomainError, unauthorized } from '../domain/errors.ts'
import type { Store } from '../domain/store.ts'
import type { Instant } from '../domain/time.ts'
import { isSameOrigin } from './same-origin.ts'
import { tokenIn } from './sessions/cookie.ts'

export const otherOrigin =
  'With a session, changes are taken only from pages of this very service (same origin). Elsewhere, send an API key.'

const bearer = /^bearer +(\S+)$/i

/** The secret in an Authorization header; what is none where there is none. */
export function secretIn(authorization = ''): string {
  return bearer.exec(authorization)?.[1] ?? ''
}

/** What the key opens. Missing, malformed, unknown, revoked and expired keys are refused alike. */
export async function authenticate(store: Store, secret: string, now: Instant): Promise<Access> {
  if (!isSecret(secret)) throw unauthorized()
  const access = await store.keys.findAccess(hashSecret(secret))
  if (access === null || !isActive(access, now)) throw unauthorized()
  return access
}

/**
 * What the session in the cookie opens. A browser sends the cookie along whichever page makes it ask, so that what could
 * change something has to come from ours.
 */
export async function authenticateSession(
  store: Store,
  { method, headers }: { method: string; headers: IncomingHttpHeaders },
  publicUrl: string,
  now: Instant,
): Promise<Access> {
  const token = tokenIn(headers.cookie)
  const access = token === null ? null : await store.sessions.findAccess(hashToken(token))
  if (access === null || !isActive(access, now)) throw unauthorized()
  if (method !== 'GET' && method !== 'HEAD' && !isSameOrigin(headers, publicUrl)) {
    throw new DomainError('forbidden', otherOrigin)
  }
  return access
}
