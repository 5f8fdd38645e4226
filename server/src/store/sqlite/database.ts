import { accessSync, closeSync, constants, existsSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { createFolder } from '../../folder.ts'
import { type Database, type Row, type RowInsert, type Staging, type Statement, storedNames } from '../sql/database.ts'

export interface SqliteDatabase extends Database {
  /** Runs `work` synchronously in one transaction. Waits up to `timeoutMs` while another process is writing. */
  transaction<T>(work: () => T, timeoutMs?: number): Promise<T>
  prepare(sql: string): StatementSync
  /** Runs SQL text with any number of statements. */
  execute(sql: string): void
  close(): void
}

const sqliteBusy = 5
// SQLite blocks the whole process while it waits for a lock, so that wait is short and the rest of it is asynchronous. The
// worker process writes too, so waits are frequent: with 10 ms each, webhook responses took four times as long at p99.
const blockingTimeoutMs = 1
const startupBusyTimeoutMs = 5_000
const retryDelayMs = 2
const defaultTimeoutMs = 60_000
// Every batch changes the same few pages, so checkpointing less often saves most of the copying. This is 16 MB of WAL.
const pagesBetweenCheckpoints = 4_000

/** `onChange` is called after each change made through this connection. */
export function openSqlite(path: string, onChange: () => void): SqliteDatabase {
  const connection = connect(path)
  const prepared = new Map<string, StatementSync>()

  function prepare(sql: string): StatementSync {
    let statement = prepared.get(sql)
    if (statement === undefined) {
      statement = connection.prepare(sql)
      prepared.set(sql, statement)
    }
    return statement
  }

  function run({ sql, parameters, orThrow, andThen }: Statement): Row[] {
    const rows = prepare(sql).all(...parameters) as Row[]
    if (rows.length === 0 && orThrow !== undefined) throw orThrow()
    andThen?.(rows).forEach(run)
    return rows
  }

  async function transaction<T>(work: () => T, timeoutMs = defaultTimeoutMs): Promise<T> {
    const deadline = performance.now() + timeoutMs
    // No await once the transaction has begun: unrelated statements on this connection would become part of it.
    while (!tryBegin(deadline)) await pause(retryDelayMs)
    try {
      const result = work()
      prepare('commit').run()
      return result
    } catch (error) {
      if (connection.isTransaction) prepare('rollback').run()
      throw error
    }
  }

  function tryBegin(deadline: number): boolean {
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

  async function writeAndInvalidate(statements: Statement[]): Promise<Row[][]> {
    const results = await write(statements)
    onChange()
    return results
  }

  // One at a time, because all imports share the one staging table.
  let staging: Promise<unknown> = Promise.resolve()
  function stage(rows: Staging): Promise<Row[][]> {
    const staged = staging.then(() => stageNow(rows))
    staging = staged.catch(() => {})
    return staged
  }

  async function stageNow({ columns, batches, statements }: Staging): Promise<Row[][]> {
    connection.exec('drop table if exists temp.staged')
    const names = Object.keys(columns)
    connection.exec(`create temp table staged (${names.join(', ')})`)
    const insert = connection.prepare(`insert into temp.staged values (${names.map(() => '?').join(', ')})`)
    for await (const rows of batches) {
      // The temporary table has its own file, so this does not lock the database.
      connection.exec('begin')
      try {
        for (const row of rows) insert.run(...row)
      } finally {
        connection.exec('commit')
      }
    }
    const results = await writeAndInvalidate(await statements())
    connection.exec('drop table temp.staged')
    return results
  }

  return {
    isDistributed: false,
    rowAddress: 'rowid',
    byteOrder: 'collate binary',
    byName: (direction, table = '') => `${table}name ${direction}`,
    textKey: (text) => text,
    jsonRecords: (columns) =>
      `(select ${Object.keys(columns)
        .map((name) => `value ->> '${name}' as ${name}`)
        .join(', ')} from json_each(?)) as records`,
    insertRows,
    jsonElements: () => '(select value from json_each(?))',
    firstHourSums: (condition, order, hours) =>
      `select hour, positive, negative from signal_hours where ${condition} ${order} limit ${hours}`,
    jsonArray: (expression) => `json_group_array(${expression})`,
    inJsonArray: (column) => `${column} in (select value from json_each(?))`,
    // The plus sign hides the index on the organisation from SQLite.
    haveIds: (table = '') => `+${table}organisation_id = ? and ${table}id in (select value from json_each(?))`,
    prepare,
    transaction,
    write,
    writeAndInvalidate,
    stage,
    rows: async (sql, parameters = []) => run({ sql, parameters }),
    rowsPlanned: async (sql, parameters) => run({ sql, parameters }),
    execute: (sql) => connection.exec(sql),
    close: () => connection.close(),
  }
}

function insertRows(insert: RowInsert): Statement[] {
  const { table, rows, computed, onConflict } = insert
  const names = storedNames(insert)
  const parameters = [...names]
  const values = names.map(() => '?')
  if (computed !== undefined) {
    values.push(
      computed.sql((column) => {
        parameters.push(column)
        return '?'
      }),
    )
    names.push(computed.name)
  }
  const sql = `insert into ${table} (${names.join(', ')}) values (${values.join(', ')}) ${onConflict}`
  return rows.map((row) => ({ sql, parameters: parameters.map((name) => row[name] ?? null) }))
}

function connect(path: string): DatabaseSync {
  try {
    if (path !== ':memory:') prepareFiles(path)
    const connection = new DatabaseSync(path)
    // Processes that start at the same time may both switch the file to WAL.
    connection.exec(`pragma busy_timeout = ${startupBusyTimeoutMs}`)
    connection.exec('pragma journal_mode = wal')
    connection.exec('pragma synchronous = full')
    connection.exec(`pragma wal_autocheckpoint = ${pagesBetweenCheckpoints}`)
    connection.exec(`pragma busy_timeout = ${blockingTimeoutMs}`)
    return connection
  } catch (error) {
    throw new Error(`Cannot open the database file ${path}, which DATABASE_URL names: ${(error as Error).message}`, {
      cause: error,
    })
  }
}

/** Fails early on read-only files: SQLite would open them and create companion files that are read-only too. */
function prepareFiles(path: string): void {
  const folder = dirname(path)
  createFolder(folder)
  for (const file of [folder, path, `${path}-wal`, `${path}-shm`].filter(existsSync)) {
    try {
      accessSync(file, constants.W_OK)
    } catch {
      throw new Error(`${file} is read-only for this user. Grant write permission and start again`)
    }
  }
  // A new file is readable by its owner only, because it holds user data. SQLite gives companion files the same mode.
  closeSync(openSync(path, constants.O_RDONLY | constants.O_CREAT, 0o600))
}

export function isBusy(error: unknown): boolean {
  // The low byte is the primary result code, the rest the kind of busy.
  return error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === sqliteBusy
}
