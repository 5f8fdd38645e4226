import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before } from 'node:test'
import { runCli } from '../../../testing/cli.ts'
import { type Engine, engines, type TestDatabase } from '../../../testing/engines.ts'
import { type FilledDatabase, fillDatabase } from '../../../testing/filled-database.ts'
import { TestService } from '../../../testing/service.ts'

export interface TableSum {
  table: string
  rows: number
  checksum: string
}

export interface Printed {
  file: string
  bytes: number
  seconds: number
  tables: TableSum[]
  organisation_id?: number
  moved?: Record<string, number>
}

export interface Source {
  engine: Engine
  service: TestService
  filled: FilledDatabase
  /** A backup of the whole database, and the output of the command that wrote it. */
  file: string
  made: Printed
  /** An export of one organisation. */
  exported: string
}

export let folder = ''
const sources = new Map<string, Source>()
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'promptledger-archive-'))
  for (const engine of engines) sources.set(engine.name, await newSource(engine))
})
after(async () => {
  for (const { service } of sources.values()) await service.close()
  await rm(folder, { recursive: true, force: true })
})

export async function newSource(engine: Engine): Promise<Source> {
  const service = new TestService()
  await service.open(engine)
  const filled = await fillDatabase(service)
  const [file, exported] = [newFile(), newFile()]
  const env = settings(service.url, service.secretKey)
  const org = String(filled.tenant.organisation.id)
  // One after the other: the audit log has an entry for the export, which the backup includes.
  await json(env, ['export', '--org', org, exported])
  const made = await json(env, ['backup', file])
  return { engine, service, filled, file, made, exported }
}

export const sourceOn = ({ name }: Engine) => sources.get(name) as Source

export const newFile = () => join(folder, `${randomBytes(6).toString('hex')}.gz`)

export async function newDatabase(engine: Engine): Promise<TestDatabase> {
  const database = await engine.create()
  after(() => database.remove())
  return database
}

/** The service on an existing database, with the clock and the secret key of another service. */
export async function serviceOn(engine: Engine, database: TestDatabase, like: TestService): Promise<TestService> {
  const service = new TestService()
  service.now = like.now
  service.secretKey = like.secretKey
  await service.open({ ...engine, create: async () => ({ ...database, remove: async () => {} }) })
  after(() => service.close())
  return service
}

export function settings(url: string, secretKey: Buffer | null): NodeJS.ProcessEnv {
  // The repositories of the tests are folders on this machine.
  const local = { ALLOW: 'local-repositories' }
  return { DATABASE_URL: url, ...local, ...(secretKey && { PROMPTLEDGER_SECRET_KEY: secretKey.toString('hex') }) }
}

export async function json(env: NodeJS.ProcessEnv, args: string[]): Promise<Printed> {
  const { code, stdout, stderr } = await runCli(env, [...args, '--json'])
  assert.equal(code, 0, stderr)
  assert.equal(stderr, '')
  return JSON.parse(stdout)
}

export async function assertRejected(env: NodeJS.ProcessEnv, args: string[], message: RegExp): Promise<void> {
  const { code, stdout, stderr } = await runCli(env, args)
  assert.equal(code, 1, stdout)
  assert.equal(stdout, '')
  assert.match(stderr, message)
  assert.match(stderr, /^promptledger: [^\n]+\n$/)
}

export function webhook({ headers, body }: { headers: Record<string, string>; body: Buffer }) {
  return { headers: { 'content-type': 'application/json', ...headers }, payload: body }
}
