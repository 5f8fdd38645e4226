import type { Store } from '../domain/store.ts'
import type { Clock } from '../domain/time.ts'

export interface StoreOptions {
  /** `sqlite:<path>` or `postgres://…` */
  url: string
  poolSize: number
  clock: Clock
  /** Told of connections to the database that broke while nobody used them. */
  onLostConnection: (error: Error) => void
}

/** Opens the database, brought to this code's version. Only the driver of its engine is loaded. */
export async function openStore({ url, poolSize, clock, onLostConnection }: StoreOptions): Promise<Store> {
  if (url.startsWith('sqlite:')) {
    const { openSqliteStore } = await import('./sqlite/store.ts')
    return openSqliteStore(url.slice('sqlite:'.length), clock)
  }
  const { openPostgresStore } = await import('./postgres/store.ts')
  return openPostgresStore(url, poolSize, clock, onLostConnection)
}
