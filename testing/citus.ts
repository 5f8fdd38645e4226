import { existsSync, globSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { onTestEnd } from './cleanup.ts'
import { type PostgresServer, startPostgres } from './postgres.ts'

/** A coordinator, which is the first, and its workers, all on this machine. */
export interface CitusCluster {
  servers: PostgresServer[]
  stop(): Promise<void>
}

const settings = [
  'shared_preload_libraries=citus',
  'citus.node_conninfo=sslmode=disable',
  'max_worker_processes=64',
  'max_prepared_transactions=200',
  'max_connections=400',
].flatMap((setting) => ['-c', setting])

/** The folder of PostgreSQL's programs with Citus beside them: `CITUS_PG_BIN`, or where docs/operations/citus.md builds it. */
export function findCitus(): string | null {
  const folder = process.env.CITUS_PG_BIN || globSync('/opt/citus/usr/lib/postgresql/*/bin').at(-1)
  return folder !== undefined && existsSync(join(folder, 'postgres')) ? folder : null
}

export function citusPrograms(): string {
  const folder = findCitus()
  if (folder !== null) return folder
  throw new Error(
    'There is no PostgreSQL with Citus in CITUS_PG_BIN or /opt/citus. ' +
      '`scripts/build-citus.sh https://github.com/citusdata/citus /opt/citus` builds it in two minutes',
  )
}

export async function startCitus(workers = 2, extra: string[] = []): Promise<CitusCluster> {
  const programs = citusPrograms()
  const servers: PostgresServer[] = []
  const stop = async () => {
    await Promise.all(servers.map((server) => server.stop()))
  }
  onTestEnd(stop)
  for (let i = 0; i <= workers; i++) servers.push(await startPostgres([...settings, ...extra], programs))
  return { servers, stop }
}

/** Creates a database on all servers, and makes them nodes of one cluster for it. Returns its URL on the coordinator. */
export async function createCitusDatabase(urls: string[], name: string): Promise<string> {
  for (const url of urls) await runSql(url, [`create database ${name}`])
  const databases = urls.map((url) => databaseUrl(url, name))
  for (const url of databases) await runSql(url, ['create extension citus'])
  const [coordinator, ...workers] = databases as [string, ...string[]]
  const place = (url: string) => `'${new URL(url).hostname}', ${new URL(url).port}`
  await runSql(coordinator, [
    `select citus_set_coordinator_host(${place(coordinator)})`,
    ...workers.map((url) => `select citus_add_node(${place(url)})`),
  ])
  return coordinator
}

/** Copies a database on all servers. Much faster than distributing a new one. */
export async function cloneCitusDatabase(urls: string[], template: string, name: string): Promise<string> {
  await Promise.all(urls.map((url) => runSql(url, [`create database ${name} template ${template}`])))
  return databaseUrl(urls[0] as string, name)
}

/** Ends all connections to a database and allows no others, which `create database … template` requires. */
export async function freezeDatabase(urls: string[], name: string): Promise<void> {
  for (const url of urls) {
    await runSql(url, [
      `alter database ${name} allow_connections false`,
      `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '${name}'`,
    ])
  }
}

export async function dropCitusDatabase(urls: string[], name: string): Promise<void> {
  for (const url of urls) await runSql(url, [`drop database if exists ${name} with (force)`])
}

function databaseUrl(server: string, name: string): string {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

export async function runSql(url: string, statements: string[]): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    let rows: Record<string, unknown>[] = []
    for (const sql of statements) rows = (await client.query(sql)).rows
    return rows
  } finally {
    await client.end()
  }
}
