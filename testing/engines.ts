import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestOptions } from 'node:test'
import pg from 'pg'
import { openStore } from '../server/src/store/open.ts'
import { cloneCitusDatabase, dropCitusDatabase } from './citus.ts'
import { closeOnTestEnd } from './cleanup.ts'

/** A new, empty database. */
export interface TestDatabase {
  url: string
  remove(): Promise<void>
}

export interface Engine {
  name: 'SQLite' | 'PostgreSQL'
  /** Creates a database that is dropped with the test or suite that created it. */
  create(): Promise<TestDatabase>
}

export const sqlite: Engine = {
  name: 'SQLite',
  async create() {
    const folder = await mkdtemp(join(tmpdir(), 'promptledger-test-'))
    const remove = closeOnTestEnd(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }))
    const file = join(folder, 'test.db')
    // An empty file is an empty database. Only the service and `restore` create a missing one.
    await writeFile(file, '', { mode: 0o600 })
    return { url: `sqlite:${file}`, remove }
  },
}

/** The database that the databases of `npm run test:citus` are copies of. */
export const citusTemplate = 'distributed_template'

/** The coordinator and the workers of `npm run test:citus`, where PostgreSQL is always distributed. */
const citusUrls = () => process.env.TEST_CITUS_URLS?.split(' ')

export const isCitus = citusUrls() !== undefined

/** The URLs of a test database on all servers that have parts of it. */
export function nodesOf(url: string): string[] {
  const servers = citusUrls()
  if (servers === undefined) return [url]
  return servers.map((server) => Object.assign(new URL(server), { pathname: new URL(url).pathname }).href)
}

async function createDistributed(urls: string[], name: string): Promise<TestDatabase> {
  const url = await cloneCitusDatabase(urls, citusTemplate, name)
  return { url, remove: closeOnTestEnd(() => dropCitusDatabase(urls, name)) }
}

/** Opening the store migrates it. */
export async function migrateDatabase(url: string): Promise<void> {
  const store = await openStore({ url, poolSize: 2, clock: Date.now, onLostConnection: () => {} })
  await store.close()
}

export const postgres: Engine = {
  name: 'PostgreSQL',
  async create() {
    const name = `test_${randomUUID().replaceAll('-', '')}`
    const servers = citusUrls()
    if (servers !== undefined) return createDistributed(servers, name)
    await administer(`create database ${name}`)
    const url = new URL(serverUrl())
    url.pathname = `/${name}`
    return { url: url.href, remove: closeOnTestEnd(() => administer(`drop database ${name} with (force)`)) }
  },
}

/** `npm run test:fast` sets this to run without a PostgreSQL server. */
const sqliteOnly = process.env.TEST_ENGINES === 'sqlite'

export const engines = [...(isCitus ? [] : [sqlite]), ...(sqliteOnly ? [] : [postgres])]

/** Declares a suite once for each engine: every guarantee holds on both. */
export function onEachEngine(subject: string, tests: (engine: Engine) => void, options: TestOptions = {}): void {
  for (const engine of engines) describe(`${subject}, on ${engine.name}`, options, () => tests(engine))
}

/** Declares a suite about behaviour that only PostgreSQL has. */
export function onPostgres(subject: string, tests: () => void): void {
  describe(`${subject}, on PostgreSQL`, { skip: sqliteOnly && 'the fast tier has no PostgreSQL' }, tests)
}

/** The PostgreSQL server that test databases are created on. */
export function serverUrl(): string {
  const url = process.env.TEST_DATABASE_URL
  if (url === undefined) throw new Error('TEST_DATABASE_URL is not set: run the tests with npm test')
  return url
}

async function administer(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl() })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
