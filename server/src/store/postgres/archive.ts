import type pg from 'pg'
import type { ArchiveRow, ArchiveTable, NumberedTable } from '../../domain/archive/archive.ts'
import { monthStart } from '../../domain/time.ts'
import type { ArchiveConnection, ArchiveEngine } from '../sql/archive.ts'
import { archiveTables } from '../sql/archive-tables.ts'
import { statement, type Value } from '../sql/database.ts'
import { countChange, numbered, type PostgresDatabase } from './database.ts'
import { onceEach, type PrepareMonths } from './months.ts'

const patience = '5s'
const lockNotAvailable = '55P03'

const tables = [...archiveTables.map(({ name }) => name), 'signal_retention'].join(', ')

export function postgresArchive(
  database: PostgresDatabase,
  makeMonths: PrepareMonths,
  onChange: () => void,
): ArchiveEngine {
  return {
    reading: (work) =>
      database.unhurried(async (client) => {
        await client.query('begin isolation level repeatable read, read only')
        // Before the first look, from which on nothing changes: a month that is dropped after it would be missing.
        await client.query(`lock table ${tables} in access share mode`)
        const result = await work(connectionOf(database, client, makeMonths))
        await client.query('commit')
        return result
      }),

    writing: (work) =>
      database.unhurried(async (client) => {
        await client.query('begin')
        const result = await work(connectionOf(database, client, makeMonths))
        await client.query(countChange.sql)
        await client.query('commit')
        onChange()
        // Or queries would be planned for the tables as they were. The rows are stored by now, whatever becomes of this.
        await client.query(`analyze ${tables}`).catch(() => {})
        return result
      }),
  }
}

function connectionOf(database: PostgresDatabase, client: pg.ClientBase, makeMonths: PrepareMonths): ArchiveConnection {
  const prepareMonths = onceEach(makeMonths)

  async function rows(sql: string, parameters: Value[] = []): Promise<ArchiveRow[]> {
    const query: pg.QueryArrayConfig = { text: numbered(sql), values: parameters, rowMode: 'array' }
    return (await client.query<ArchiveRow>(query)).rows
  }

  return {
    rows,
    async *portions(sql, parameters, size) {
      await rows(`declare portions no scroll cursor for ${sql}`, parameters)
      for (;;) {
        const portion = await rows(`fetch ${size} from portions`)
        if (portion.length > 0) yield portion
        if (portion.length < size) break
      }
      await rows('close portions')
    },
    async insert(table, rows) {
      if (table.name === 'signals') {
        const at = Object.keys(table.columns).indexOf('created_at')
        await prepareMonths(rows.map((row) => monthStart(row[at] as number)))
      }
      const values = Object.keys(table.columns).map((_, i) => rows.map((row) => row[i]))
      await client.query({ name: `archive_${table.name}`, text: insertInto(table), values })
    },
    async lastId(table) {
      return lastOf(await rows(`select coalesce(pg_sequence_last_value(${sequenceOf(table)}), 0)`))
    },
    async skipIds(table, last) {
      if (last === 0) return
      const sequence = sequenceOf(table)
      await rows(`select setval(${sequence}, greatest(coalesce(pg_sequence_last_value(${sequence}), 0), ?))`, [last])
    },
    async takeIds(table, count) {
      const sequence = sequenceOf(table)
      // An act of its own: whoever is about to take a number waits for a moment only. A number that is taken stays so.
      const acts = database.write([
        // While we wait for somebody, everybody waits for us.
        statement(`set local lock_timeout = '${patience}'`),
        statement(hold(table)),
        statement(`select setval(${sequence}, coalesce(pg_sequence_last_value(${sequence}), 0) + ?) as last`, [count]),
      ])
      const [, , taken = []] = await acts.catch((error) => {
        if (error.code !== lockNotAvailable) throw error
        throw new Error(`Somebody else is writing much to ${table}: nothing was imported, try again later`)
      })
      return (taken[0]?.last as number) - count
    },
    async holdOrganisations() {
      await rows('lock table organisations in share row exclusive mode')
    },
  }
}

/**
 * Makes whoever takes a number wait until the transaction is over. Ids of signals are drawn from their sequence before anything
 * is written, so that it is the sequence that has to be held; there is no other way than to set what it is already.
 */
function hold(table: NumberedTable): string {
  if (table === 'signals') return 'alter sequence signal_ids owned by none'
  return `lock table ${table} in share row exclusive mode`
}

function sequenceOf(table: NumberedTable): string {
  return table === 'signals' ? `'signal_ids'::regclass` : `pg_get_serial_sequence('${table}', 'id')::regclass`
}

function lastOf(rows: ArchiveRow[]): number {
  return rows[0]?.[0] as number
}

function insertInto({ name, columns }: ArchiveTable): string {
  const arrays = Object.values(columns).map((kind, i) => `$${i + 1}::${kind === 'text' ? 'text' : 'bigint'}[]`)
  return `insert into ${name} (${Object.keys(columns).join(', ')}) overriding system value select * from unnest(${arrays.join(', ')})`
}
