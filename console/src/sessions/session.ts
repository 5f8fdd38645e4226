import { type SessionInfo, UnauthorizedError } from '@promptledger/client'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { ledger } from '../ledger.ts'
import { queryClient } from '../query-client.ts'
import { isSignedOut, reasonFor, type SignedOut } from './ended-session.ts'
import { sendSignIn } from './sign-in-requests.ts'

/** The current session, or why there is none. */
export const sessionQuery = queryOptions<SessionInfo | SignedOut>({
  queryKey: ['session'],
  staleTime: 60_000,
  queryFn: ({ signal }) =>
    ledger.session.get({ signal }).catch((error) => {
      if (!(error instanceof UnauthorizedError)) throw error
      const previous = queryClient.getQueryData<SessionInfo | SignedOut>(['session'])
      if (previous !== undefined && isSignedOut(previous)) return previous
      return { isSignedOut: true, reason: reasonFor(error, previous) }
    }),
})

export function useSession() {
  return useQuery(sessionQuery)
}

export async function signIn(key: string): Promise<void> {
  showSession(await ledger.session.create(key))
}

/** Signs in with a link that was sent by email. */
export async function signInByLink(token: string): Promise<void> {
  showSession(await sendSignIn<SessionInfo>('POST', '/sign-in/link', { token }))
}

export async function switchOrganisation(id: number): Promise<void> {
  showSession(await sendSignIn<SessionInfo>('PUT', '/session/organisation', { organisation_id: id }))
  // The page may show something of the other organisation.
  window.location.assign('/prompts')
}

function showSession(session: SessionInfo): void {
  // The previous session may have belonged to another organisation.
  clearCache()
  queryClient.setQueryData(['session'], session)
}

export async function signOut(): Promise<void> {
  await ledger.session.delete()
  queryClient.setQueryData<SignedOut>(['session'], { isSignedOut: true, reason: null })
  clearCache()
}

/** Removes all data of the organisation. The session query stays, because the app observes it. */
function clearCache(): void {
  queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' })
  queryClient.getMutationCache().clear()
}
