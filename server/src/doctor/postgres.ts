import pg from 'pg'
import { type Instant, monthStart, nextMonthStart } from '../domain/time.ts'
import { workerPoolSize } from '../service/worker/pool-size.ts'
import { getTypeParser, numberPlaceholders } from '../store/postgres/connection.ts'
import { minServerVersion } from '../store/postgres/database.ts'
import { findLayoutProblems, findLocalRemains, findUnreachableNodes } from '../store/postgres/distributed-layout.ts'
import { fixSnapshots } from '../store/postgres/distributed-snapshot.ts'
import { hasCitus, isDistributed } from '../store/postgres/distributed-tables.ts'
import { partitionName } from '../store/postgres/partitions.ts'
import { tryRecording } from '../store/postgres/try-recording.ts'
import type { Row, Value } from '../store/sql/database.ts'
import { anyPrompt, type DatabaseReader } from './database.ts'
import { type Finding, fail, ok, reasonOf, runCheck, warn } from './finding.ts'
import { expectedPostgresSchema, postgresSchema } from './postgres-schema.ts'

const guide = 'docs/operations/postgres.md'

export async function openPostgres(url: string, poolSize: number, now: () => Instant): Promise<DatabaseReader> {
  const { host, pathname } = new URL(url)
  // Without user, password and options.
  const address = `${host}${pathname}`
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 5_000,
    // Counting may take long, but waiting for a lock must not: other sessions would queue behind us.
    lock_timeout: 2_000,
    keepAlive: true,
    application_name: 'promptledger doctor',
    types: { getTypeParser },
  })
  // The statement in progress reports a lost connection. Without a listener, the event would end the process.
  client.on('error', () => {})
  try {
    await client.connect()
  } catch (error) {
    await client.end().catch(() => {})
    throw new Error(`${address}: ${reasonOf(error)}`)
  }
  const rows = async (sql: string, parameters: Value[] = []): Promise<Row[]> =>
    (await client.query(numberPlaceholders(sql), parameters)).rows

  async function fixDistributedSnapshots(): Promise<void> {
    const other = new pg.Client({ connectionString: url, application_name: 'promptledger doctor' })
    other.on('error', () => {})
    await other.connect()
    try {
      await fixSnapshots(client, other)
    } finally {
      await other.end()
    }
  }

  return {
    engine: 'postgres',
    schema: { expected: expectedPostgresSchema, query: postgresSchema },
    rows,
    async snapshot(work) {
      // Asked before, because the first query of the transaction fixes what it sees.
      const distributed = await isDistributed(rows)
      await client.query('begin isolation level repeatable read read only')
      try {
        if (distributed) await fixDistributedSnapshots()
        return await work()
      } finally {
        await client.query('rollback')
      }
    },
    monthOf: (column) =>
      `(extract(epoch from date_trunc('month', to_timestamp(${column} / 1000) at time zone 'UTC')) * 1000)::bigint`,
    async runChecks(migrated) {
      return [
        await runCheck('database', () => checkServer(rows, address)),
        await runCheck('privileges', () => checkPrivileges(rows)),
        await runCheck('connections', () => checkConnections(rows, poolSize)),
        await runCheck('durability', () => checkDurability(rows)),
        ...(migrated ? [await runCheck('partitions', () => checkPartitions(rows, now()))] : []),
        ...(migrated && (await hasCitus(rows)) ? [await runCheck('distribution', () => checkDistribution(rows))] : []),
      ]
    },
    async clock() {
      const [row] = await rows('select (extract(epoch from clock_timestamp()) * 1000)::bigint as now')
      return row?.now as number
    },
    // With its partition, which the service creates on start.
    promptsToTry: async () =>
      (await isMissing(rows, partitionName(monthStart(now()))))
        ? []
        : rows((await isDistributed(rows)) ? promptOfEachWorker : anyPrompt),
    tryRecording: (signals) => tryRecording(url, signals, now),
    async close() {
      await client.end()
    },
  }
}

const promptOfEachWorker = `
  select distinct on (p.groupid) o.organisation_id, o.id
  from (select organisation_id, min(id) as id from prompts where deleted_at is null group by organisation_id) o
  join pg_dist_placement p on p.shardid = get_shard_id_for_distribution_column('signal_usage', o.organisation_id)
  order by p.groupid, o.id`

async function isMissing(rows: DatabaseReader['rows'], table: string): Promise<boolean> {
  const [row] = await rows('select to_regclass(?) is null as missing', [table])
  return row?.missing as unknown as boolean
}

async function checkServer(rows: DatabaseReader['rows'], address: string): Promise<Finding> {
  const [row] = await rows(
    `select current_setting('server_version_num')::int as number, current_setting('server_version') as version,
       pg_size_pretty(pg_database_size(current_database())) as size`,
  )
  const message = `PostgreSQL ${row?.version}, ${address}, ${row?.size}`
  if ((row?.number as number) >= minServerVersion) return ok('database', message)
  return fail('database', message, 'Update PostgreSQL to 15 or newer')
}

