import pg from 'pg'
import { typesOf } from '../sql/archive-tables.ts'
import {
  type ColumnType,
  type ColumnTypes,
  type Database,
  inChunks,
  type Row,
  type RowInsert,
  type Staging,
  type Statement,
  statement,
  storedNames,
} from '../sql/database.ts'
import { advisoryLockId, getTypeParser, numberPlaceholders, takeLock } from './connection.ts'
import { isDistributed } from './distributed-tables.ts'
import { closeStalledConnections } from './stalled-connections.ts'

export interface PostgresDatabase extends Database {
  /** Runs a statement with PostgreSQL's own placeholders: `$1`, `$2`, … */
  query(sql: string, values?: unknown[]): Promise<Record<string, unknown>[]>
  /** Like `query`, but throws `UnknownOutcome` if the connection breaks before the response. */
  attempt(sql: string, values: unknown[]): Promise<Record<string, unknown>[]>
  /** Runs `work` on a connection that is closed afterwards, along with any settings made on it. */
  onOwnConnection<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T>
  /** Like `onOwnConnection`, but without a statement timeout. */
  withoutTimeout<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T>
  /** Runs `work` while holding a lock across all processes. A failure closes the connection, which releases the lock. */
  withLock<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T>
  /** Finds out whether `promptledger distribute` has run since this process was started. */
  noticeDistribution(): Promise<boolean>
  connections(): { total: number; idle: number; waiting: number }
  close(): Promise<void>
}

/** The connection broke after a statement was sent: it may have been executed, be in flight, or never have arrived. */
export class UnknownOutcome extends Error {
  constructor(cause: unknown) {
    super(`The connection to PostgreSQL broke: ${(cause as Error).message}`, { cause })
  }
}

export const minServerVersion = 150_000
/** The code of the error with which PostgreSQL ends one of several transactions that wait for each other. */
export const deadlock = '40P01'
/** Of a signal: its month has no partition. */
export const checkViolation = '23514'

// A slow server cancels its statement first. A server that has stopped responding is caught by our own, longer timeout.
const statementTimeoutMs = 30_000
const stallTimeoutMs = 32_000
const connectTimeoutMs = 5_000
const maxStagedAttempts = 10
// Fewer change no plan, and analyzing all months takes longer than importing them.
const minAnalyzedRows = 1_000

