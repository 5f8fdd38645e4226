import { Promptledger } from '@promptledger/client'
import { observedFetch } from './connection.ts'
import { isShared, shareToken } from './shared/token.ts'

/** Talks to the service that served this page. The session cookie authenticates every request, or the token of a share link. */
export const ledger = isShared
  ? // Without a token, the service says that the link is not valid.
    new Promptledger({ apiKey: shareToken || 'none', baseUrl: '/', fetch: sharedFetch })
  : new Promptledger({ useSession: true, fetch: observedFetch })

/** Without the cookie of someone who is signed in: they see what others see. */
function sharedFetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  return observedFetch(input, { ...init, credentials: 'omit' })
}
