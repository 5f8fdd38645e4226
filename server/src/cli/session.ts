import { readConfig } from '../config.ts'
import type { Store } from '../domain/store.ts'
import { openStore } from '../store/open.ts'

/** Runs one command on the configured database. */
export async function withStore<T>(work: (store: Store) => Promise<T>): Promise<T> {
  const config = readConfig(process.env)
  const store = await openStore({
    url: config.databaseUrl,
    poolSize: config.databasePoolSize,
    clock: Date.now,
    // The next statement meets the same failure and reports it.
    onLostConnection: () => {},
  })
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}
