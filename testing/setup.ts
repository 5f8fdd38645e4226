import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { compileCache } from './compile-cache.ts'
import { migrateDatabase, postgres, sqlite, sqliteOnly, type TestDatabase } from './engines.ts'
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

// Where Linux keeps files in memory.
const parent = '/dev/shm'
// Another user's folders cannot be removed, and are not ours to remove.
const prefix = `promptledger-run-${process.getuid?.()}-`
const folder = join(parent, `${prefix}${process.pid}`)
const neededBytes = 4 * 1024 ** 3

/** Lets tests keep their temporary files in memory where that is possible: databases and git repositories wait for no disk. */
function useMemoryFolder(): void {
  if (process.env.TMPDIR !== undefined || !existsSync(parent)) return
  const { bavail, bsize } = statfsSync(parent)
  if (bavail * bsize < neededBytes) return
  removeLeftFolders()
  // An earlier run may have had the same process ID.
  mkdirSync(folder, { recursive: true })
  // PostgreSQL runs as another user if the tests are run by root.
  chmodSync(folder, 0o755)
  if (canExecute()) process.env.TMPDIR = folder
}

function removeMemoryFolder(): void {
  rmSync(folder, { recursive: true, force: true })
}

/** Containers often forbid it. Tests put programs of their own there. */
function canExecute(): boolean {
  const file = join(folder, 'program')
  writeFileSync(file, '#!/bin/sh\n', { mode: 0o755 })
  try {
    execFileSync(file)
    return true
  } catch {
    return false
  }
}

/** A run that was killed leaves its files behind, in memory. */
function removeLeftFolders(): void {
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(prefix) || existsSync(`/proc/${name.slice(prefix.length)}`)) continue
    rmSync(join(parent, name), { recursive: true, force: true })
  }
}
