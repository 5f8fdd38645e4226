import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { RecordOutcome } from '../domain/signals/signal.ts'
import type { Store } from '../domain/store.ts'
import type { Clock } from '../domain/time.ts'

interface StoreOptions {
  /** `sqlite:<path>` or `postgres://…` */
  url: string
  poolSize: number
  clock: Clock
  /** Called when an idle database connection breaks. */
  onLostConnection: (error: Error) => void
  /** Fails instead of creating a SQLite file, so that a mistyped path is noticed. */
  mustExist?: boolean
  /** Whether the process writes histories, which is much faster if SQLite keeps the indexes in memory. */
  syncs?: boolean
  /** Whether the process is the service. Fails if another one uses the same SQLite file. */
  serves?: boolean
  /** Called after each batch of recorded signals. */
  onBatch?: (outcomes: RecordOutcome[], milliseconds: number) => void
}

/** Opens the database and applies pending migrations. Loads only the driver of its engine. */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { url, poolSize, clock, onLostConnection, mustExist = false, syncs = false, serves = false, onBatch } = options
  if (url.startsWith('sqlite:')) {
    const path = url.slice('sqlite:'.length)
    if (mustExist && path !== ':memory:' && !existsSync(path)) {
      throw new Error(`There is no database at ${resolve(path)}. Start the service first, or check DATABASE_URL.`)
    }
    const { openSqliteStore } = await import('./sqlite/store.ts')
    return openSqliteStore(path, clock, { syncs, serves, onBatch })
  }
  const { openPostgresStore } = await import('./postgres/store.ts')
  return openPostgresStore(url, poolSize, clock, onLostConnection, onBatch)
}
