import { constants, existsSync, statSync } from 'node:fs'
import { access } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Clock } from '../domain/time.ts'
import type { Row, Value } from '../store/sql/database.ts'
import { tryRecording } from '../store/sqlite/try-recording.ts'
import { anyPrompt, type DatabaseReader } from './database.ts'
import { checkFreeSpace, formatSize } from './disk.ts'
import { type Finding, fail, ok, oneLine, reasonOf, runCheck, warn } from './finding.ts'
import { expectedSqliteSchema, sqliteSchema } from './sqlite-schema.ts'

// 16 times the size at which SQLite writes the log back to the database.
const largeLogBytes = 256 * 1024 * 1024

// SQLITE_CORRUPT. Pages of the schema are damaged; damage elsewhere is found by the check of the contents.
const sqliteCorrupt = 11

export async function openSqlite(path: string, now: Clock): Promise<DatabaseReader> {
  const file = resolve(path)
  if (!existsSync(file)) throw new Error(`${file} does not exist. The service creates a missing file on start`)
  const connection = await connect(file)
  const rows = async (sql: string, parameters: Value[] = []) => connection.prepare(sql).all(...parameters) as Row[]

  return {
    engine: 'sqlite',
    schema: { expected: expectedSqliteSchema, query: sqliteSchema },
    rows,
    async snapshot(work) {
      connection.exec('begin')
      try {
        return await work()
      } finally {
        connection.exec('rollback')
      }
    },
    monthOf: (column) => `unixepoch(${column} / 1000, 'unixepoch', 'start of month') * 1000`,
    runChecks: () =>
      Promise.all([
        runCheck('database', () => checkIntegrity(file, rows)),
        runCheck('database file', () => checkWritable(file)),
        runCheck('database log', () => checkLog(file, rows)),
        runCheck('database disk', () => checkFreeSpace('database disk', dirname(file))),
      ]),
    promptsToTry: () => rows(anyPrompt),
    tryRecording: (signals) => tryRecording(file, signals, now),
    async close() {
      connection.close()
    },
  }
}

async function connect(file: string): Promise<DatabaseSync> {
  let connection: DatabaseSync | undefined
  try {
    connection = new DatabaseSync(file, { readOnly: true })
    connection.exec('pragma busy_timeout = 5000')
    // Opening alone does not read the file.
    connection.prepare('select count(*) from sqlite_schema').get()
    return connection
  } catch (error) {
    connection?.close()
    // SQLite cannot even read in a directory that is not writable, but its error does not say so.
    const { status, message } = await checkWritable(file)
    if (status === 'error') throw new Error(message)
    const isDamaged = (error as { errcode?: number }).errcode === sqliteCorrupt
    throw new Error(`${file}${isDamaged ? ' is damaged' : ''}: ${reasonOf(error)}`)
  }
}

async function checkIntegrity(file: string, rows: DatabaseReader['rows']): Promise<Finding> {
  const [version] = await rows('select sqlite_version() as version')
  // The pragma itself fails if the damage is severe.
  const result = await rows('pragma quick_check(3)').catch((error) => [{ problem: reasonOf(error) }])
  const problems = result.map((row) => String(Object.values(row)[0]))
  if (problems.length === 1 && problems[0] === 'ok') {
    return ok('database', `SQLite ${version?.version}, ${file}, ${formatSize(statSync(file).size)}, intact`)
  }
  const fix = 'Stop the service, keep a copy of the file, and restore the newest intact backup'
  return fail('database', `${file} is damaged: ${oneLine(problems.join('; '))}`, fix)
}

async function checkWritable(file: string): Promise<Finding> {
  const files = [file, `${file}-wal`, `${file}-shm`, `${file}-service`].filter(
    (path) => path === file || existsSync(path),
  )
  for (const path of [...files, dirname(file)]) {
    try {
      await access(path, constants.W_OK)
    } catch (error) {
      const fix = 'Make it writable for the user that runs the service, or mount the file system read-write'
      return fail('database file', `${path} is not writable: ${reasonOf(error)}`, fix)
    }
  }
  return ok('database file', 'the file and its directory are writable')
}

async function checkLog(file: string, rows: DatabaseReader['rows']): Promise<Finding> {
  const [row] = await rows('pragma journal_mode')
  const mode = row?.journal_mode
  if (mode !== 'wal') {
    const fix = 'Restart the service, which switches back to WAL, and find the program that changed the mode'
    return warn('database log', `the journal mode is ${mode}, so reads and writes block each other`, fix)
  }
  const size = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0
  if (size > largeLogBytes) {
    const fix = 'Stop long-running readers of the file (a backup, a shell). The log then shrinks again'
    return warn('database log', `the write-ahead log has grown to ${formatSize(size)}`, fix)
  }
  return ok('database log', `write-ahead log, ${formatSize(size)}`)
}
