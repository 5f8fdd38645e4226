import { type Access, hashSecret, isSecret, opens } from '../domain/api-key.ts'
import { unauthorized } from '../domain/errors.ts'
import type { Store } from '../domain/store.ts'
import type { Instant } from '../domain/time.ts'

const bearer = /^bearer +(\S+)$/i

/** What the request's key opens. Missing, malformed, unknown, revoked and expired keys are refused alike. */
export async function authenticate(store: Store, authorization: string | undefined, now: Instant): Promise<Access> {
  const secret = bearer.exec(authorization ?? '')?.[1]
  if (secret === undefined || !isSecret(secret)) throw unauthorized()
  const access = await store.keys.findAccess(hashSecret(secret))
  if (access === null || !opens(access, now)) throw unauthorized()
  return access
}
