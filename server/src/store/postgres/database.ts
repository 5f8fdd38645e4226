import pg from 'pg'
import type { Database, Row, Staging, Statement } from '../sql/database.ts'
import { statement } from '../sql/database.ts'
import { endSilent } from './silence.ts'

export interface PostgresDatabase extends Database {
  /** A statement in PostgreSQL's own words, with `$1` and so on. */
  query(sql: string, values?: unknown[]): Promise<Record<string, unknown>[]>
  /** The same. Throws `UnknownOutcome` where the connection broke under it. */
  attempt(sql: string, values: unknown[]): Promise<Record<string, unknown>[]>
  /** Runs `work` on a connection that is closed afterwards, so that whatever is set there goes with it. */
  apart<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T>
  /** The same, for as long as it takes. */
  unhurried<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T>
  /** Runs `work` on one connection while no other process is doing so. A failure closes the connection, which frees the lock. */
  alone<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T>
  connections(): { total: number; idle: number; waiting: number }
  close(): Promise<void>
}

/** The connection broke after a statement was sent: it may be done, or under way, or never have arrived. */
export class UnknownOutcome extends Error {
  constructor(cause: unknown) {
    super(`The connection to PostgreSQL broke: ${(cause as Error).message}`, { cause })
  }
}

export const oldestServer = 150_000
const int8 = 20
const numeric = 1700
// Any number will do, as long as nothing else in the same database picks it.
const lockNumber = 7_061_951

// A server that is slow gives up first; one that is gone without a word is given up on.
const serverPatience = 30_000
const ourPatience = 32_000

export const countChange = statement('update change_counter set changes = changes + 1')

/** `onChange` is called after each change made through this pool. */
export async function openPostgres(
  url: string,
  poolSize: number,
  onChange: () => void,
  onLostConnection: (error: Error) => void,
): Promise<PostgresDatabase> {
  const pool = new pg.Pool({
    connectionString: url,
    max: poolSize,
    connectionTimeoutMillis: 5_000,
    statement_timeout: serverPatience,
    keepAlive: true,
    application_name: 'promptledger',
    types: { getTypeParser },
  })
  // A connection that breaks while idle is replaced by the next query; without a listener it would end the process.
  pool.on('error', onLostConnection)
  // One that breaks in use tells it twice: to the statement under way, and here, perhaps when it was given up already.
  pool.on('connect', (client) => client.on('error', () => {}))
  const watch = endSilent(pool, ourPatience)
  await checkServer(pool, url)

  const query = (sql: string, values: unknown[] = []) => run(pool, sql, values)

  async function withClient<T>(work: (client: pg.PoolClient) => Promise<T>, reuse = true): Promise<T> {
    const client = await pool.connect()
    let failed = true
    try {
      const result = await work(client)
      failed = false
      return result
    } finally {
      // After a failure nobody knows what state the connection is in.
      client.release(failed || !reuse)
    }
  }

  function write(statements: Statement[]): Promise<Row[][]> {
    return withClient((client) => transaction(client, statements))
  }

  function unhurried<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
    return withClient(async (client) => {
      watch.leave(client)
      await client.query('set statement_timeout = 0')
      return work(client)
    }, false)
  }

  function stage({ columns, portions, targets, statements }: Staging): Promise<Row[][]> {
    return unhurried(async (client) => {
      await client.query(`create temp table staged (${columns.map(({ name, type }) => `${name} ${type}`).join(', ')})`)
      const arrays = columns.map(({ type }, i) => `$${i + 1}::${type}[]`)
      const insert = `insert into staged select * from unnest(${arrays.join(', ')})`
      for await (const rows of portions) {
        await run(
          client,
          insert,
          columns.map((_, i) => rows.map((row) => row[i])),
        )
      }
      await client.query('analyze staged')
      const results = await transaction(client, [...(await statements()), countChange])
      onChange()
      // Or queries would be planned for the table as it was. The rows are stored by now, whatever becomes of this.
      await client.query(`analyze ${targets.join(', ')}`).catch(() => {})
      return results
    })
  }

  return {
    rowAddress: 'ctid',
    byteOrder: 'collate "C"',
    records: (columns) =>
      `json_to_recordset(?::json) as records(${columns.map(({ name, type }) => `${name} ${type}`).join(', ')})`,
    elements: (type) => `(select value::${type} from json_array_elements_text(?::json))`,
    among: (column, type) => `${column} = any(array(select value::${type} from json_array_elements_text(?::json)))`,
    query,
    attempt: (sql, values) =>
      withClient((client) =>
        run(client, sql, values).catch((error) => {
          throw isRefusal(error) ? error : new UnknownOutcome(error)
        }),
      ),
    write,
    stage,
    rows: (sql, parameters = []) => query(numbered(sql), parameters),
    async change(statements) {
      const results = await write([...statements, countChange])
      onChange()
      return results
    },
    apart: (work) => withClient(work, false),
    unhurried,
    alone: (work) =>
      withClient(async (client) => {
        watch.leave(client)
        await client.query('set statement_timeout = 0')
        await client.query(`select pg_advisory_lock(${lockNumber})`)
        const result = await work(client)
        await client.query(`select pg_advisory_unlock(${lockNumber})`)
        await client.query('reset statement_timeout')
        return result
      }),
    connections: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    async close() {
      await pool.end()
      watch.stop()
    },
  }
}

