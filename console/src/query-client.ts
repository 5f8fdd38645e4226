import { ConnectionError, PromptledgerError, TimeoutError, UnauthorizedError } from '@promptledger/client'
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { endSession } from './sessions/ended-session.ts'
import { visibleText } from './ui/untrusted-text.tsx'

const maxRetryDelayMs = 15_000

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: endSessionIfUnauthorized }),
  mutationCache: new MutationCache({ onError: endSessionIfUnauthorized }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // Until the service is back, the page keeps what it shows. Other errors were already retried by the client library.
      retry: (_failures, error) => isUnavailable(error),
      retryDelay: (failures) => Math.min(maxRetryDelayMs, 1_000 * 2 ** failures),
    },
    // While the service is away, an action fails with a message instead of waiting silently.
    mutations: { networkMode: 'always' },
  },
})

/** Any 401 means that the session has ended. Ending it here too brings up the sign-in form. */
function endSessionIfUnauthorized(error: unknown): void {
  if (error instanceof UnauthorizedError) endSession(queryClient, error)
}

// The API has no code for overload: it is an internal error with this advice.
const overload = /Retry in a few seconds\.$/

/** Whether the service is away or overloaded, rather than at fault. */
function isUnavailable(error: unknown): boolean {
  if (error instanceof ConnectionError) return true
  if (!(error instanceof PromptledgerError)) return false
  const isGateway = error.code === 'unexpected_response' && [502, 503, 504].includes(error.status ?? 0)
  return isGateway || (error.code === 'internal_error' && overload.test(error.message))
}

/** How often to ask for deliveries: often while an attempt is due within 10 s, rarely while the next retry is further away. */
export function deliveryPollMs(deliveries: { next_attempt_at: string | null }[]): number | false {
  const attempts = deliveries.flatMap(({ next_attempt_at: at }) => (at === null ? [] : [Date.parse(at)]))
  if (attempts.length === 0) return false
  return Math.min(...attempts) < Date.now() + 10_000 ? 2_000 : 15_000
}

export function errorMessage(error: unknown): string {
  if (error instanceof ConnectionError || error instanceof TimeoutError) {
    return 'The server did not respond. Check your connection and try again.'
  }
  return visibleText(error instanceof Error ? error.message : String(error))
}
