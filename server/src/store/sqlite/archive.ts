import { DatabaseSync } from 'node:sqlite'
import type { ArchiveRow, ArchiveTable } from '../../domain/archive/archive.ts'
import type { ArchiveConnection, ArchiveEngine } from '../sql/archive.ts'
import type { Value } from '../sql/database.ts'

// The CLI has nothing else to do meanwhile, so SQLite may block while it waits for other writers.
const busyTimeoutMs = 60_000
// Rows arrive in ID order, which is random access for some indexes.
const cacheSizeKiB = 65_536

/** Uses separate connections: awaiting inside a transaction on the shared one would let unrelated statements join it. */
export function sqliteArchive(path: string): ArchiveEngine {
  async function inTransaction<T>(begin: string, work: (connection: ArchiveConnection) => Promise<T>): Promise<T> {
    const database = new DatabaseSync(path)
    try {
      database.exec(`pragma busy_timeout = ${busyTimeoutMs}`)
      database.exec('pragma synchronous = full')
      database.exec(`pragma cache_size = -${cacheSizeKiB}`)
      database.exec(begin)
      const result = await work(connectionOf(database))
      database.exec('commit')
      return result
    } finally {
      // Rolls back an uncommitted transaction.
      database.close()
    }
  }

  return {
    readSnapshot: (work) => inTransaction('begin', work),
    writeTransaction: (work) => inTransaction('begin immediate', work),
  }
}

function connectionOf(database: DatabaseSync): ArchiveConnection {
  function prepared(sql: string) {
    const statement = database.prepare(sql)
    statement.setReturnArrays(true)
    return statement
  }

  const rows = async (sql: string, parameters: Value[] = []) =>
    prepared(sql).all(...parameters) as unknown as ArchiveRow[]

  async function lastId(table: string): Promise<number> {
    const [row] = await rows('select seq from sqlite_sequence where name = ?', [table])
    return (row?.[0] as number | undefined) ?? 0
  }

  async function skipIds(table: string, last: number): Promise<void> {
    if (last <= (await lastId(table))) return
    await rows('delete from sqlite_sequence where name = ?', [table])
    await rows('insert into sqlite_sequence (name, seq) values (?, ?)', [table, last])
  }

  return {
    rows,
    lastId,
    skipIds,
    async *batches(sql, parameters, size) {
      let batch: ArchiveRow[] = []
      for (const row of prepared(sql).iterate(...parameters) as Iterable<unknown>) {
        batch.push(row as ArchiveRow)
        if (batch.length < size) continue
        yield batch
        batch = []
      }
      if (batch.length > 0) yield batch
    },
    async insert(table, rows) {
      const insert = database.prepare(insertInto(table))
      for (const row of rows) insert.run(...row)
    },
    async reserveIds(table, count) {
      const last = await lastId(table)
      await skipIds(table, last + count)
      return last
    },
    // Nothing to do: `begin immediate` already blocks all other writers.
    async lockOrganisations() {},
  }
}

function insertInto({ name, columns }: ArchiveTable): string {
  const names = Object.keys(columns)
  return `insert into ${name} (${names.join(', ')}) values (${names.map(() => '?').join(', ')})`
}
