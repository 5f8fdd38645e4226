import pg from 'pg'
import { type Instant, monthStart, nextMonthStart } from '../domain/time.ts'
import { getTypeParser, oldestServer } from '../store/postgres/database.ts'
import { partitionOf } from '../store/postgres/months.ts'
import type { Row } from '../store/sql/database.ts'
import type { Reading } from './database.ts'
import { type Finding, looked, ok, reasonOf, warning, wrong } from './finding.ts'

const documents = 'docs/operations/postgres.md'

export async function readPostgres(url: string, poolSize: number, now: () => Instant): Promise<Reading> {
  const { host, pathname } = new URL(url)
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 5_000,
    // Counting may take long; waiting for somebody's lock may not, since others would queue behind us.
    lock_timeout: 2_000,
    keepAlive: true,
    application_name: 'promptledger doctor',
    types: { getTypeParser },
  })
  client.on('error', () => {})
  try {
    await client.connect()
  } catch (error) {
    await client.end().catch(() => {})
    // The address without its user, password and options.
    throw new Error(`${host}${pathname}: ${reasonOf(error)}`)
  }
  const rows = async (sql: string): Promise<Row[]> => (await client.query(sql)).rows

  return {
    engine: 'postgres',
    rows,
    async snapshot(work) {
      await client.query('begin isolation level repeatable read read only')
      try {
        return await work()
      } finally {
        await client.query('rollback')
      }
    },
    monthOf: (column) =>
      `(extract(epoch from date_trunc('month', to_timestamp(${column} / 1000) at time zone 'UTC')) * 1000)::bigint`,
    async findings(current) {
      return [
        await looked('database', () => server(rows, `${host}${pathname}`)),
        await looked('rights', () => rights(rows)),
        await looked('connections', () => connections(rows, poolSize)),
        await looked('durability', () => durability(rows)),
        ...(current ? [await looked('months', () => months(rows, now()))] : []),
      ]
    },
    async clock() {
      const [row] = await rows('select (extract(epoch from clock_timestamp()) * 1000)::bigint as now')
      return row?.now as number
    },
    async close() {
      await client.end()
    },
  }
}

async function server(rows: Reading['rows'], place: string): Promise<Finding> {
  const [row] = await rows(
    `select current_setting('server_version_num')::int as number, current_setting('server_version') as version,
       pg_size_pretty(pg_database_size(current_database())) as size`,
  )
  const found = `PostgreSQL ${row?.version}, ${place}, ${row?.size}`
  if ((row?.number as number) >= oldestServer) return ok('database', found)
  return wrong('database', found, 'Update PostgreSQL to 15 or newer')
}

const ours = `(c.relname in ('organisations', 'api_keys', 'sessions', 'prompts', 'history_entries', 'signals',
  'idempotency_keys', 'signal_usage', 'signal_hours', 'repositories', 'deliveries', 'pulls', 'edits', 'audit',
  'signal_retention', 'readiness', 'schema_migrations', 'change_counter') or c.relname ~ '^signals_\\d{4}_\\d{2}$')`

async function rights(rows: Reading['rows']): Promise<Finding> {
  const [row] = await rows(
    `select quote_ident(current_user) as role, quote_ident(current_schema()) as schema, pg_is_in_recovery()::int as standby,
       has_schema_privilege(current_schema(), 'create')::int as makes,
       has_database_privilege(current_database(), 'temporary')::int as stages,
       (select string_agg(c.relname, ', ') from pg_class c where c.relkind in ('r', 'p') and pg_table_is_visible(c.oid)
         and ${ours} and not (pg_has_role(c.relowner, 'usage') and has_table_privilege(c.oid, 'select')
         and has_table_privilege(c.oid, 'insert') and has_table_privilege(c.oid, 'update')
         and has_table_privilege(c.oid, 'delete'))) as foreign`,
  )
  const { role, schema, standby, makes, stages, foreign } = row as Row
  if (standby === 1)
    return wrong('rights', 'this is a standby, which takes no writes', 'Set DATABASE_URL to the primary')
  const missing = [
    makes === 1 ? [] : `create on schema ${schema}`,
    stages === 1 ? [] : 'temporary on the database',
    foreign === null ? [] : `ownership of ${foreign}`,
  ].flat()
  if (missing.length === 0) return ok('rights', `${role} may do all that is needed in schema ${schema}`)
  return wrong('rights', `${role} lacks ${missing.join(', ')}`, `Grant it, or alter the tables' owner: ${documents}`)
}

async function connections(rows: Reading['rows'], poolSize: number): Promise<Finding> {
  const [row] = await rows(
    `select least(
         current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
           - coalesce(current_setting('reserved_connections', true), '0')::int,
         nullif((select rolconnlimit from pg_roles where rolname = current_user), -1),
         nullif((select datconnlimit from pg_database where datname = current_database()), -1)) as room,
       (select count(*) from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()
         and application_name is distinct from 'promptledger') as others`,
  )
  const { room, others } = row as { room: number; others: number }
  const found = `DATABASE_POOL_SIZE is ${poolSize} for each process, the server lets us have ${room}, others hold ${others}`
  const todo = `Raise max_connections (or the role's or database's limit), or lower DATABASE_POOL_SIZE: ${documents}`
  if (poolSize > room) return wrong('connections', found, todo)
  if (poolSize > room - others) return warning('connections', found, todo)
  return ok('connections', `${found}: enough for ${Math.floor((room - others) / poolSize)} processes`)
}

async function durability(rows: Reading['rows']): Promise<Finding> {
  const names = ['fsync', 'synchronous_commit']
  const [row = {}] = await rows(`select ${names.map((name) => `current_setting('${name}') as ${name}`).join(', ')}`)
  const off = names.filter((name) => row[name] === 'off')
  if (off.length === 0) return ok('durability', names.map((name) => `${name} = ${row[name]}`).join(', '))
  const found = `${off.join(' and ')} off: signals that were acknowledged can be lost`
  return wrong('durability', found, `Switch it on for the server, the database and the role: ${documents}`)
}

async function months(rows: Reading['rows'], now: Instant): Promise<Finding> {
  const wanted = [monthStart(now), nextMonthStart(now)].map(partitionOf)
  const there = await rows(
    `select c.relname as name, (i.inhparent is not null and not i.inhdetachpending)::int as attached
     from pg_class c left join pg_inherits i on i.inhrelid = c.oid and i.inhparent = 'signals'::regclass
     where c.relname in (${wanted.map((name) => `'${name}'`).join(', ')}) and pg_table_is_visible(c.oid)`,
  )
  const apart = there.find(({ attached }) => attached !== 1)
  if (apart !== undefined) {
    const found = `the table ${apart.name} is no partition of signals, so that its month cannot be recorded`
    return wrong('months', found, `Attach it (alter table signals attach partition …), or rename it: ${documents}`)
  }
  const missing = wanted.filter((wantedName) => !there.some(({ name }) => name === wantedName))
  if (missing.length === 0) return ok('months', `${wanted.join(' and ')} are there`)
  const todo = 'The service makes them when it starts and with the first signal of a month: see that it runs'
  return warning('months', `there is no ${missing.join(' and no ')} yet`, todo)
}
