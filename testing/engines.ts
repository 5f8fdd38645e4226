import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestOptions } from 'node:test'
import pg from 'pg'
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
    return { url: `sqlite:${join(folder, 'test.db')}`, remove }
  },
}

export const postgres: Engine = {
  name: 'PostgreSQL',
  async create() {
    const name = `test_${randomUUID().replaceAll('-', '')}`
    await administer(`create database ${name}`)
    const url = new URL(serverUrl())
    url.pathname = `/${name}`
    return { url: url.href, remove: closeOnTestEnd(() => administer(`drop database ${name} with (force)`)) }
  },
}

/** `npm run test:fast` sets this to run without a PostgreSQL server. */
const sqliteOnly = process.env.TEST_ENGINES === 'sqlite'

export const engines = sqliteOnly ? [sqlite] : [sqlite, postgres]

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
