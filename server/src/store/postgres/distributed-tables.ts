import type { Row, Value } from '../sql/database.ts'

/**
 * The tables that grow with the signals. Citus distributes them by organisation, so that everything that a signal changes is on
 * one worker and is committed there. All other tables grow with the work on prompts and stay on the coordinator: docs/decisions/0063.
 */
export const distributedTables = [
  'signal_usage',
  'signals',
  'idempotency_keys',
  'signal_hours',
  'version_hours',
  'signal_subjects',
  'hour_revisions',
  'recent_sums',
  'recent_usage',
  'trace_links',
  'exposure_hours',
  'evaluation_hours',
  'evaluation_events',
  'waiting_evaluations',
  'signal_events',
]

/** Read together with signals on every worker, and written only by retention. */
export const referenceTable = 'signal_retention'

/** Runs a statement with `?` placeholders. */
export type ReadRows = (sql: string, parameters?: Value[]) => Promise<Row[]>

interface DistributedTable {
  name: string
  kind: 'distributed' | 'reference' | 'other'
  column: string | null
  shards: number
  /** Tables with the same number are split in the same way. */
  colocation: number
}

/** Whether the server has Citus in this database. */
export async function hasCitus(rows: ReadRows): Promise<boolean> {
  return (await rows(`select 1 as found from pg_extension where extname = 'citus'`)).length > 0
}

/** The tables of this database that Citus knows, with the partitions of signals. */
export async function readDistributedTables(rows: ReadRows): Promise<DistributedTable[]> {
  if (!(await hasCitus(rows))) return []
  const found = await rows(
    `select c.relname as name, p.colocationid as colocation, count(s.shardid) as shards,
       case when p.partmethod = 'h' then 'distributed' when p.partmethod = 'n' and p.repmodel = 't' then 'reference'
         else 'other' end as kind,
       case when p.partmethod = 'h' then column_to_column_name(p.logicalrelid, p.partkey) end as column
     from pg_dist_partition p join pg_class c on c.oid = p.logicalrelid left join pg_dist_shard s using (logicalrelid)
     where pg_table_is_visible(c.oid) group by 1, 2, 4, 5 order by 1`,
  )
  return found as unknown as DistributedTable[]
}

export async function isDistributed(rows: ReadRows): Promise<boolean> {
  return (await readDistributedTables(rows)).some(({ name, kind }) => name === 'signals' && kind === 'distributed')
}
