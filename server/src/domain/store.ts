import type { KeyStore } from './api-key.ts'
import type { DeliveryStore } from './delivery.ts'
import type { FactStore } from './facts.ts'
import type { HistoryStore } from './history.ts'
import type { OrganisationStore } from './organisation.ts'
import type { PromptStore } from './prompt.ts'
import type { RepositoryStore } from './repository.ts'
import type { SessionStore } from './session.ts'
import type { SignalStore } from './signal.ts'

/**
 * The persistence port. Each method of each part is one atomic act, durable when its promise resolves; there is no
 * transaction to hold open. The adapters in store/ are held to the same contract by one test suite.
 */
export interface Store {
  organisations: OrganisationStore
  keys: KeyStore
  sessions: SessionStore
  prompts: PromptStore
  history: HistoryStore
  signals: SignalStore
  repositories: RepositoryStore
  deliveries: DeliveryStore
  facts: FactStore
  /** The number of the newest migration, which opening the store has applied. */
  schemaVersion: number
  /**
   * Makes what is read next as new as this call, or at most 5 ms older where another process changed it. Between two calls
   * keys, sessions, prompts and history may be answered from memory, so whoever must not miss a change (a revoked key, a deleted
   * prompt) calls this first.
   */
  refresh(): Promise<void>
  /** Rejects unless the database accepts a write now. */
  checkWritable(): Promise<void>
  /** Commits what is under way, then lets go of the database. */
  close(): Promise<void>
}
