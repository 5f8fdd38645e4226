import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { hour, type Instant, isoTime, nextMonthStart } from '../../domain/time.ts'
import { takeLock } from './connection.ts'
import type { PostgresDatabase } from './database.ts'
import { hasSignalKey } from './signal-key.ts'

// How long recording waits for the partition of the month after.
const aheadTimeoutMs = 5_000
const rememberedMs = hour

export type CreatePartitions = (months: Iterable<Instant>) => Promise<void>

/** `recheck` ignores which months are known to have a partition. */
export type PreparePartitions = (months: Iterable<Instant>, recheck?: boolean) => Promise<void>

/** The table that holds the signals of a month. Names sort in order of time. */
export function partitionName(month: Instant): string {
  return `signals_${isoTime(month).slice(0, 7).replace('-', '_')}`
}

/**
 * Creates the partitions of `signals` for the given months and for the month after each, so a new month has one before its
 * first signal. The month after is not needed yet: while a worker of a cluster is down, signals of the others are recorded without it.
 */
export function partitionCreator(database: PostgresDatabase): CreatePartitions {
  let ahead: Promise<void> | null = null

  /** Without the lock, which a migration may hold for minutes. */
  async function exist(months: Instant[]): Promise<boolean> {
    const sql = `select 1 from unnest($1::text[]) as name where not exists (${attached('name')})`
    return (await database.query(sql, [months.map(partitionName)])).length === 0
  }

  async function createAhead(months: Instant[]): Promise<void> {
    // With a statement timeout, unlike `withLock`: a worker that hangs must not hold the lock for longer.
    await database.onOwnConnection(async (client) => {
      await takeLock(client, aheadTimeoutMs)
      await createMissing(client, months)
    })
  }

  return async (months) => {
    const needed = [...new Set(months)]
    if (!(await exist(needed))) await database.withLock((client) => createMissing(client, needed))
    const next = needed.map(nextMonthStart)
    if (await exist(next)) return
    // The doctor warns while it is missing.
    ahead ??= createAhead(next)
      .catch(() => {})
      .finally(() => {
        ahead = null
      })
    await Promise.race([ahead, pause(aheadTimeoutMs, undefined, { ref: false })])
  }
}

const attached = (name: string) =>
  `select 1 from pg_inherits where inhrelid = to_regclass(${name}) and inhparent = 'signals'::regclass and not inhdetachpending`

/**
 * Removes what retention leaves behind if it is killed between detaching a month and dropping it. Returns false for another table of this name:
 * an operator may have detached a month that is to be kept, and the doctor says what to do then.
 */
async function removeExpired(client: pg.ClientBase, table: string, month: Instant): Promise<boolean> {
  const { rows } = await client.query<{ isPending: boolean | null; isExpired: boolean }>(
    `select i.inhdetachpending as "isPending", $2::bigint < (select kept_since from signal_retention) as "isExpired"
     from pg_class c left join pg_inherits i on i.inhrelid = c.oid where c.oid = to_regclass($1)`,
    [table, month],
  )
  const [left] = rows
  if (left === undefined) return true
  if (!left.isExpired) return false
  if (left.isPending) await client.query(`alter table signals detach partition ${table} finalize`)
  await client.query(`drop table if exists ${table}`)
  return true
}

async function createMissing(client: pg.ClientBase, months: Instant[]): Promise<void> {
  for (const month of months) {
    const table = partitionName(month)
    const { rows } = await client.query(attached('$1'), [table])
    if (rows.length > 0) continue
    if (!(await removeExpired(client, table, month))) continue
    // Attaching takes a weaker lock than creating in place, which would wait for all readers and block all writers.
    await client.query('begin')
    await client.query(`create table ${table} (like signals including all)`)
    // Without a key, a database that is replicated logically would reject deletions.
    if (!(await hasSignalKey(client))) await client.query(`alter table ${table} replica identity full`)
    await client.query(
      `alter table signals attach partition ${table} for values from (${month}) to (${nextMonthStart(month)})`,
    )
    await client.query('commit')
  }
}

/**
 * Remembers which months have a partition, so recording rarely checks again. Only a clock change can make this wrong. Forgets it
 * after a while, to create the partition of the month after if that has failed.
 */
export function skippingKnownMonths(create: CreatePartitions): PreparePartitions {
  const checkedAt = new Map<Instant, number>()
  return async (months, recheck = false) => {
    if (recheck) checkedAt.clear()
    const now = performance.now()
    const unknown = [...new Set(months)].filter(
      (month) => now - (checkedAt.get(month) ?? Number.NEGATIVE_INFINITY) >= rememberedMs,
    )
    if (unknown.length === 0) return
    await create(unknown)
    for (const month of unknown) checkedAt.set(month, now)
  }
}
