import { UnauthorizedError } from '@promptledger/client'
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { visibleText } from './ui/untrusted-text.tsx'

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: endSessionIfUnauthorized }),
  mutationCache: new MutationCache({ onError: endSessionIfUnauthorized }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // The client library has already retried.
      retry: false,
    },
  },
})

/** Any 401 means that the session has ended. Clearing it brings up the sign-in form. */
function endSessionIfUnauthorized(error: unknown): void {
  if (error instanceof UnauthorizedError) queryClient.setQueryData(['session'], null)
}

export function errorMessage(error: unknown): string {
  return visibleText(error instanceof Error ? error.message : String(error))
}
