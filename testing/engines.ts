import { randomUUID } from 'node:crypto'
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestOptions } from 'node:test'
import { openStore } from '../server/src/store/open.ts'
import { cloneCitusDatabase, dropCitusDatabase } from './citus.ts'
import { closeOnTestEnd } from './cleanup.ts'
import { queryRows } from './rows.ts'

export interface TestDatabase {
  url: string
  remove(): Promise<void>
}

export interface Engine {
  name: 'SQLite' | 'PostgreSQL'
  /** Creates a migrated database without rows: in a test run a copy of a template, which takes a fraction of migrating it. */
  create(): Promise<TestDatabase>
  /** Creates a database without tables, for tests about migrations and restored backups. Both are dropped with the test or suite. */
  createEmpty(): Promise<TestDatabase>
}

export const sqlite: Engine = {
  name: 'SQLite',
  create: () => {
    const template = process.env.TEST_SQLITE_TEMPLATE
    return template === undefined ? createMigrated(sqlite) : createFile((file) => copyFile(template, file))
  },
  // An empty file is an empty database. Only the service and `restore` create a missing one.
  createEmpty: () => createFile((file) => writeFile(file, '', { mode: 0o600 })),
}

/** For bench and faults, which have no templates. */
async function createMigrated(engine: Engine): Promise<TestDatabase> {
  const database = await engine.createEmpty()
  await migrateDatabase(database.url)
  return database
}

async function createFile(write: (file: string) => Promise<void>): Promise<TestDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'promptledger-test-'))
  const remove = closeOnTestEnd(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }))
  const file = join(folder, 'test.db')
  await write(file)
  return { url: `sqlite:${file}`, remove }
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
    const servers = citusUrls()
    if (servers !== undefined) return createDistributed(servers, newName())
    const template = process.env.TEST_POSTGRES_TEMPLATE
    return template === undefined ? createMigrated(postgres) : createPostgresDatabase(template)
  },
  createEmpty: () => {
    const servers = citusUrls()
    // A database is distributed at the newest version, so this is as empty as it gets.
    return servers === undefined ? createPostgresDatabase('template0') : createDistributed(servers, newName())
  },
}

const newName = () => `test_${randomUUID().replaceAll('-', '')}`

export async function createPostgresDatabase(template = process.env.TEST_POSTGRES_TEMPLATE): Promise<TestDatabase> {
  const name = newName()
  // Copying the files takes half the processor time of writing every page to the log.
  await queryRows(serverUrl(), `create database ${name} template ${template} strategy file_copy`)
  return { url: databaseUrl(name), remove: closeOnTestEnd(() => dropDatabase(name)) }
}

async function dropDatabase(name: string): Promise<void> {
  await queryRows(serverUrl(), `drop database ${name} with (force)`)
}

function databaseUrl(name: string): string {
  return Object.assign(new URL(serverUrl()), { pathname: `/${name}` }).href
}

/** `sqlite` runs without a PostgreSQL server, as `npm run test:fast` does. `all` runs every suite on both engines. */
const chosen = process.env.TEST_ENGINES

export const sqliteOnly = chosen === 'sqlite'

export const engines = [...(isCitus ? [] : [sqlite]), ...(sqliteOnly ? [] : [postgres])]

/** Declares a suite once for each engine, for what the engines do differently: statements, locks and leases. */
export function onEachEngine(subject: string, tests: (engine: Engine) => void, options: TestOptions = {}): void {
  declare(subject, engines, tests, options)
}

/** Declares a suite for what does not depend on the engine. The subject decides which one runs it, so that neither rots. */
export function onOneEngine(subject: string, tests: (engine: Engine) => void, options: TestOptions = {}): void {
  const number = [...subject].reduce((sum, character) => sum + character.charCodeAt(0), 0)
  const one = engines[number % engines.length] as Engine
  declare(subject, chosen === 'all' ? engines : [one], tests, options)
}

function declare(subject: string, on: Engine[], tests: (engine: Engine) => void, options: TestOptions): void {
  for (const engine of on) describe(`${subject}, on ${engine.name}`, options, () => tests(engine))
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

/** Creates the test databases of this process on another server, which has no template. */
export function createOn(server: { url: string }): void {
  process.env.TEST_DATABASE_URL = server.url
  delete process.env.TEST_POSTGRES_TEMPLATE
}