export const incrementChangeCounter: Statement = {
  ...statement('update change_counter set changes = changes + 1'),
  atEnd: true,
}

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
    connectionTimeoutMillis: connectTimeoutMs,
    statement_timeout: statementTimeoutMs,
    keepAlive: true,
    application_name: 'promptledger',
    types: { getTypeParser },
    onConnect: withoutCompilation,
  })
  // The pool replaces an idle connection that breaks. Without a listener, the error would end the process.
  pool.on('error', onLostConnection)
  // A connection that breaks in use rejects its statement and also emits this event, which would end the process.
  pool.on('connect', (client) => client.on('error', () => {}))
  const watch = closeStalledConnections(pool, stallTimeoutMs)
  await checkServer(pool, url)

  /** After a failure the connection may be in any state, so it is not reused, unless `recover` makes it usable. */
  async function withClient<T>(
    work: (client: pg.PoolClient) => Promise<T>,
    reuse = true,
    recover: (client: pg.PoolClient) => Promise<boolean> = async () => false,
  ): Promise<T> {
    const client = await pool.connect()
    try {
      const result = await work(client)
      client.release(!reuse)
      return result
    } catch (error) {
      client.release(!(await recover(client)))
      throw error
    }
  }

  /**
   * Runs a single statement. Its connection is reused after an error that the server survives. While a worker of a cluster is down, its
   * statements fail all the time, and on a new connection those of others take long, until everything is planned again.
   */
  function single(statement: pg.QueryConfig): Promise<Row[]> {
    // Without promises of its own: every request waits for one of these.
    return new Promise((resolve, reject) => {
      pool.connect((connectError, client, release) => {
        if (client === undefined) return reject(connectError)
        void client.query(statement, (error: Error | null, result) => {
          release(error !== null && !isSurvived(error))
          if (error === null) resolve(result.rows)
          else reject(error)
        })
      })
    })
  }

  const query = (sql: string, values: unknown[] = []) => single(named(sql, values))

  async function attempt(sql: string, values: unknown[]): Promise<Row[]> {
    try {
      return await query(sql, values)
    } catch (error) {
      throw isRejection(error) ? error : new UnknownOutcome(error)
    }
  }

  function write(statements: Statement[]): Promise<Row[][]> {
    return withClient((client) => transaction(client, statements), true, isRolledBack)
  }

  function withoutTimeout<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
    return withClient(async (client) => {
      watch.exempt(client)
      await client.query('set statement_timeout = 0')
      return work(client)
    }, false)
  }

  function stage({ columns, batches, targets, statements }: Staging): Promise<Row[][]> {
    return withoutTimeout(async (client) => {
      await client.query(`create temp table staged (${definitions(columns)})`)
      const arrays = Object.values(columns).map((type, i) => `$${i + 1}::${type}[]`)
      const insert = `insert into staged select * from unnest(${arrays.join(', ')})`
      let stagedCount = 0
      for await (const rows of batches) {
        stagedCount += rows.length
        await run(
          client,
          insert,
          arrays.map((_, i) => rows.map((row) => row[i])),
        )
      }
      const isLarge = stagedCount >= minAnalyzedRows
      if (isLarge) await client.query('analyze staged')
      async function attempt(count: number): Promise<Row[][]> {
        // Each attempt prepares the months again, because retention may have removed one that is old.
        const all = [...(await statements()), incrementChangeCounter]
        try {
          return await transaction(client, all)
        } catch (error) {
          const { code } = error as pg.DatabaseError
          if ((code !== deadlock && code !== checkViolation) || count === maxStagedAttempts) throw error
          // Everything is still staged, so that an import of an hour does not fail because of one vote or month.
          await client.query('rollback')
          return attempt(count + 1)
        }
      }
      const results = await attempt(1)
      onChange()
      // Otherwise queries are planned for the old table size. The rows are committed already, so a failure here does not matter.
      if (isLarge) await client.query(`analyze ${targets.join(', ')}`).catch(() => {})
      return results
    })
  }

  const rows: Database['rows'] = (sql, parameters = []) => query(numberPlaceholders(sql), parameters)

  let distributed = await isDistributed(rows)

  return {
    get isDistributed() {
      return distributed
    },
    async noticeDistribution() {
      distributed ||= await isDistributed(rows)
      return distributed
    },
    rowAddress: 'ctid',
    byteOrder: 'collate "C"',
    // A name can be too long for an index.
    byName: (direction, table = '') =>
      `left(${table}name, 100) collate "C" ${direction}, ${table}name collate "C" ${direction}`,
    textKey: (text) => `hashtextextended(${text}, 0)`,
    jsonRecords,
    insertRows,
    jsonElements: (type) => `(select value::${type} from json_array_elements_text(?::json))`,
    // Faster than json_agg, which converts each value by itself.
    jsonArray: (expression) => `to_json(array_agg(${expression}))::text`,
    // Those that all processes share are read only as far as needed. The others are few.
    firstHourSums: (condition, order, hours) => `select * from (
        (select hour, positive, negative from signal_hours where ${condition} ${order} limit ${hours})
        union all select hour, positive, negative from recent_sums where ${condition} and version = ''
      ) as parts ${order}`,
    inJsonArray,
    haveIds: (table = '') => `${table}organisation_id = ? and ${inJsonArray(`${table}id`, 'bigint')}`,
    query,
    attempt,
    write,
    stage,
    rows,
    // Only named statements get a plan for any parameters.
    rowsPlanned: (sql, values) => single({ text: numberPlaceholders(sql), values }),
    async writeAndInvalidate(statements) {
      const results = await write([...statements, incrementChangeCounter])
      onChange()
      return results
    },
    onOwnConnection: (work) => withClient(work, false),
    withoutTimeout,
    withLock: (work) =>
      withClient(async (client) => {
        watch.exempt(client)
        await client.query('set statement_timeout = 0')
        await takeLock(client)
        const result = await work(client)
        await client.query(`select pg_advisory_unlock(${advisoryLockId})`)
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

/**
 * PostgreSQL compiles what it estimates to be expensive: 60 ms for a statement of 3 ms, on each connection. Not a startup parameter,
 * which PgBouncer rejects.
 */
async function withoutCompilation(client: pg.ClientBase): Promise<void> {
  const statement: pg.QueryConfig & { query_timeout: number } = {
    text: 'set jit = off',
    query_timeout: connectTimeoutMs,
  }
  await client.query(statement)
}

async function checkServer(pool: pg.Pool, url: string): Promise<void> {
  try {
    const { rows } = await pool.query('show server_version_num')
    if (Number(rows[0]?.server_version_num) < minServerVersion) throw new Error('PostgreSQL 15 or newer is required')
  } catch (error) {
    await pool.end()
    const { host, pathname } = new URL(url)
    const { message, code } = error as NodeJS.ErrnoException
    throw new Error(`Cannot use the PostgreSQL database ${host}${pathname}: ${message || code}`, { cause: error })
  }
}

async function transaction(client: pg.ClientBase, statements: Statement[]): Promise<Row[][]> {
  // A single statement is a transaction of its own. Skipping begin and commit saves two round trips.
  const several = statements.length > 1 || statements.some(({ andThen }) => andThen !== undefined)
  if (several) await client.query('begin')
  const atEnd: Statement[] = []
  const results = await runInOrder(client, statements, atEnd)
  await runTogether(client, atEnd)
  if (several) await client.query('commit')
  return results
}

/** Adds the statements that can wait to `atEnd`. */
async function runInOrder(client: pg.ClientBase, statements: Statement[], atEnd: Statement[]): Promise<Row[][]> {
  const results: Row[][] = []
  for (const statement of statements) {
    if (statement.atEnd) {
      atEnd.push(statement)
      results.push([])
      continue
    }
    const { sql, parameters, orThrow, andThen } = statement
    const rows = await run(client, numberPlaceholders(sql), parameters)
    if (rows.length === 0 && orThrow !== undefined) throw orThrow()
    if (andThen !== undefined) await runInOrder(client, andThen(rows), atEnd)
    results.push(rows)
  }
  return results
}

/** One round trip for all: by now, the transaction holds locks that others wait for. */
async function runTogether(client: pg.ClientBase, statements: Statement[]): Promise<void> {
  const last = statements.at(-1)
  if (last === undefined) return
  const others = statements.slice(0, -1).map(({ sql }, i) => `with_${i} as (${sql})`)
  const sql = others.length === 0 ? last.sql : `with ${others.join(', ')} ${last.sql}`
  await run(
    client,
    numberPlaceholders(sql),
    statements.flatMap(({ parameters }) => parameters),
  )
}

function inJsonArray(column: string, type: ColumnType): string {
  return `${column} = any(array(select value::${type} from json_array_elements_text(?::json)))`
}

function definitions(columns: ColumnTypes): string {
  return Object.entries(columns)
    .map(([name, type]) => `${name} ${type}`)
    .join(', ')
}

function jsonRecords(columns: ColumnTypes): string {
  return `json_to_recordset(?::json) as records(${definitions(columns)})`
}

function insertRows(insert: RowInsert): Statement[] {
  const { table, rows, types = typesOf(table), computed, onConflict } = insert
  const known = { ...types, ...computed?.unstored }
  const columns = Object.fromEntries(Object.keys(rows[0] ?? {}).map((name) => [name, known[name] as ColumnType]))
  const names = storedNames(insert).join(', ')
  const [name, value] =
    computed === undefined ? ['', ''] : [`, ${computed.name}`, `, ${computed.sql((column) => `records.${column}`)}`]
  const sql = `insert into ${table} (${names}${name})
    select ${names}${value} from ${jsonRecords(columns)} ${onConflict}`
  return inChunks(rows).map((chunk) => statement(sql, [JSON.stringify(chunk)]))
}

// Connection exceptions, shutdown or crash of the server, system errors, internal errors.
const connectionEnded = /^(08|57P|58|XX)/

/** Whether PostgreSQL itself rejected the statement, on a connection that is still usable. */
function isRejection(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !connectionEnded.test(error.code ?? '')
}

/** Whether the server reported the error of a single statement, and keeps the connection. */
function isSurvived(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.severity === 'ERROR'
}

function isRolledBack(client: pg.ClientBase): Promise<boolean> {
  return client.query('rollback').then(
    () => true,
    () => false,
  )
}

const names = new Map<string, string>()

/** Names each statement, so PostgreSQL parses and plans it only once per connection. */
function named(sql: string, values: unknown[]): pg.QueryConfig {
  let name = names.get(sql)
  if (name === undefined) {
    name = `promptledger_${names.size}`
    names.set(sql, name)
  }
  return { name, text: sql, values }
}

async function run(client: pg.ClientBase, sql: string, values: unknown[]): Promise<Row[]> {
  return (await client.query(named(sql, values))).rows
}
