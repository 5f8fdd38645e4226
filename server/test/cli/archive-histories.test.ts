import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { onTestEnd } from '../../../testing/cleanup.ts'
import { type Engine, engines, type TestDatabase } from '../../../testing/engines.ts'
import { archivedRows } from '../../../testing/filled-database.ts'
import { type Random, seededRandom } from '../../../testing/random.ts'
import { queryRows } from '../../../testing/rows.ts'
import { openTestStore, TestService } from '../../../testing/service.ts'
import { assertSumsAgree } from '../../../testing/signal-sums.ts'
import { inBatches, noDetails } from '../../../testing/signals.ts'
import { backUp, exportOrganisation } from '../../src/archive/backup.ts'
import { checkBackup, importOrganisation } from '../../src/archive/restore.ts'
import { readConfig } from '../../src/config.ts'
import { operator } from '../../src/domain/access/audit.ts'
import type { Organisation } from '../../src/domain/access/organisation.ts'
import { plans } from '../../src/domain/access/plan.ts'
import { removeOldSignals } from '../../src/domain/signals/retention.ts'
import type { NewSignal } from '../../src/domain/signals/signal.ts'
import { day, hour, isoTime } from '../../src/domain/time.ts'
import { asImported, onlyOf, withoutImportEntry } from './archived-rows.ts'

// Each direction twice.
const rounds = 4
const operationsPerRound = 36

/** An organisation with a few prompts, on a service that moves from database to database. */
interface World {
  service: TestService
  random: Random
  organisation: Organisation
  key: string
}

const noProgress = () => () => {}
const pick = <T>(random: Random, items: readonly T[]): T => items[Math.floor(random() * items.length)] as T
const subjects = ['a', 'b', 'c', 'd', 'ü😀']
const versions = ['abcdef1', 'abcdef2', null]
const texts = ['plain', 'Grüße 😀\u2028', "it's; -- \\ {}[]", 'two\nlines']

async function send(
  { service, key }: World,
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE',
  path: string,
  payload?: object,
  headers = {},
) {
  const authorization = `Bearer ${key}`
  const url = `/api/v1${path}`
  const response = await service.app.inject({
    method,
    url,
    headers: { authorization, ...headers },
    ...(payload && { payload }),
  })
  assert.ok(response.statusCode < 500, `${method} ${path}: ${response.body}`)
  return response
}

async function prompts(world: World): Promise<{ id: string; name: string }[]> {
  return (await send(world, 'GET', '/prompts')).json().data
}

const aPrompt = async (world: World) => pick(world.random, await prompts(world)).id

async function aSignal(world: World, prompt: string): Promise<number> {
  const { data } = (await send(world, 'GET', `/prompts/${prompt}/signals?limit=50`)).json()
  return data.length === 0 ? 0 : pick(world.random, data as { id: number }[]).id
}

function aVote({ random, service }: World) {
  return {
    value: pick(random, ['positive', 'negative']),
    ...(random() < 0.5 && { metadata: { text: pick(random, texts), n: 12_345 } }),
    ...(random() < 0.7 && { subject: pick(random, subjects) }),
    ...(random() < 0.5 && { voter: pick(random, subjects) }),
    ...(random() < 0.5 && { version: pick(random, versions) }),
    ...(random() < 0.3 && { comment: pick(random, texts) }),
    ...(random() < 0.5 && { occurred_at: isoTime(service.now - Math.floor(random() * 20 * day)) }),
  }
}

