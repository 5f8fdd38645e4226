import { DatabaseSync } from 'node:sqlite'
import type { ArchiveRow, ArchiveTable } from '../../domain/archive/archive.ts'
import type { ArchiveConnection, ArchiveEngine } from '../sql/archive.ts'
import type { Value } from '../sql/database.ts'

// Milliseconds. The command has nothing else to do meanwhile, so SQLite may wait by itself.
const longestWait = 60_000
// Kilobytes. Rows come in the order of their ids, which is not that of every index.
const cacheSize = 65_536

/** On connections of its own: what is awaited in the middle of a transaction must not let others into it. */
export function sqliteArchive(path: string): ArchiveEngine {
  async function within<T>(begin: string, work: (connection: ArchiveConnection) => Promise<T>): Promise<T> {
    const database = new DatabaseSync(path)
    try {
      database.exec(`pragma busy_timeout = ${longestWait}`)
      database.exec('pragma synchronous = full')
      database.exec(`pragma cache_size = -${cacheSize}`)
      database.exec(begin)
      const result = await work(connectionOf(database))
      database.exec('commit')
      return result
    } finally {
      // Rolls back what is not committed.
      database.close()
    }
  }

  return {
    reading: (work) => within('begin', work),
    writing: (work) => within('begin immediate', work),
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
    async *portions(sql, parameters, size) {
      let portion: ArchiveRow[] = []
      for (const row of prepared(sql).iterate(...parameters) as Iterable<unknown>) {
        portion.push(row as ArchiveRow)
        if (portion.length < size) continue
        yield portion
        portion = []
      }
      if (portion.length > 0) yield portion
    },
    async insert(table, rows) {
      const insert = database.prepare(insertInto(table))
      for (const row of rows) insert.run(...row)
    },
    async takeIds(table, count) {
      const last = await lastId(table)
      await skipIds(table, last + count)
      return last
    },
    // Nobody writes anything until the transaction is over.
    async holdOrganisations() {},
  }
}

function insertInto({ name, columns }: ArchiveTable): string {
  const names = Object.keys(columns)
  return `insert into ${name} (${names.join(', ')}) values (${names.map(() => '?').join(', ')})`
}
