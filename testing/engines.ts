import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'node:test'
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

const sqlite: Engine = {
  name: 'SQLite',
  async create() {
    const folder = await mkdtemp(join(tmpdir(), 'promptledger-test-'))
    return {
      url: `sqlite:${join(folder, 'test.db')}`,
      remove: () => rm(folder, { recursive: true, force: true }),
    }
  },
}

const postgres: Engine = {
  name: 'PostgreSQL',
  async create() {
    const name = `test_${randomUUID().replaceAll('-', '')}`
    await administer(`create database ${name}`)
    const url = new URL(serverUrl())
    url.pathname = `/${name}`
    return { url: url.href, remove: () => administer(`drop database ${name} with (force)`) }
  },
}

export const engines = [sqlite, postgres]

/** Every guarantee holds on both engines. */
export function onEachEngine(subject: string, tests: (engine: Engine) => void): void {
  for (const engine of engines) describe(`${subject}, on ${engine.name}`, () => tests(engine))
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