async function checkPrivileges(rows: DatabaseReader['rows']): Promise<Finding> {
  const tables = expectedPostgresSchema().flatMap(({ kind, name }) => (kind === 'table' ? [name] : []))
  const [row] = await rows(
    `select quote_ident(current_user) as role, quote_ident(current_schema()) as schema, pg_is_in_recovery()::int as is_standby,
       has_schema_privilege(current_schema(), 'create')::int as can_create,
       has_database_privilege(current_database(), 'temporary')::int as can_create_temporary,
       (select string_agg(c.relname, ', ') from pg_class c where c.relkind in ('r', 'p') and pg_table_is_visible(c.oid)
         and (c.relname = any(?) or c.relname ~ '^signals_\\d{4}_\\d{2}$') and not (pg_has_role(c.relowner, 'usage') and has_table_privilege(c.oid, 'select')
         and has_table_privilege(c.oid, 'insert') and has_table_privilege(c.oid, 'update')
         and has_table_privilege(c.oid, 'delete'))) as not_owned`,
    [`{${tables.join(',')}}`],
  )
  const { role, schema, is_standby, can_create, can_create_temporary, not_owned } = row as Row
  if (is_standby === 1) {
    return fail('privileges', 'the server is a standby, which takes no writes', 'Set DATABASE_URL to the primary')
  }
  const missing = [
    can_create === 1 ? [] : `create on schema ${schema}`,
    can_create_temporary === 1 ? [] : 'temporary on the database',
    not_owned === null ? [] : `ownership of ${not_owned}`,
  ].flat()
  if (missing.length === 0) return ok('privileges', `${role} has all that are needed in schema ${schema}`)
  const fix = `Grant the privileges, or change the owner of the tables: ${guide}`
  return fail('privileges', `${role} lacks ${missing.join(', ')}`, fix)
}

async function checkConnections(rows: DatabaseReader['rows'], poolSize: number): Promise<Finding> {
  const [row] = await rows(
    `select least(
         current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
           - coalesce(current_setting('reserved_connections', true), '0')::int,
         nullif((select rolconnlimit from pg_roles where rolname = current_user), -1),
         nullif((select datconnlimit from pg_database where datname = current_database()), -1)) as available,
       (select count(*) from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()
         and application_name is distinct from 'promptledger') as others`,
  )
  const { available, others } = row as { available: number; others: number }
  const worker = workerPoolSize(poolSize)
  const needed = poolSize + worker
  const message =
    `each process uses up to ${needed} (DATABASE_POOL_SIZE is ${poolSize}, and ${worker} for its worker process), ` +
    `the server allows ${available}, other clients use ${others}`
  const fix = `Raise max_connections (or the limit of the role or database), or lower DATABASE_POOL_SIZE: ${guide}`
  if (needed > available) return fail('connections', message, fix)
  if (needed > available - others) return warn('connections', message, fix)
  return ok('connections', `${message}: enough for ${Math.floor((available - others) / needed)} processes`)
}

async function checkDurability(rows: DatabaseReader['rows']): Promise<Finding> {
  const names = ['fsync', 'synchronous_commit']
  const [row = {}] = await rows(`select ${names.map((name) => `current_setting('${name}') as ${name}`).join(', ')}`)
  const off = names.filter((name) => row[name] === 'off')
  if (off.length === 0) return ok('durability', names.map((name) => `${name} = ${row[name]}`).join(', '))
  const message = `${off.map((name) => `${name} = off`).join(', ')}: acknowledged signals can be lost`
  return fail('durability', message, `Turn it on for the server, the database and the role: ${guide}`)
}

async function checkPartitions(rows: DatabaseReader['rows'], now: Instant): Promise<Finding> {
  const expected = [monthStart(now), nextMonthStart(now)].map(partitionName)
  const tables = await rows(
    `select c.relname as name, (i.inhparent is not null and not i.inhdetachpending)::int as attached
     from pg_class c left join pg_inherits i on i.inhrelid = c.oid and i.inhparent = 'signals'::regclass
     where c.relname in (${expected.map((name) => `'${name}'`).join(', ')}) and pg_table_is_visible(c.oid)`,
  )
  const detached = tables.find(({ attached }) => attached !== 1)
  if (detached !== undefined) {
    const message = `the table ${detached.name} is not a partition of signals, so signals of its month cannot be recorded`
    return fail('partitions', message, `Attach it (alter table signals attach partition …) or rename it: ${guide}`)
  }
  const missing = expected.filter((partition) => !tables.some(({ name }) => name === partition))
  if (missing.length === 0) return ok('partitions', `${expected.join(' and ')} exist`)
  const fix = 'The service creates partitions on start and with the first signal of a month. Check that it runs'
  return warn('partitions', `missing: ${missing.join(', ')}`, fix)
}

const citusGuide = 'docs/operations/citus.md'

/** The layout of a database on a server with Citus. */
async function checkDistribution(rows: DatabaseReader['rows']): Promise<Finding> {
  if (!(await isDistributed(rows))) {
    return ok('distribution', "the server has Citus, but the tables are not distributed ('promptledger distribute')")
  }
  const problems = await findLayoutProblems(rows)
  if (problems.length > 0) {
    const fix = `Run 'promptledger distribute', which completes it, or undo what was changed by hand: ${citusGuide}`
    return fail('distribution', problems.join(', '), fix)
  }
  const unreachable = await findUnreachableNodes(rows)
  if (unreachable.length > 0) {
    const message = `the coordinator cannot connect to ${unreachable.join(', ')}`
    return fail('distribution', message, `Start it, or promote its standby: ${citusGuide}`)
  }
  const remains = await findLocalRemains(rows)
  if (remains.length > 0) {
    const message = `the coordinator still has rows of before in ${remains.join(', ')}`
    return warn('distribution', message, "Run 'promptledger distribute' again, which removes them")
  }
  const [row] = await rows(
    `select count(*) as shards, count(distinct nodename || ':' || nodeport) as workers, max(count) as most, min(count) as least
     from (select nodename, nodeport, count(*) over (partition by nodename, nodeport) as count from citus_shards
       where table_name = 'signal_usage'::regclass) as placements`,
  )
  return ok('distribution', `${row?.shards} shards on ${row?.workers} workers, ${row?.least} to ${row?.most} on each`)
}
