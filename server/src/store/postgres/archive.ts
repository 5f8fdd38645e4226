import type pg from 'pg'
import type { ArchiveRow, ArchiveTable, NumberedTable } from '../../domain/archive/archive.ts'
import { monthStart } from '../../domain/time.ts'
import type { ArchiveConnection, ArchiveEngine } from '../sql/archive.ts'
import { archiveTables } from '../sql/archive-tables.ts'
import { statement, type Value } from '../sql/database.ts'
import { numberPlaceholders } from './connection.ts'
import { incrementChangeCounter, type PostgresDatabase } from './database.ts'
import { fixSnapshots } from './distributed-snapshot.ts'
import { type CreatePartitions, skippingKnownMonths } from './partitions.ts'

const lockTimeout = '5s'
const lockNotAvailable = '55P03'

const tables = [...archiveTables.map(({ name }) => name), 'signal_retention'].join(', ')

export function postgresArchive(
  database: PostgresDatabase,
  createPartitions: CreatePartitions,
  onChange: () => void,
): ArchiveEngine {
  return {
    readSnapshot: (work) =>
      database.withoutTimeout(async (client) => {
        await client.query('begin isolation level repeatable read, read only')
        // The first query fixes the snapshot. Locking before it keeps retention from dropping a month that the snapshot includes.
        await client.query(`lock table ${tables} in access share mode`)
        if (database.isDistributed) await database.onOwnConnection((other) => fixSnapshots(client, other))
        const result = await work(connectionOf(database, client, createPartitions))
        await client.query('commit')
        return result
      }),

    writeTransaction: (work) =>
      database.withoutTimeout(async (client) => {
        await client.query('begin')
        const result = await work(connectionOf(database, client, createPartitions))
        await client.query(incrementChangeCounter.sql)
        await client.query('commit')
        onChange()
        // Otherwise queries are planned for the old table sizes. The rows are committed already, so a failure here does not matter.
        await client.query(`analyze ${tables}`).catch(() => {})
        return result
      }),
  }
}

function connectionOf(
  database: PostgresDatabase,
  client: pg.ClientBase,
  createPartitions: CreatePartitions,
): ArchiveConnection {
  const preparePartitions = skippingKnownMonths(createPartitions)

  async function rows(sql: string, parameters: Value[] = []): Promise<ArchiveRow[]> {
    const query: pg.QueryArrayConfig = { text: numberPlaceholders(sql), values: parameters, rowMode: 'array' }
    return (await client.query<ArchiveRow>(query)).rows
  }

  return {
    rows,
    async *batches(sql, parameters, size) {
      await rows(`declare archive_rows no scroll cursor for ${sql}`, parameters)
      for (;;) {
        const batch = await rows(`fetch ${size} from archive_rows`)
        if (batch.length > 0) yield batch
        if (batch.length < size) break
      }
      await rows('close archive_rows')
    },
    async insert(table, rows) {
      if (table.name === 'signals') {
        const at = Object.keys(table.columns).indexOf('created_at')
        await preparePartitions(rows.map((row) => monthStart(row[at] as number)))
      }
      const values = Object.keys(table.columns).map((_, i) => rows.map((row) => row[i]))
      await client.query({ name: `archive_${table.name}`, text: insertInto(table), values })
    },
    async lastId(table) {
      return firstValue(await rows(`select coalesce(pg_sequence_last_value(${sequenceOf(table)}), 0)`))
    },
    async skipIds(table, last) {
      if (last === 0) return
      const sequence = sequenceOf(table)
      await rows(`select setval(${sequence}, greatest(coalesce(pg_sequence_last_value(${sequence}), 0), ?))`, [last])
    },
    async reserveIds(table, count) {
      const sequence = sequenceOf(table)
      // A separate transaction, so other writers are blocked only for a moment. Sequences never hand out an ID twice, even
      // after a rollback.
      const results = database.write([
        // While this waits for the lock, all other writers queue behind it.
        statement(`set local lock_timeout = '${lockTimeout}'`),
        statement(blockNewIds(table)),
        statement(`select setval(${sequence}, coalesce(pg_sequence_last_value(${sequence}), 0) + ?) as last`, [count]),
      ])
      const [, , reserved = []] = await results.catch((error) => {
        if (error.code !== lockNotAvailable) throw error
        throw new Error(`Nothing was imported because ${table} is busy with other writes. Try again later`)
      })
      return (reserved[0]?.last as number) - count
    },
    async lockOrganisations() {
      await rows('lock table organisations in share row exclusive mode')
    },
  }
}

/**
 * Makes other writers wait for new IDs until the transaction ends. Signal IDs are drawn from their sequence before anything is
 * written, so the sequence itself must be locked, which PostgreSQL does only for an `alter`. This one changes nothing.
 */
function blockNewIds(table: NumberedTable): string {
  if (table === 'signals') return 'alter sequence signal_ids owned by none'
  return `lock table ${table} in share row exclusive mode`
}

function sequenceOf(table: NumberedTable): string {
  return table === 'signals' ? `'signal_ids'::regclass` : `pg_get_serial_sequence('${table}', 'id')::regclass`
}

function firstValue(rows: ArchiveRow[]): number {
  return rows[0]?.[0] as number
}

function insertInto({ name, columns }: ArchiveTable): string {
  const arrays = Object.values(columns).map((kind, i) => `$${i + 1}::${kind === 'text' ? 'text' : 'bigint'}[]`)
  return `insert into ${name} (${Object.keys(columns).join(', ')}) overriding system value select * from unnest(${arrays.join(', ')})`
}
