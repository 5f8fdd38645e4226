import type pg from 'pg'

// Meanwhile others wait too, and after 5 s the service rejects requests.
const lockTimeoutMs = 2_000
// A client reads for longer, or locks tables in another order. The next process that starts tries again.
const retriedCodes: unknown[] = ['55P03', '40P01']

// Has all that is needed to find the signals of a prompt in order, but the order of those with the same time. Its 16 bytes are the most for
// which PostgreSQL fills the pages, and it does so only without deduplication: docs/decisions/0102.
const addIndex = 'create index signals_by_time on only signals (prompt_id, created_at) with (deduplicate_items = off)'

/** Whether months are created with a primary key. It is needed where no fence keeps a batch from being stored twice (signal-fence.ts). */
export async function hasSignalKey(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query(
    `select from pg_constraint where conrelid = 'signals'::regclass and contype = 'p'`,
  )
  return rows.length > 0
}

/**
 * Gives new months a smaller index instead of the primary key. PostgreSQL drops the key of a partitioned table with those of its partitions,
 * so existing months are detached meanwhile, and keep theirs. They are attached again without a scan, because a constraint
 * says that all rows are of the month: validating that reads the month, but blocks neither writers nor readers.
 */
export async function dropSignalKey(client: pg.ClientBase, timeoutMs = lockTimeoutMs): Promise<void> {
  if (!(await hasSignalKey(client))) return
  const { rows } = await client.query<{ name: string; bounds: string; condition: string; isPending: boolean }>(
    `select c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bounds,
       pg_get_partition_constraintdef(c.oid) as condition, i.inhdetachpending as "isPending"
     from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'signals'::regclass order by 1`,
  )
  // Retention detaches the rest of it, and cannot do so once it is attached again.
  if (rows.some(({ isPending }) => isPending)) return
  await client.query(`set lock_timeout = ${timeoutMs}`)
  try {
    for (const { name, condition } of rows) {
      await client.query(`alter table ${name} drop constraint if exists of_month`)
      await client.query(`alter table ${name} add constraint of_month check (${condition}) not valid`)
      await client.query(`alter table ${name} validate constraint of_month`)
    }
    await client.query('begin')
    // All at once, so that no reader has locked one month while it waits for another.
    await client.query('lock table signals in access exclusive mode')
    for (const { name } of rows) await client.query(`alter table signals detach partition ${name}`)
    await client.query('alter table signals drop constraint signals_pkey')
    for (const { name, bounds } of rows) await client.query(`alter table signals attach partition ${name} ${bounds}`)
    for (const { name } of rows) await client.query(`alter table ${name} drop constraint of_month`)
    await client.query(addIndex)
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    if (!retriedCodes.includes((error as pg.DatabaseError).code)) throw error
  } finally {
    await client.query('reset lock_timeout')
  }
}

/** Gives every month its primary key again. */
export async function restoreSignalKey(client: pg.ClientBase): Promise<void> {
  if (await hasSignalKey(client)) return
  await client.query('drop index signals_by_time')
  await client.query('alter table signals add primary key (organisation_id, prompt_id, created_at, id)')
  const { rows } = await client.query(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'signals'::regclass`,
  )
  for (const { name } of rows) await client.query(`alter table ${name} replica identity default`)
}
