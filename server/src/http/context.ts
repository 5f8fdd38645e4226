import type { Logger } from 'pino'
import type { Store } from '../domain/store.ts'
import type { Clock } from '../domain/time.ts'
import type { RepositoryService } from '../follow/repository-service.ts'
import type { KeyUses } from './keys/last-used.ts'

/** What the routes work with. */
export interface Context {
  store: Store
  keyUses: KeyUses
  repositories: RepositoryService
  /** Where the built console lies. There may be nothing. */
  consoleFolder: URL
  clock: Clock
  log: Logger
  observer?: RequestObserver
}

/** Told of every answer. */
export interface RequestObserver {
  /** A number for the route, to be told with each of its answers. */
  route(method: string, pattern: string): number
  answered(route: number, status: number, milliseconds: number): void
}