/** Everything that changes the database. Each returns its status, or undefined if it cannot be rejected. */
const operations: Record<string, (world: World) => Promise<number | undefined>> = {
  async 'record a signal'(world) {
    const key = pick(world.random, ['k1', 'k2', 'k3', 'k4', null])
    const path = `/prompts/${await aPrompt(world)}/signals`
    return (await send(world, 'POST', path, aVote(world), key === null ? {} : { 'idempotency-key': key })).statusCode
  },
  async 'withdraw a vote'(world) {
    const path = `/prompts/${await aPrompt(world)}/signals`
    return (await send(world, 'POST', path, { value: null, subject: pick(world.random, subjects) })).statusCode
  },
  async 'record a batch'(world) {
    const all = await prompts(world)
    const signals = Array.from({ length: 10 }, () => ({ prompt: pick(world.random, all).id, ...aVote(world) }))
    return (await send(world, 'POST', '/signals', { signals })).statusCode
  },
  async 'import signals'({ service, random, organisation }) {
    const prompt = pick(random, await service.store.prompts.list(organisation.id))
    const signals = Array.from({ length: 5 + Math.floor(random() * 20) }, (): NewSignal => {
      const subject = random() < 0.7 ? pick(random, subjects) : null
      const details = { ...noDetails, subject, version: pick(random, versions), comment: pick(random, texts) }
      const createdAt = service.now - Math.floor(random() * 40 * day)
      const owner = { organisationId: organisation.id, promptId: prompt.id }
      return { ...owner, value: pick(random, ['positive', 'negative']), metadata: null, createdAt, details }
    })
    await service.store.signals.import(inBatches(signals), { prompt, at: service.now, by: operator })
    return undefined
  },
  async 'delete a signal'(world) {
    const prompt = await aPrompt(world)
    return (await send(world, 'DELETE', `/prompts/${prompt}/signals/${await aSignal(world, prompt)}`)).statusCode
  },
  async 'erase signals'(world) {
    const { random } = world
    const filter = pick(random, [{ voter: 'a' }, { subject: 'b' }, { metadata: { text: 'plain' } }])
    return (await send(world, 'POST', '/signals/erase', filter)).statusCode
  },
  async 'remove old signals'({ service, random }) {
    await removeOldSignals(service.store.signals, 10 + random() * 20, service.now)
    return undefined
  },
  async 'let time pass'({ service, random }) {
    service.now += Math.floor(random() * 2 * day)
    return undefined
  },
  async 'create a prompt'(world) {
    const name = `prompts/${Math.floor(world.random() * 1e6)}.md`
    return (await send(world, 'POST', '/prompts', { name })).statusCode
  },
  async 'rename a prompt'(world) {
    const name = `${pick(world.random, ['Grüße 😀', "it's", 'plain'])}-${Math.floor(world.random() * 10)}`
    return (await send(world, 'PATCH', `/prompts/${await aPrompt(world)}`, { name })).statusCode
  },
  async 'delete a prompt'(world) {
    const all = await prompts(world)
    return all.length < 3 ? 422 : (await send(world, 'DELETE', `/prompts/${all[0]?.id}`)).statusCode
  },
  async 'record an entry'(world) {
    const { random, service } = world
    const entry = {
      action: pick(random, ['deployed', 'pr_opened', 'pr_merged', 'pr_closed']),
      user: { name: pick(random, ['Ada', 'Zoë 😀']), email: 'ada@example.com' },
      commit_sha: String(Math.floor(random() * 9)).repeat(40),
      pr_number: 7,
      pr_url: 'https://example.com/7',
      branch_name: 'main',
      created_at: isoTime(service.now - Math.floor(random() * 20 * day)),
    }
    return (await send(world, 'POST', `/prompts/${await aPrompt(world)}/history`, entry)).statusCode
  },
  async 'record a deployment'(world) {
    const { random, service } = world
    const deployment = {
      environment: pick(random, ['production', 'staging']),
      state: 'success',
      commit_sha: String(Math.floor(random() * 9)).repeat(40),
      at: isoTime(service.now - Math.floor(random() * 20 * day)),
    }
    return (await send(world, 'POST', `/prompts/${await aPrompt(world)}/deployments`, deployment)).statusCode
  },
  async 'declare segments'(world) {
    const path = pick(world.random, ['', `/prompts/${await aPrompt(world)}`])
    return (await send(world, 'PUT', `${path}/segments`, { keys: ['text'] })).statusCode
  },
  async 'create a key'(world) {
    const role = pick(world.random, ['ingest', 'reader', 'signing'])
    return (await send(world, 'POST', '/keys', { name: pick(world.random, ['ci', 'Schlüssel']), role })).statusCode
  },
  async 'rotate or revoke a key'(world) {
    const { data } = (await send(world, 'GET', '/keys')).json()
    const other = (data as { id: number; name: string }[]).find(({ name }) => name !== 'test')
    if (other === undefined) return 404
    const { random } = world
    const [method, path] = random() < 0.5 ? (['POST', '/rotate'] as const) : (['DELETE', ''] as const)
    return (await send(world, method, `/keys/${other.id}${path}`, method === 'POST' ? {} : undefined)).statusCode
  },
  async 'change the plan'({ service, organisation, random }) {
    await service.store.organisations.setPlan(organisation.id, pick(random, plans), service.now, operator)
    return undefined
  },
  async 'rename the organisation'(world) {
    return (await send(world, 'PATCH', '/organisation', { name: pick(world.random, ['Acme', 'Größe']) })).statusCode
  },
  async 'add or remove an alert'(world) {
    const { data } = (await send(world, 'GET', '/alerts')).json()
    if (data.length > 1) return (await send(world, 'DELETE', `/alerts/${data[0].id}`)).statusCode
    const alert = { name: 'On call', channel: 'webhook', target: 'https://hooks.example/a' }
    return (await send(world, 'POST', '/alerts', alert)).statusCode
  },
  /** Opens a regression, and the notice about it. */
  async 'make a prompt worse'(world) {
    const { service, random, organisation } = world
    const [prompt] = await service.store.prompts.list(organisation.id)
    assert.ok(prompt)
    const changedAt = service.now - 5 * day
    const votes = (from: number, count: number, rate: number) =>
      Array.from({ length: count }, (_, i): NewSignal => {
        const createdAt = from + i * Math.floor((5 * day) / count)
        const value = random() < rate ? 'positive' : 'negative'
        return { organisationId: organisation.id, promptId: prompt.id, value, metadata: null, createdAt }
      })
    const entry = { action: 'deployed', user: { name: 'Ada', email: 'ada@example.com' }, commit_sha: 'b'.repeat(40) }
    const created_at = isoTime(changedAt)
    const path = `/prompts/${prompt.publicId}/history`
    await send(world, 'POST', path, { ...entry, pr_number: null, pr_url: null, branch_name: 'main', created_at })
    const before = votes(changedAt - 5 * day, 300, 0.95)
    await service.store.signals.import(inBatches(before, votes(changedAt + hour, 300, 0.3)))
    await service.judge.round()
    return undefined
  },
  async 'dismiss a regression'(world) {
    const { data } = (await send(world, 'GET', '/regressions?state=open')).json()
    if (data.length === 0) return 404
    const [{ id, prompt }] = data
    const path = `/prompts/${prompt.id}/regressions/${id}/dismiss`
    return (await send(world, 'POST', path, { note: pick(world.random, texts) })).statusCode
  },
}

