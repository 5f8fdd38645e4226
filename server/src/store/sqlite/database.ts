import { accessSync, closeSync, constants, existsSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import type { Database, Row, Staging, Statement } from '../sql/database.ts'

export interface SqliteDatabase extends Database {
  /** Runs `act` in one transaction, without yielding in between. Waits while another process is writing, so many milliseconds. */
  transaction<T>(act: () => T, patience?: number): Promise<T>
  prepare(sql: string): StatementSync
  /** Runs SQL of several statements. */
  execute(sql: string): void
  close(): void
}

const busy = 5
// SQLite waits by blocking the whole process, so it may do that only for a moment; the rest is waited for outside.
const blockingWait = 10
const pauseBetweenTries = 10
const longestWait = 60_000
// The same few pages change with every batch: copying them back less often saves most of that work. 16 MB of log.
const pagesBetweenCheckpoints = 4_000

/** `onChange` is called after each change made through this connection. */
export function openSqlite(path: string, onChange: () => void): SqliteDatabase {
  const connection = connect(path)
  const prepared = new Map<string, StatementSync>()

  function prepare(sql: string): StatementSync {
    let found = prepared.get(sql)
    if (found === undefined) {
      found = connection.prepare(sql)
      prepared.set(sql, found)
    }
    return found
  }

  function run({ sql, parameters, orElse, andThen }: Statement): Row[] {
    const rows = prepare(sql).all(...parameters) as Row[]
    if (rows.length === 0 && orElse !== undefined) throw orElse()
    andThen?.(rows).forEach(run)
    return rows
  }

  async function transaction<T>(act: () => T, patience = longestWait): Promise<T> {
    const deadline = performance.now() + patience
    // Nothing may be awaited once the transaction has begun: whatever ran meanwhile would become part of it.
    while (!began(deadline)) await pause(pauseBetweenTries)
    try {
      const result = act()
      prepare('commit').run()
      return result
    } catch (error) {
      if (connection.isTransaction) prepare('rollback').run()
      throw error
    }
  }

  function began(deadline: number): boolean {
    try {
      prepare('begin immediate').run()
      return true
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error
      return false
    }
  }

  function write(statements: Statement[]): Promise<Row[][]> {
    return transaction(() => statements.map(run))
  }

  async function change(statements: Statement[]): Promise<Row[][]> {
    const results = await write(statements)
    onChange()
    return results
  }

  // One at a time: there is one table to collect in.
  let staging: Promise<unknown> = Promise.resolve()
  function stage(rows: Staging): Promise<Row[][]> {
    const staged = staging.then(() => stageNow(rows))
    staging = staged.catch(() => {})
    return staged
  }

  async function stageNow({ columns, portions, statements }: Staging): Promise<Row[][]> {
    connection.exec('drop table if exists temp.staged')
    connection.exec(`create temp table staged (${columns.map(({ name }) => name).join(', ')})`)
    const insert = connection.prepare(`insert into temp.staged values (${columns.map(() => '?').join(', ')})`)
    for await (const rows of portions) {
      // The temporary table has a file of its own, so this locks nobody out.
      connection.exec('begin')
      try {
        for (const row of rows) insert.run(...row)
      } finally {
        connection.exec('commit')
      }
    }
    const results = await change(await statements())
    connection.exec('drop table temp.staged')
    return results
  }

  return {
    rowAddress: 'rowid',
    byteOrder: 'collate binary',
    records: (columns) =>
      `(select ${columns.map(({ name }) => `value ->> '${name}' as ${name}`).join(', ')} from json_each(?)) as records`,
    elements: () => '(select value from json_each(?))',
    among: (column) => `${column} in (select value from json_each(?))`,
    prepare,
    transaction,
    write,
    change,
    stage,
    rows: async (sql, parameters = []) => run({ sql, parameters }),
    execute: (sql) => connection.exec(sql),
    close: () => connection.close(),
  }
}

function connect(path: string): DatabaseSync {
  try {
    if (path !== ':memory:') prepareFiles(path)
    const connection = new DatabaseSync(path)
    // Processes that start together may both want to switch the file to WAL.
    connection.exec('pragma busy_timeout = 5000')
    connection.exec('pragma journal_mode = wal')
    connection.exec('pragma synchronous = full')
    connection.exec(`pragma wal_autocheckpoint = ${pagesBetweenCheckpoints}`)
    connection.exec(`pragma busy_timeout = ${blockingWait}`)
    return connection
  } catch (error) {
    throw new Error(`Cannot open the database file ${path}: ${(error as Error).message}`, { cause: error })
  }
}

/** SQLite would open what it may only read, and leave files beside it that nobody can write afterwards. */
function prepareFiles(path: string): void {
  const folder = dirname(path)
  mkdirSync(folder, { recursive: true })
  for (const file of [folder, path, `${path}-wal`, `${path}-shm`].filter(existsSync)) {
    try {
      accessSync(file, constants.W_OK)
    } catch {
      throw new Error(`${file} is read-only for this user. Give it the right to write there, and start again`)
    }
  }
  // A new one is for its owner alone: it holds what users wrote. SQLite gives the files beside it the same mode.
  closeSync(openSync(path, constants.O_RDONLY | constants.O_CREAT, 0o600))
}

function isBusy(error: unknown): boolean {
  // The lower byte is the primary code; the rest tells kinds of busy apart.
  return error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === busy
}
