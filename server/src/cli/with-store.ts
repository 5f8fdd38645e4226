import { type Config, readConfig } from '../config.ts'
import type { Store } from '../domain/store.ts'
import { requireDatabaseOfKey } from '../service/secret-key.ts'
import { openStore } from '../store/open.ts'

interface WithStoreOptions {
  /** Creates a missing SQLite file. Otherwise the command fails: DATABASE_URL is probably mistyped. */
  create?: boolean
  /** Fills a database that was lost. Otherwise the command fails where only its key is left. */
  restores?: boolean
}

/** Runs `work` on the configured database and closes it afterwards. */
export async function withStore<T>(
  work: (store: Store, config: Config) => Promise<T>,
  { create = false, restores = false }: WithStoreOptions = {},
): Promise<T> {
  const config = readConfig(process.env)
  if (!restores) requireDatabaseOfKey(config)
  const store = await openStore({
    url: config.databaseUrl,
    poolSize: config.databasePoolSize,
    clock: Date.now,
    mustExist: !create,
    syncs: true,
    // The next statement fails with the same error, and the command reports that one.
    onLostConnection: () => {},
  })
  try {
    return await work(store, config)
  } finally {
    await store.close()
  }
}

/** Reads a secret from the named environment variable. Arguments are visible to every user of the machine. */
export function secretFrom(variable: string | undefined): string | null {
  if (variable === undefined) return null
  const secret = process.env[variable]
  if (!secret) throw new Error(`The environment variable ${variable} is not set.`)
  return secret
}
