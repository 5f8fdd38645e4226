import pg from 'pg'
import { recordFunction } from '../server/src/store/postgres/distributed-record.ts'
import { distributedTables } from '../server/src/store/postgres/distributed-tables.ts'
import { createPostgresDatabase } from './engines.ts'

/** Statements that Citus never gets, or that ask all shards, with the reason. */
const exceptions: [RegExp, string][] = [
  [/batch_fences/, 'records on one server; Citus calls the function'],
  [/delete from recent_(usage|sums)/, 'only one server has sums of each process'],
  [/order by \(select sum\(\w+( \+ \w+)?\).* from hour_sums/s, 'prompts.ts reads the totals first'],
  [
    /^\s*select [^?]*\(select 1 from hour_sums h\s+where h\.organisation_id = p\.organisation_id/,
    'sweep.ts asks the shards for a page of prompts',
  ],
  [/^select place, (?!.*where organisation_id = \$)/s, 'known-signals.ts adds the organisation'],
  [/^select count\(\*\) from /, 'an archive counts what all shards have'],
  [/\bstaged\b/, 'an import, whose rows the coordinator sends to their shards'],
  [/^\s*(delete from|update) \w+ .*kept_since from signal_retention/s, 'retention asks all shards, in steps'],
]

const tables = [...distributedTables, 'hour_sums', 'version_sums', 'month_usage']
const namesTable = new RegExp(`\\b(${tables.join('|')})\\b`)
// A parameter, a list of them, or a number in the text.
const namesOrganisation = /\borganisation_id = (\(?\$\d|ANY \(\$\d|'\d+')/
const explainable = /^\s*(with|select|insert|update|delete)\b/i
const delegated = /^select \w+\(\$1(, \$\d+)*\) as \w+$/

interface PlanNode {
  'Node Type': string
  'Relation Name'?: string
  Plans?: PlanNode[]
}

/**
 * The rules that a statement follows so that Citus runs it on the worker of its organisation, for all that the tests sent:
 * - It names the organisation of each distributed table as a parameter, never as a column of another table, or reads one table alone.
 * - It calls the function that records by nothing but the call.
 * - In the function, no `case` compares a variable, which Citus would send to a worker as a comparison with a boolean.
 * Returns what breaks them. Without Citus, nothing else would.
 */
export async function findUndistributable(statements: Iterable<string>): Promise<string[]> {
  const database = await createPostgresDatabase()
  const client = new pg.Client(database.url)
  await client.connect()
  await client.query('set enable_partition_pruning = off')
  try {
    const problems: string[] = []
    for (const sql of statements) {
      const problem = await problemOf(client, sql)
      if (problem !== null) problems.push(`${problem}: ${sql.replaceAll(/\s+/g, ' ').slice(0, 500)}`)
    }
    return problems
  } finally {
    await client.end()
    await database.remove()
  }
}

async function problemOf(client: pg.Client, sql: string): Promise<string | null> {
  if (sql.includes(`create or replace function ${recordFunction.name}`)) {
    return /\bcase r\.(?!shard\b)\w+ when\b/.test(sql) ? 'compares a variable by case' : null
  }
  if (sql.includes(`${recordFunction.name}(`)) return delegated.test(sql) ? null : 'is more than the call'
  if (!namesTable.test(sql) || !explainable.test(sql) || exceptions.some(([pattern]) => pattern.test(sql))) return null
  const { rows } = await client.query(`explain (generic_plan, format json) ${sql}`)
  const { Plan: plan } = rows[0]['QUERY PLAN'][0]
  const found = scansOf(plan).find((scan) => !namesOrganisation.test(JSON.stringify(scan)))
  // Citus asks all shards for the rows of one table.
  return found === undefined || sourcesOf(plan).size === 1 ? null : `reads ${tableOf(found)} of all organisations`
}

/** The tables and functions that a statement reads. */
function sourcesOf(node: PlanNode): Set<string> {
  const below = (node.Plans ?? []).flatMap((child) => [...sourcesOf(child)])
  const isScan = / Scan$/.test(node['Node Type']) && !/^(Subquery|CTE) /.test(node['Node Type'])
  return new Set(isScan ? [tableOf(node) || node['Node Type'], ...below] : below)
}

const tableOf = (node: PlanNode) => node['Relation Name']?.replace(/_\d{4}_\d{2}$/, '') ?? ''

/** The scans of distributed tables, also of the months of signals, with the scans of their indexes. */
function scansOf(node: PlanNode): PlanNode[] {
  if (node['Node Type'] !== 'ModifyTable' && distributedTables.includes(tableOf(node))) return [node]
  return (node.Plans ?? []).flatMap(scansOf)
}
