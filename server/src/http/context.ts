import type { Logger } from 'pino'
import type { RepositoryService } from '../domain/repositories/repository-service.ts'
import type { Store } from '../domain/store.ts'
import type { Clock } from '../domain/time.ts'
import type { LastUsedTracker } from './keys/last-used.ts'

/** Dependencies of the routes. */
export interface Context {
  store: Store
  lastUsed: LastUsedTracker
  repositories: RepositoryService
  /** The URL at which forges and browsers reach the service. */
  publicUrl: () => string
  /** The folder of the built console. It may not exist. */
  consoleFolder: URL
  clock: Clock
  log: Logger
  observer?: RequestObserver
}

/** Receives the duration and status of every response. */
export interface RequestObserver {
  /** Registers a route and returns its handle for `responded`. */
  route(method: string, pattern: string): number
  responded(route: number, status: number, milliseconds: number): void
}
