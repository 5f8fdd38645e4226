import type { RecordOutcome } from '../domain/signals/signal.ts'
import type { Store } from '../domain/store.ts'
import type { Clock } from '../domain/time.ts'

export interface StoreOptions {
  /** `sqlite:<path>` or `postgres://…` */
  url: string
  poolSize: number
  clock: Clock
  /** Told of connections to the database that broke while nobody used them. */
  onLostConnection: (error: Error) => void
  /** Told of each batch of signals that was recorded, and of the milliseconds it took. */
  onBatch?: (outcomes: RecordOutcome[], milliseconds: number) => void
}

/** Opens the database, brought to this code's version. Only the driver of its engine is loaded. */
export async function openStore({ url, poolSize, clock, onLostConnection, onBatch }: StoreOptions): Promise<Store> {
  if (url.startsWith('sqlite:')) {
    const { openSqliteStore } = await import('./sqlite/store.ts')
    return openSqliteStore(url.slice('sqlite:'.length), clock, onBatch)
  }
  const { openPostgresStore } = await import('./postgres/store.ts')
  return openPostgresStore(url, poolSize, clock, onLostConnection, onBatch)
}
