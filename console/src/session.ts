import { type SessionInfo, UnauthorizedError } from '@promptledger/client'
import { useQuery } from '@tanstack/react-query'
import { ledger } from './ledger.ts'
import { queries } from './queries.ts'

/** Who is signed in: null for nobody. */
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
  // Whoever was signed in before may have been of another organisation.
  forget()
  queries.setQueryData(['session'], session)
}

export async function signOut(): Promise<void> {
  await ledger.session.delete()
  queries.setQueryData(['session'], null)
  forget()
}

/** Nothing of what an organisation owns stays in the page. The session itself does: somebody is watching it. */
function forget(): void {
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' })
  queries.getMutationCache().clear()
}