async function serviceOn(database: TestDatabase, like: TestService): Promise<TestService> {
  const service = new TestService()
  service.now = like.now
  service.secretKey = like.secretKey
  await service.open({ create: async () => database })
  return service
}

/** What was stored is judged by the service that starts on it. */
async function assertQueued(url: string): Promise<void> {
  const pairs = (table: string) => `select distinct organisation_id, prompt_id from ${table} order by prompt_id`
  const [queued, voted] = [await queryRows(url, pairs('judge_queue')), await queryRows(url, pairs('signal_hours'))]
  assert.ok(voted.length > 0)
  assert.deepEqual(queued, voted)
}

/** An empty database on the other engine, or on this one if there is no other. */
function otherThan(engine: Engine): Engine {
  return engines.find(({ name }) => name !== engine.name) ?? engine
}

describe('An archive of any history', () => {
  test('a backup restores and an export imports into the other engine, row for row, and the service continues there', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'promptledger-histories-'))
    onTestEnd(() => rm(folder, { recursive: true, force: true }))
    let engine = engines[0] as Engine
    let service = new TestService()
    await service.open(engine)
    const tenant = await service.tenant('business', 'admin')
    await service.prompt(tenant.organisation, 'prompts/b.md')
    // Its rows have to be left alone, and its IDs make those of the other organisation start later.
    await (await service.tenant()).signal({ value: 'positive' })
    const world = { service, random: seededRandom(32), organisation: tenant.organisation, key: tenant.key }
    const done = new Set<string>()
    for (let round = 0; round < rounds; round++) {
      const history: string[] = []
      for (let i = 0; i < operationsPerRound; i++) {
        const name = pick(world.random, Object.keys(operations))
        history.push(name)
        const status = await operations[name]?.(world)
        if (status === undefined || status < 300) done.add(name)
        // Writing it checks all that storing it would.
        await backUp(service.store, join(folder, 'any.gz'), { force: true }, noProgress).catch((cause) => {
          throw new Error(`round ${round} on ${engine.name}, after ${history.join(', ')}`, { cause })
        })
      }
      const { organisation } = world
      const target = otherThan(engine)
      const [file, exported] = [join(folder, `${round}.gz`), join(folder, `${round}.org.gz`)]
      const config = (url: string) =>
        readConfig({
          DATABASE_URL: url,
          DATA_DIR: folder,
          PROMPTLEDGER_SECRET_KEY: service.secretKey.toString('hex'),
        })
      const secrets = { oldKey: null, leaveUnreadable: false }
      try {
        await exportOrganisation(service.store, organisation, exported, {}, noProgress)
        await backUp(service.store, file, {}, noProgress)
        const expected = await archivedRows(service.url)

        const copy = await target.create()
        const alone = await openTestStore(copy.url)
        await importOrganisation(alone, config(copy.url), exported, { ...secrets, plan: null }, noProgress)
        await alone.close()
        const [here, there] = [expected, await archivedRows(copy.url)].map((rows) =>
          withoutImportEntry(asImported(onlyOf(rows, organisation.id))),
        )
        assert.deepEqual(there, here)

        const database = await target.create()
        const store = await openTestStore(database.url)
        const { storeIn } = await checkBackup(config(database.url), file, secrets, noProgress)
        await storeIn(store)
        await store.close()
        assert.deepEqual(await archivedRows(database.url), expected)
        const moved = await serviceOn(database, service)
        await service.close()
        service = moved
        world.service = moved
        engine = target
        await assertSumsAgree(service.url)
        await assertQueued(copy.url)
        await assertQueued(service.url)
        await service.judge.round()
        assert.deepEqual(await queryRows(service.url, 'select * from judge_queue'), [])
      } catch (error) {
        throw new Error(`round ${round} on ${engine.name}, after ${history.join(', ')}`, { cause: error })
      }
    }
    assert.deepEqual(
      Object.keys(operations).filter((name) => !done.has(name)),
      [],
      'operations that had no effect',
    )
  })
})
