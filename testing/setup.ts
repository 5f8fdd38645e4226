import { compileCache } from './compile-cache.ts'
import { migrateDatabase, postgres, sqlite, sqliteOnly, type TestDatabase } from './engines.ts'
import { removeMemoryFolder, useMemoryFolder } from './memory-folder.ts'
import { startPostgres } from './postgres.ts'

const cleanups: (() => Promise<void>)[] = []

/** Prepares what all test files of a run share. They inherit the environment of this process. */
export async function globalSetup(): Promise<void> {
  process.env.NODE_COMPILE_CACHE ??= compileCache
  useMemoryFolder()
  const file = await createTemplate(sqlite)
  process.env.TEST_SQLITE_TEMPLATE = file.url.slice('sqlite:'.length)
  if (sqliteOnly) return
  if (!process.env.TEST_DATABASE_URL) {
    // Commits have to survive the tests, not a power failure.
    const server = await startPostgres([
      '-c',
      'fsync=off',
      '-c',
      'synchronous_commit=off',
      '-c',
      'full_page_writes=off',
    ])
    cleanups.unshift(server.stop)
    process.env.TEST_DATABASE_URL = server.url
  }
  const database = await createTemplate(postgres)
  process.env.TEST_POSTGRES_TEMPLATE = new URL(database.url).pathname.slice(1)
}

async function createTemplate(engine: typeof sqlite): Promise<TestDatabase> {
  const database = await engine.createEmpty()
  cleanups.unshift(database.remove)
  await migrateDatabase(database.url)
  return database
}

export async function globalTeardown(): Promise<void> {
  for (const cleanup of cleanups) await cleanup()
  removeMemoryFolder()
}
