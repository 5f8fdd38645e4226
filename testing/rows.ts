import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { sourceOf } from '../server/src/store/sql/archive-tables.ts'

// A running service may be writing.
const lockTimeoutMs = 5_000

type Row = Record<string, unknown>

/** Queries the database directly, past the service. */
export function queryRows(url: string, sql: string): Promise<Row[]> {
  return withConnection(url, (query) => query(sql))
}

/** The same for several queries, one after another. Connecting takes longer than most of them. */
export function queryEach(url: string, statements: string[]): Promise<Row[][]> {
  return withConnection(url, async (query) => {
    const results: Row[][] = []
    for (const sql of statements) results.push(await query(sql))
    return results
  })
}

async function withConnection<T>(url: string, use: (query: (sql: string) => Promise<Row[]>) => Promise<T>): Promise<T> {
  if (url.startsWith('sqlite:')) {
    const database = new DatabaseSync(url.slice('sqlite:'.length), { timeout: lockTimeoutMs })
    try {
      return await use(async (sql) => database.prepare(sql).all())
    } finally {
      database.close()
    }
  }
  const client = await poolOf(url).connect()
  try {
    const result = await use(async (sql) => (await client.query(sql)).rows)
    client.release()
    return result
  } catch (error) {
    // It may be in the middle of a transaction.
    client.release(true)
    throw error
  }
}

// Until then, the next query needs no connection of its own, which takes longer than most queries. Tests stop their servers, and count connections.
const idleMs = 300
const pools = new Map<string, pg.Pool>()

function poolOf(url: string): pg.Pool {
  const pool =
    pools.get(url) ?? new pg.Pool({ connectionString: url, idleTimeoutMillis: idleMs, allowExitOnIdle: true })
  if (!pools.has(url)) {
    // The server was stopped, or the database dropped.
    pool.on('error', () => {})
    pools.set(url, pool)
  }
  return pool
}

export interface UsageRow {
  month: number
  used: number
}

/** The monthly counters of an organisation, oldest first. */
export async function usageOf(url: string, organisationId: number): Promise<UsageRow[]> {
  const rows = await queryRows(
    url,
    `select month, sum(used) as used from month_usage where organisation_id = ${organisationId} group by month order by month`,
  )
  return rows.map(({ month, used }) => ({ month: Number(month), used: Number(used) }))
}

/**
 * Every row of every table, without `last_used_at`, which is flushed in the background. Sums that processes move in the background are
 * added up, and their fences are left out.
 */
export async function allRows(url: string): Promise<Record<string, string[]>> {
  const tables = url.startsWith('sqlite:')
    ? `select name from sqlite_master where type = 'table'`
    : `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'
      and table_name not like 'recent_%' and table_name <> 'batch_fences'`
  return withConnection(url, async (query) => {
    const contents: Record<string, string[]> = {}
    for (const { name } of await query(tables)) {
      const rows = await query(`select * from ${sourceOf(String(name))}`)
      contents[String(name)] = rows.map(({ last_used_at: _, ...row }) => JSON.stringify(row, bigintAsText)).sort()
    }
    return contents
  })
}

function bigintAsText(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}
