import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { cpSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import pino from 'pino'
import { childrenOf } from '../../../testing/child-processes.ts'
import { type Engine, onEachEngine } from '../../../testing/engines.ts'
import { type BusyRepository, busyRepository, type ForgeEvent } from '../../../testing/forge-events.ts'
import { writeRef } from '../../../testing/git-checkout.ts'
import { deliveriesFrom } from '../../../testing/payloads/deliveries.ts'
import type { Delivery } from '../../../testing/payloads/facts.ts'
import { type RunningProcess, startServe } from '../../../testing/processes.ts'
import { queryRows } from '../../../testing/rows.ts'
import { openTestStore } from '../../../testing/service.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { newOrganisation } from '../../src/domain/access/organisation.ts'
import { createVault } from '../../src/domain/repositories/vault.ts'
import { connectRepository } from '../../src/follow/connect.ts'
import type { SyncContext } from '../../src/follow/sync-context.ts'
import { syncWithLease } from '../../src/follow/worker.ts'

// How often the service is killed. The full run kills it 50 times while 500 deliveries arrive, which takes minutes:
// PROMPTLEDGER_CRASHES=50 npx node --test --test-global-setup=testing/setup.ts server/test/process/crash.test.ts
const crashes = Number(process.env.PROMPTLEDGER_CRASHES ?? 4)
const allDoneTimeoutMs = 120_000
// Several repositories, because one whose worker was killed rests until its lease expires.
const repositoryCount = crashes < 50 ? 3 : 25

const kinds: BusyRepository[] = []
before(() => {
  for (const way of ['merge', 'squash', 'rebase'] as const) kinds.push(busyRepository(way))
})
after(() => {
  for (const { git } of kinds) git.remove()
})

// On the first engine. The history is the same on the other.
let undisturbedOutcome: ReturnType<typeof outcome> | undefined

// Slow: kills the service again and again, on each engine.
onEachEngine('A killed service', (engine) => {
  test('deliveries received between repeated kills produce the same history as an undisturbed run', async () => {
    undisturbedOutcome ??= outcome(engine, 0)
    const [undisturbed, disturbed] = await Promise.all([undisturbedOutcome, outcome(engine, crashes)])
    assert.equal(new Set(undisturbed.entries.map(({ action }) => action)).size, 4)
    assert.deepEqual(disturbed.entries, undisturbed.entries)
    for (const { states, numbering } of [undisturbed, disturbed]) {
      assert.deepEqual(states, { done: repositoryCount * 18, ignored: repositoryCount * 2 })
      assert.deepEqual(numbering, [])
    }
  })
})

/** Replays all events on copies of the repositories against a service that is killed `crashes` times, and returns the result. */
async function outcome(engine: Engine, crashes: number) {
  const database = await engine.create()
  const folder = await mkdtemp(join(tmpdir(), 'promptledger-crash-'))
  const key = randomBytes(32)
  const sendings = await connectAll(database.url, folder, key)
  const settings = {
    DATABASE_URL: database.url,
    // A new folder, so that mirrors are cloned again and some kills hit a clone.
    DATA_DIR: join(folder, 'data'),
    PROMPTLEDGER_SECRET_KEY: key.toString('hex'),
    LOG_LEVEL: 'silent',
  }
  let waiting = sendings
  for (let crash = 0; crash < crashes; crash++) {
    const service = await startServe(settings)
    const sent = waiting.splice(0, Math.ceil(sendings.length / (crashes + 1)))
    const unacknowledged = deliver(service, sent)
    await pause(50 + ((crash * 317) % 1_300))
    await crashWith(service, crash % 2 === 1)
    waiting = [...(await unacknowledged), ...waiting]
  }
  const service = await startServe(settings)
  assert.deepEqual(await deliver(service, waiting), [])
  await allDone(database.url)
  assert.equal(await service.stop(), 0)
  const found = {
    entries: await entriesOf(database.url),
    states: await statesOf(database.url),
    numbering: await queryRows(database.url, wrongNumbers),
  }
  await database.remove()
  await rm(folder, { recursive: true, force: true })
  return found
}

/** A delivery to send, and the refs as they are on the remote at that moment. */
interface Sending {
  remote: string
  refs: ForgeEvent['refs']
  path: string
  delivery: Delivery
}

/** Connects copies of the repositories and returns all deliveries, interleaved across repositories. */
async function connectAll(url: string, folder: string, key: Buffer): Promise<Sending[]> {
  const store = await openTestStore(url)
  const follow: SyncContext = {
    store,
    vault: createVault(key),
    clock: Date.now,
    log: pino({ level: 'silent' }),
    dataDir: join(folder, 'connecting'),
    allowLocal: true,
    allowRedirects: false,
    sizeLimit: 100_000_000,
    limits: { concurrentSyncs: 4, repositories: 100, inboxBytes: 100_000_000 },
  }
  const { id: organisationId } = await store.organisations.create(newOrganisation('Acme', 'free', Date.now()))
  const sendings = await Promise.all(
    Array.from({ length: repositoryCount }, async (_, i) => {
      const { git, events } = kinds[i % kinds.length] as BusyRepository
      const remote = join(folder, `${i}.git`)
      cpSync(git.remote, remote, { recursive: true })
      const facts = { forge: 'github', path: 'prompts/**', similarity: 100, token: null, secret: null } as const
      const { lease, secret } = await connectRepository(follow, { organisationId, url: remote, ...facts }, operator)
      await syncWithLease(follow, lease)
      const forge = deliveriesFrom('github', secret)
      const path = `/webhooks/${lease.repository.hookId}`
      return events.map(({ refs, delivery }) => ({ remote, refs, path, delivery: delivery(forge) }))
    }),
  )
  await store.close()
  return Array.from({ length: 20 }, (_, i) => sendings.map((ofOne) => ofOne[i] as Sending)).flat()
}

/** Sends one delivery after another and returns those without a response, to be sent again unchanged. */
async function deliver({ address }: RunningProcess, sendings: Sending[]): Promise<Sending[]> {
  const unacknowledged: Sending[] = []
  for (const sending of sendings) {
    const { remote, refs, path, delivery } = sending
    for (const [ref, commit] of refs) writeRef(remote, ref, commit)
    const { headers, body } = delivery
    const status = await fetch(address + path, { method: 'POST', headers, body: new Uint8Array(body) }).then(
      (response) => response.status,
      () => null,
    )
    if (status === null) unacknowledged.push(sending)
    else assert.equal(status, 202)
  }
  return unacknowledged
}

/** Kills the service. With `gits`, its git processes die too and leave their locks behind, as when the machine goes down. */
async function crashWith(service: RunningProcess, gits: boolean): Promise<void> {
  const children = gits ? childrenOf(service.process.pid as number) : []
  await service.stop('SIGKILL')
  for (const pid of children) {
    try {
      process.kill(-pid, 'SIGKILL')
    } catch {
      // The process had already exited.
    }
  }
}

async function allDone(url: string): Promise<void> {
  const deadline = Date.now() + allDoneTimeoutMs
  const left = `select (select count(*) from deliveries where state = 'pending') as pending,
    (select count(*) from edits where held_until is not null) as held`
  for (;;) {
    const [row] = await queryRows(url, left)
    if (Number(row?.pending) + Number(row?.held) === 0) return
    if (Date.now() > deadline) assert.fail(`not done in time: ${JSON.stringify(await problems(url))}`)
    await pause(100)
  }
}

function problems(url: string): Promise<Record<string, unknown>[]> {
  const sql = `select repository_id, event, state, attempts, error, count(*) as count from deliveries
    where state in ('pending', 'failed') group by repository_id, event, state, attempts, error`
  return queryRows(url, sql)
}

/** All entries in history order, by file. */
async function entriesOf(url: string) {
  const rows = await queryRows(
    url,
    `select r.url, p.path, h.action, h.user_name, h.user_email, h.commit_sha, h.pr_number, h.pr_url, h.branch_name,
       h.created_at
     from history_entries h join prompts p on p.id = h.prompt_id join repositories r on r.id = p.repository_id
     order by r.url, p.path, h.created_at, h.dedupe_key`,
  )
  // PostgreSQL returns large numbers as text.
  const number = (value: unknown) => (value === null ? null : Number(value))
  return rows.map(({ url, action, pr_number, created_at, ...row }) => {
    const numbers = { pr_number: number(pr_number), created_at: number(created_at) }
    return { repository: basename(String(url)), action, ...row, ...numbers }
  })
}

async function statesOf(url: string): Promise<Record<string, number>> {
  const rows = await queryRows(url, 'select state, count(*) as count from deliveries group by state order by state')
  return Object.fromEntries(rows.map(({ state, count }) => [String(state), Number(count)]))
}

/** Prompts whose entries are not numbered 1 to n in order of time. */
const wrongNumbers = `select p.path, p.history_count, h.position, h.place from prompts p
  left join (
    select id, prompt_id, position, row_number() over (partition by prompt_id order by created_at, id) as place,
      count(*) over (partition by prompt_id) as total
    from history_entries) h on h.prompt_id = p.id
  where h.id is null and p.history_count <> 0 or h.position <> h.place or p.history_count <> h.total`
