import type { SessionInfo, UnauthorizedError } from '@promptledger/client'
import type { QueryClient } from '@tanstack/react-query'
import { visibleText } from '../ui/untrusted-text.tsx'

/** Instead of a session, while no user is signed in. */
export interface SignedOut {
  isSignedOut: true
  /** Why the previous session ended; null if there was none, or if it was this page that ended it. */
  reason: string | null
}

export function isSignedOut(state: SessionInfo | SignedOut): state is SignedOut {
  return 'isSignedOut' in state
}

/** Ends the session after a 401. The first of several parallel requests to fail says why. */
export function endSession(queryClient: QueryClient, error: UnauthorizedError): void {
  const state = queryClient.getQueryData<SessionInfo | SignedOut>(['session'])
  if (state !== undefined && isSignedOut(state)) return
  queryClient.setQueryData<SignedOut>(['session'], { isSignedOut: true, reason: reasonFor(error, state) })
}

/** The API tells the owner of the cookie whether the key was revoked. The rest follows from what the session was. */
export function reasonFor({ details }: UnauthorizedError, session: SessionInfo | undefined): string | null {
  if (details.reason === 'disabled') return 'An admin has disabled your access.'
  const key = session === undefined ? 'The key of your session' : `The key “${visibleText(session.key.name)}”`
  if (details.reason === 'key_revoked') return `${key} was revoked. Sign in with another key.`
  if (session !== undefined && hasPassed(session.key.expires_at)) return `${key} has expired. Sign in with another key.`
  if (details.reason === 'expired' || (session !== undefined && hasPassed(session.expires_at))) {
    return 'Your session has expired. Sign in again to continue.'
  }
  if (session === undefined) return null
  return 'You were signed out: in another window of this browser, or because its cookies were deleted. Sign in again to continue.'
}

function hasPassed(at: string | null): boolean {
  return at !== null && Date.parse(at) <= Date.now()
}
