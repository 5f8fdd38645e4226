import pg from 'pg'
import type { Row } from '../sql/database.ts'
import { getTypeParser, numberPlaceholders, takeLock } from './connection.ts'
import { incrementChangeCounter } from './database.ts'
import { findLayoutProblems, findLocalRemains, findUnreachableNodes, readShardGroups } from './distributed-layout.ts'
import { createRecordFunction, recordFunction } from './distributed-record.ts'
import {
  distributedTables,
  hasCitus,
  isDistributed,
  type ReadRows,
  readDistributedTables,
  referenceTable,
} from './distributed-tables.ts'
import { moveAllRecent } from './recent-sums.ts'
import { restoreSignalKey } from './signal-key.ts'

const guide = 'docs/operations/citus.md'

/** Makes Citus send each statement to one shard after the other, as it requires where a transaction changes tables in several ways. */
export const inSequence = `set local citus.multi_shard_modify_mode = 'sequential'`

export interface Distribution {
  /** False if the database was distributed before. */
  isNew: boolean
  shards: number
  workers: number
  /** The number of rows of each distributed table. */
  rows: Record<string, number>
}

/** Runs `distribute` alone among migrations and the creation of partitions. */
export function distributeDatabase(url: string, shards: number): Promise<Distribution> {
  return onConnection(url, async (client) => {
    await takeLock(client)
    return await distribute(client, shards)
  })
}

/** Throws an error that says what to do if the server cannot distribute the tables of this database now. */
export function requireCluster(url: string): Promise<void> {
  return onConnection(url, (client) => checkCluster(readerOf(client)))
}

/** Runs `work` on a connection of its own, whose end also rolls back and releases locks. */
async function onConnection<T>(url: string, work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, application_name: 'promptledger', types: { getTypeParser } })
  // The statement in progress reports a lost connection. Without a listener, the event would end the process.
  client.on('error', () => {})
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/**
 * Distributes the tables of signals by organisation, with their rows, in one transaction, and verifies the result before the commit.
 * Does only what is left to do if it ran before.
 */
async function distribute(client: pg.ClientBase, shards: number): Promise<Distribution> {
  const rows = readerOf(client)
  await checkCluster(rows)
  const isNew = !(await isDistributed(rows))
  await client.query('begin')
  await client.query(inSequence)
  // Writers would change the rows between counting and copying them.
  await client.query(`lock table ${[...distributedTables, referenceTable].join(', ')} in access exclusive mode`)
  // Citus cannot move them.
  if (isNew) for (const sql of moveAllRecent) await client.query(sql)
  // The function that records on workers has no fence, which would be a row of the coordinator.
  if (isNew) await restoreSignalKey(client)
  const before = await countRows(rows)
  await distributeTables(client, shards)
  const after = await countRows(rows)
  const lost = distributedTables.filter((table) => before[table] !== after[table])
  const problems = [
    ...lost.map((table) => `${table} had ${before[table]} rows and now has ${after[table]}`),
    ...(await findLayoutProblems(rows)),
  ]
  if (problems.length > 0) throw new Error(`The database was left as it is: ${problems.join('; ')}`)
  // Processes that are running look at the layout when this changes.
  await client.query(incrementChangeCounter.sql)
  await client.query('commit')
  await removeLocalRemains(client, rows)
  const tables = await readDistributedTables(rows)
  const [nodes] = await rows(`select count(distinct nodeport::text || nodename) as count from citus_shards
    where table_name = 'signal_usage'::regclass`)
  return {
    isNew,
    shards: tables.find(({ name }) => name === 'signals')?.shards ?? 0,
    workers: nodes?.count as number,
    rows: after,
  }
}

/** Distributes what a migration has added to a distributed database. */
export async function completeDistribution(client: pg.ClientBase): Promise<void> {
  const rows = readerOf(client)
  if ((await findLayoutProblems(rows)).length === 0) return
  await client.query('begin')
  await client.query(inSequence)
  await distributeTables(client, null)
  await client.query('commit')
}

/** `shards` is null if a table is distributed already, which the others follow. */
async function distributeTables(client: pg.ClientBase, shards: number | null): Promise<void> {
  const rows = readerOf(client)
  const known = new Map((await readDistributedTables(rows)).map((table) => [table.name, table]))
  if (known.get(referenceTable)?.kind !== 'reference') {
    await client.query(`select create_reference_table('${referenceTable}')`)
  }
  // Citus does not let anyone change a sequence that a distributed table uses, and the service draws IDs itself.
  if (!known.has('signals')) await client.query('alter table signals alter column id drop default')
  const first = distributedTables[0] as string
  for (const table of distributedTables) {
    if (known.get(table)?.kind === 'distributed') continue
    const how = table === first ? `shard_count => ${shards}, colocate_with => 'none'` : `colocate_with => '${first}'`
    await client.query(`select create_distributed_table('${table}', 'organisation_id', ${how})`)
  }
  const { name, parameterTypes, organisation } = recordFunction
  await client.query(createRecordFunction(await readShardGroups(rows)))
  await client.query(
    `select create_distributed_function('${name}(${parameterTypes.join()})', '$${organisation}', colocate_with => '${first}')`,
  )
}

async function checkCluster(rows: ReadRows): Promise<void> {
  if (!(await hasCitus(rows))) {
    throw new Error(
      `This database does not have the extension citus. Run 'create extension citus' in it on every server: ${guide}`,
    )
  }
  const nodes = await rows(
    `select count(*) filter (where groupid = 0) as coordinators, count(*) filter (where groupid <> 0 and shouldhaveshards) as workers,
       string_agg(nodename || ':' || nodeport, ', ') filter (where not isactive) as inactive
     from pg_dist_node where noderole = 'primary'`,
  )
  const { coordinators, workers, inactive } = nodes[0] as Row
  if (coordinators === 0) {
    throw new Error(
      `The coordinator is not a node of its cluster. Run select citus_set_coordinator_host('<host>', <port>): ${guide}`,
    )
  }
  if (workers === 0) {
    throw new Error(`The cluster has no workers. Run select citus_add_node('<host>', <port>) for each: ${guide}`)
  }
  if (inactive !== null) throw new Error(`Not active in the cluster: ${inactive}. Activate or remove it: ${guide}`)
  const unreachable = await findUnreachableNodes(rows)
  if (unreachable.length > 0) {
    const fix = 'Start it, and let this role connect to it from every server'
    throw new Error(`The coordinator cannot connect to ${unreachable.join(', ')}. ${fix}: ${guide}#servers`)
  }
}

async function countRows(rows: ReadRows): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const table of distributedTables) {
    counts[table] = (await rows(`select count(*) as count from ${table}`))[0]?.count as number
  }
  return counts
}

/** Citus leaves the rows that it has copied where they were. */
async function removeLocalRemains(client: pg.ClientBase, rows: ReadRows): Promise<void> {
  for (const table of await findLocalRemains(rows)) {
    await client.query(`select truncate_local_data_after_distributing_table('${table}')`)
  }
}

function readerOf(client: pg.ClientBase): ReadRows {
  return async (sql, parameters = []) => (await client.query(numberPlaceholders(sql), parameters)).rows
}
