import { Promptledger } from '@promptledger/client'

/** The service that this page came from. The session's cookie speaks for whoever signed in. */
export const ledger = new Promptledger()
