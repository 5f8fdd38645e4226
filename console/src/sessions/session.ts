import { type SessionInfo, UnauthorizedError } from '@promptledger/client'
import { useQuery } from '@tanstack/react-query'
import { ledger } from '../ledger.ts'
import { queryClient } from '../query-client.ts'

/** The current session; null when signed out. */
export function useSession() {
  return useQuery<SessionInfo | null>({
    queryKey: ['session'],
    staleTime: 60_000,
    queryFn: ({ signal }) =>
      ledger.session.get({ signal }).catch((error) => {
        if (error instanceof UnauthorizedError) return null
        throw error
      }),
  })
}

export async function signIn(key: string): Promise<void> {
  const session = await ledger.session.create(key)
  // The previous session may have belonged to another organisation.
  clearCache()
  queryClient.setQueryData(['session'], session)
}

export async function signOut(): Promise<void> {
  await ledger.session.delete()
  queryClient.setQueryData(['session'], null)
  clearCache()
}

/** Removes all data of the organisation. The session query stays, because the app observes it. */
function clearCache(): void {
  queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' })
  queryClient.getMutationCache().clear()
}
