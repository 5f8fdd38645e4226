import type { KeyStore } from './access/api-key.ts'
import type { AuditStore } from './access/audit.ts'
import type { OrganisationStore } from './access/organisation.ts'
import type { SessionStore } from './access/session.ts'
import type { ArchiveStore } from './archive/archive.ts'
import type { FactStore } from './history/facts.ts'
import type { HistoryStore } from './history/history.ts'
import type { PromptStore } from './prompt.ts'
import type { DeliveryStore } from './repositories/delivery.ts'
import type { RepositoryStore } from './repositories/repository.ts'
import type { SignalStore } from './signals/signal.ts'

/** Calls that wait for the database, to be answered together. */
export interface QueueStats {
  waiting(): number
  /** Milliseconds for which somebody has been waiting here and nobody was answered. */
  stalledForMs(): number
}

export interface Queues {
  /** Where every request begins: `refresh`. */
  refresh: QueueStats
  signals: QueueStats
}

export interface StoreStats {
  /** How often something was found in memory, by what it is. */
  caches: Record<'keys' | 'sessions' | 'prompts' | 'pages', { hits: number; misses: number }>
  /** To the database, where there is more than one. */
  connections: { total: number; idle: number; waiting: number } | null
}

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
  audit: AuditStore
  archive: ArchiveStore
  /** The number of the newest migration, which opening the store has applied. */
  schemaVersion: number
  /**
   * Makes what is read next as new as this call, or at most 5 ms older where another process changed it. Between two calls
   * keys, sessions, prompts and history may be answered from memory, so whoever must not miss a change (a revoked key, a deleted
   * prompt) calls this first.
   */
  refresh(): Promise<void>
  queues: Queues
  stats(): StoreStats
  /** Rejects unless the database accepts a write now. */
  checkWritable(): Promise<void>
  /** Commits what is under way, then lets go of the database. */
  close(): Promise<void>
}
