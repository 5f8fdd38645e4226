import { type SessionInfo, UnauthorizedError } from '@promptledger/client'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { ledger } from '../ledger.ts'
import { queryClient } from '../query-client.ts'
import { isSignedOut, reasonFor, type SignedOut } from './ended-session.ts'

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
  const session = await ledger.session.create(key)
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
