import type { RecordOutcome } from '../domain/signals/signal.ts'
import type { Store } from '../domain/store.ts'
import type { Clock } from '../domain/time.ts'

export interface StoreOptions {
  /** `sqlite:<path>` or `postgres://…` */
  url: string
  poolSize: number
  clock: Clock
  /** Called when an idle database connection breaks. */
  onLostConnection: (error: Error) => void
  /** Called after each batch of recorded signals. */
  onBatch?: (outcomes: RecordOutcome[], milliseconds: number) => void
}

/** Opens the database and applies pending migrations. Loads only the driver of its engine. */
export async function openStore({ url, poolSize, clock, onLostConnection, onBatch }: StoreOptions): Promise<Store> {
  if (url.startsWith('sqlite:')) {
    const { openSqliteStore } = await import('./sqlite/store.ts')
    return openSqliteStore(url.slice('sqlite:'.length), clock, onBatch)
  }
  const { openPostgresStore } = await import('./postgres/store.ts')
  return openPostgresStore(url, poolSize, clock, onLostConnection, onBatch)
}
