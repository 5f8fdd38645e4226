import { PromptledgerError, UnauthorizedError } from '@promptledger/client'
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'

/** Whatever the service answers is kept here, and asked for again when somebody looks again. */
export const queries: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: noticeEnd }),
  mutationCache: new MutationCache({ onError: noticeEnd }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // The client has tried again already.
      retry: false,
    },
  },
})

/** Where the session has ended, the page asks to sign in again, whoever noticed it. */
function noticeEnd(error: unknown): void {
  if (error instanceof UnauthorizedError) queries.setQueryData(['session'], null)
}

/** What to tell people of a failure. */
export function reasonOf(error: unknown): string {
  if (error instanceof PromptledgerError) return error.message
  return error instanceof Error ? error.message : String(error)
}
