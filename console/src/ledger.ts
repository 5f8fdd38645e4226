import { Promptledger } from '@promptledger/client'
import { observedFetch } from './connection.ts'

/** Talks to the service that served this page. The session cookie authenticates every request. */
export const ledger = new Promptledger({ useSession: true, fetch: observedFetch })
