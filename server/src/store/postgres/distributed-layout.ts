import { recordBody, recordFunction, type ShardGroup } from './distributed-record.ts'
import { distributedTables, type ReadRows, readDistributedTables, referenceTable } from './distributed-tables.ts'

/** What is wrong with the layout of a distributed database. Empty if nothing is. */
export async function findLayoutProblems(rows: ReadRows): Promise<string[]> {
  const tables = new Map((await readDistributedTables(rows)).map((table) => [table.name, table]))
  const signals = tables.get('signals')
  const partitions = (
    await rows(`select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = to_regclass('signals') order by 1`)
  ).map(({ name }) => name as string)
  const problems = [...distributedTables, ...partitions].flatMap((name) => {
    const table = tables.get(name)
    if (table?.kind !== 'distributed' || table.column !== 'organisation_id') {
      return [`${name} is not distributed by organisation_id`]
    }
    return table.colocation === signals?.colocation ? [] : [`${name} is not split like signals`]
  })
  if (tables.get(referenceTable)?.kind !== 'reference') problems.push(`${referenceTable} is not a reference table`)
  const expected = new Set([...distributedTables, ...partitions, referenceTable])
  for (const name of tables.keys()) if (!expected.has(name)) problems.push(`${name} is not a plain table`)
  const [found] = await rows(
    `select prosrc as body from pg_proc p join pg_dist_object o on o.objid = p.oid and o.classid = 'pg_proc'::regclass
     where p.proname = ? and o.distribution_argument_index = ? and o.colocationid = ?`,
    [recordFunction.name, recordFunction.organisation - 1, signals?.colocation ?? -1],
  )
  if (found === undefined) problems.push(`the function ${recordFunction.name} is not distributed`)
  // With a table missing, its body would be wrong in any case.
  else if (problems.length === 0 && found.body !== recordBody(await readShardGroups(rows))) {
    problems.push(`the function ${recordFunction.name} was not made for the shards that exist now`)
  }
  return problems
}

/** The shards of all tables, by those of `signal_usage`. */
export async function readShardGroups(rows: ReadRows): Promise<ShardGroup[]> {
  const found = await rows(
    `select usage.shardid as id, c.relname as name, c.relname || '_' || s.shardid as shard
     from pg_dist_shard usage join pg_dist_shard s using (shardminvalue) join pg_class c on c.oid = s.logicalrelid
     where usage.logicalrelid = 'signal_usage'::regclass and pg_table_is_visible(c.oid) order by 1, 2`,
  )
  return [...Map.groupBy(found, ({ id }) => id as number)].map(([id, shards]) => ({
    id,
    tables: Object.fromEntries(shards.map(({ name, shard }) => [name as string, shard as string])),
  }))
}

/** Tables whose rows from before they were distributed still take space on the coordinator, where no query reads them. */
export async function findLocalRemains(rows: ReadRows): Promise<string[]> {
  const found = await rows(
    `select c.relname as name from pg_dist_partition p join pg_class c on c.oid = p.logicalrelid
     where p.partmethod = 'h' and c.relkind = 'r' and pg_relation_size(c.oid) > 0 and pg_table_is_visible(c.oid) order by 1`,
  )
  return found.map(({ name }) => name as string)
}

/** The servers that the coordinator cannot connect to with the role of this connection. */
export async function findUnreachableNodes(rows: ReadRows): Promise<string[]> {
  const found = await rows(
    `select nodename || ':' || nodeport as node from pg_dist_node
     where noderole = 'primary' and not citus_check_connection_to_node(nodename, nodeport) order by 1`,
  )
  return found.map(({ node }) => node as string)
}
