import type { FastifyRequest } from 'fastify'
import { crossOriginMessage } from '../../../contract/schema.ts'
import { type Access, hashSecret, isActive, isWellFormedSecret } from '../domain/access/api-key.ts'
import { isShareToken } from '../domain/access/share.ts'
import { DomainError } from '../domain/errors.ts'
import type { Store } from '../domain/store.ts'
import type { Instant } from '../domain/time.ts'
import { endedSession, endedShare, unauthorized } from './errors.ts'
import type { RejectedKeys } from './keys/rejected.ts'
import { isSameOrigin } from './same-origin.ts'

const bearer = /^bearer +(\S+)$/i

/** The token of an Authorization header, or an empty string without a bearer token. */
function bearerToken(authorization = ''): string {
  return bearer.exec(authorization)?.[1] ?? ''
}

/** What the key grants, active or not. Null if it is no key for requests. */
async function findAccess({ keys }: Pick<Store, 'keys'>, secret: string): Promise<Access | null> {
  const access = isWellFormedSecret(secret) ? await keys.findAccess(hashSecret(secret)) : null
  // A signing key signs tokens, and makes no requests.
  return access?.role === 'signing' ? null : access
}

/** Resolves the token of a share link. */
async function authenticateShare(store: Store, token: string, now: Instant): Promise<Access> {
  const access = await store.shares.findAccess(hashSecret(token))
  if (access === null) throw unauthorized()
  if (!isActive(access, now)) throw endedShare(access.revokedAt === null ? 'expired' : 'revoked')
  return access
}

/** Resolves an API key. Missing, malformed, unknown, revoked and expired keys all give the same error. */
export async function authenticate(
  store: Store,
  rejectedKeys: RejectedKeys,
  request: FastifyRequest,
  now: Instant,
  { allowShares = false } = {},
): Promise<Access> {
  const secret = bearerToken(request.headers.authorization)
  if (allowShares && isShareToken(secret)) return authenticateShare(store, secret, now)
  const access = await findAccess(store, secret)
  if (access === null) {
    if (secret !== '') rejectedKeys.unknown(request)
    throw unauthorized()
  }
  if (!isActive(access, now)) {
    rejectedKeys.inactive(access, request)
    throw unauthorized()
  }
  return access
}

/**
 * Resolves the session cookie. Browsers attach the cookie to requests from any site, so a request that can change
 * something must come from a page of this service; otherwise another site could act for the user (CSRF).
 */
export async function authenticateSession(
  store: Store,
  { method, headers, server }: FastifyRequest,
  publicUrl: string,
  now: Instant,
): Promise<Access> {
  const token = server.cookies.sessionTokenIn(headers.cookie)
  const access = token === null ? null : await store.sessions.findAccess(hashSecret(token))
  if (access === null) throw unauthorized()
  if (!isActive(access, now)) {
    if (access.revokedAt === null) throw endedSession('expired')
    throw endedSession((await store.people.ofKey(access.keyId)) === null ? 'key_revoked' : 'disabled')
  }
  if (method !== 'GET' && method !== 'HEAD' && !isSameOrigin(headers, publicUrl)) {
    throw new DomainError('forbidden', crossOriginMessage)
  }
  return access
}