async function checkServer(pool: pg.Pool, url: string): Promise<void> {
  try {
    const { rows } = await pool.query('show server_version_num')
    if (Number(rows[0]?.server_version_num) < oldestServer) throw new Error('PostgreSQL 15 or newer is needed')
  } catch (error) {
    await pool.end()
    const { host, pathname } = new URL(url)
    const { message, code } = error as NodeJS.ErrnoException
    throw new Error(`Cannot use the PostgreSQL database ${host}${pathname}: ${message || code}`, { cause: error })
  }
}

async function transaction(client: pg.ClientBase, statements: Statement[]): Promise<Row[][]> {
  // One statement is an act by itself, and two answers less to wait for.
  const several = statements.length > 1 || statements.some(({ andThen }) => andThen !== undefined)
  if (several) await client.query('begin')
  const results = await inOrder(client, statements)
  if (several) await client.query('commit')
  return results
}

async function inOrder(client: pg.ClientBase, statements: Statement[]): Promise<Row[][]> {
  const results: Row[][] = []
  for (const { sql, parameters, orElse, andThen } of statements) {
    const rows = await run(client, numbered(sql), parameters)
    if (rows.length === 0 && orElse !== undefined) throw orElse()
    if (andThen !== undefined) await inOrder(client, andThen(rows))
    results.push(rows)
  }
  return results
}

// Connection exceptions, the server shutting down or crashing, trouble of its system, errors of its own.
const connectionEnded = /^(08|57P|58|XX)/

/** That PostgreSQL itself said it has not done the statement, on a connection that goes on. */
function isRefusal(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !connectionEnded.test(error.code ?? '')
}

const names = new Map<string, string>()

/** Each statement gets a name, so that PostgreSQL parses and plans it once for each connection. */
async function run(client: pg.Pool | pg.ClientBase, sql: string, values: unknown[]): Promise<Row[]> {
  let name = names.get(sql)
  if (name === undefined) {
    name = `promptledger_${names.size}`
    names.set(sql, name)
  }
  const result = await client.query({ name, text: sql, values })
  return result.rows
}

const numberedSql = new Map<string, string>()

export function numbered(sql: string): string {
  let text = numberedSql.get(sql)
  if (text === undefined) {
    let count = 0
    text = sql.replaceAll('?', () => `$${++count}`)
    numberedSql.set(sql, text)
  }
  return text
}

export function getTypeParser(oid: number, format?: 'text' | 'binary') {
  // Counts, ids and times stay far below 2^53, so they can be ordinary numbers, as they are from SQLite.
  return oid === int8 || oid === numeric ? Number : pg.types.getTypeParser(oid, format as 'text')
}
