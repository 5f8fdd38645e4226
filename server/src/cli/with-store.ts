import { type Config, readConfig } from '../config.ts'
import type { Store } from '../domain/store.ts'
import { openStore } from '../store/open.ts'

/** Runs one command on the configured database. */
export async function withStore<T>(work: (store: Store, config: Config) => Promise<T>): Promise<T> {
  const config = readConfig(process.env)
  const store = await openStore({
    url: config.databaseUrl,
    poolSize: config.databasePoolSize,
    clock: Date.now,
    // The next statement meets the same failure and reports it.
    onLostConnection: () => {},
  })
  try {
    return await work(store, config)
  } finally {
    await store.close()
  }
}

/** A secret that is handed over in an environment variable: an argument could be read by everybody on the machine. */
export function secretFrom(variable: string | undefined): string | null {
  if (variable === undefined) return null
  const secret = process.env[variable]
  if (!secret) throw new Error(`The environment variable ${variable} is not set`)
  return secret
}
