import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe } from 'node:test'
import pg from 'pg'

/** A new, empty database. */
export interface TestDatabase {
  url: string
  remove(): Promise<void>
}

export interface Engine {
  name: 'SQLite' | 'PostgreSQL'
  create(): Promise<TestDatabase>
}

// A test that fails half-way must not leave its databases behind, so each file removes all that it created.
const created = new Set<TestDatabase>()
// Outside the test runner (bench, faults) `after` would start a test report of its own.
if (process.env.NODE_TEST_CONTEXT !== undefined) {
  after(async () => {
    for (const database of created) await database.remove()
  })
}

function tracked(url: string, drop: () => Promise<void>): TestDatabase {
  const database = {
    url,
    async remove() {
      if (created.delete(database)) await drop()
    },
  }
  created.add(database)
  return database
}

export const sqlite: Engine = {
  name: 'SQLite',
  async create() {
    const folder = await mkdtemp(join(tmpdir(), 'promptledger-test-'))
    return tracked(`sqlite:${join(folder, 'test.db')}`, () => rm(folder, { recursive: true, force: true }))
  },
}

export const postgres: Engine = {
  name: 'PostgreSQL',
  async create() {
    const name = `test_${randomUUID().replaceAll('-', '')}`
    await administer(`create database ${name}`)
    const url = new URL(serverUrl())
    url.pathname = `/${name}`
    return tracked(url.href, () => administer(`drop database ${name} with (force)`))
  },
}

/** `npm run test:fast` sets this: SQLite only, no server to start. */
const sqliteOnly = process.env.TEST_ENGINES === 'sqlite'

export const engines = sqliteOnly ? [sqlite] : [sqlite, postgres]

/** Every guarantee holds on both engines. */
export function onEachEngine(subject: string, tests: (engine: Engine) => void): void {
  for (const engine of engines) describe(`${subject}, on ${engine.name}`, () => tests(engine))
}

/** For what only PostgreSQL can do, or get wrong. */
export function onPostgres(subject: string, tests: () => void): void {
  describe(`${subject}, on PostgreSQL`, { skip: sqliteOnly && 'the fast tier has no PostgreSQL' }, tests)
}

export function serverUrl(): string {
  const url = process.env.TEST_DATABASE_URL
  if (url === undefined) throw new Error('TEST_DATABASE_URL is not set: run the tests with npm test')
  return url
}

async function administer(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl() })
  await client.connect()
  await client.query(sql)
  await client.end()
}
