import { randomBytes } from 'node:crypto'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { newHistoryEntry } from '../server/src/domain/history/entry.ts'
import { newPrompt } from '../server/src/domain/prompt.ts'
import type { NewSignal } from '../server/src/domain/signals/signal.ts'
import type { Store } from '../server/src/domain/store.ts'
import { day } from '../server/src/domain/time.ts'
import { openStore } from '../server/src/store/open.ts'
import { type Account, createAccount } from '../testing/account.ts'
import { eventually } from '../testing/eventually.ts'
import { type RunningProcess, serve } from '../testing/processes.ts'
import { startReceiver } from '../testing/receiver.ts'
import { figures } from '../testing/regressions.ts'
import { queryRows } from '../testing/rows.ts'
import { inBatches } from '../testing/signals.ts'
import type { Fault } from './fault.ts'
import { send } from './http.ts'

const organisations = 4
// Longer than the lease of a message that a killed process was sending.
const settleTimeoutMs = 300_000
const votesBefore = 600
const votesAfter = 300

/** One of the processes that send alerts is killed again and again, while regressions open. */
export const alerts: Fault = {
  name: 'alerts',
  title: 'a process killed while it sends alerts',
  engines: ['sqlite', 'postgres'],
  times: { full: 50, short: 2 },
  async run({ engine, url, folder, times, random }) {
    const isShort = times < 10
    const received: Received[] = []
    // Slow enough that processes are killed while they wait for it. In the full form, every tenth request fails.
    const receiver = await startReceiver((response) => {
      const status = !isShort && random() < 0.1 ? 500 : 200
      setTimeout(() => response.writeHead(status).end(), 100 + random() * (isShort ? 400 : 2_000))
    })
    const env = {
      PROMPTLEDGER_SECRET_KEY: randomBytes(32).toString('hex'),
      ALLOW: 'private-alert-targets',
      DATA_DIR: join(folder, 'data'),
      // Links name it, and the port differs after each start.
      PUBLIC_URL: 'https://ledger.example',
    }
    const accounts: Account[] = []
    for (let i = 0; i < organisations; i++) accounts.push(await createAccount(url, 'business'))
    // Two processes that share the work, where that is possible.
    const services: RunningProcess[] = []
    for (let i = 0; i < (engine === 'postgres' ? 2 : 1); i++) services.push(await serve(url, env))
    const { port } = services[0] as RunningProcess
    const targets = await addAlerts(port, accounts, receiver.url, isShort ? 3 : 10)
    const store = await openStore({ url, poolSize: 2, clock: Date.now, onLostConnection: () => {} })
    const opened: string[] = []
    const open = async () => {
      const place = opened.length % organisations
      const { organisationId } = accounts[place] as Account
      const number = Math.floor(opened.length / organisations)
      const { prompt, entry } = await createPrompt(store, organisationId, number, place)
      // The judge of one of the processes may have been faster.
      await store.regressions.open(prompt, entry, figures, Date.now())
      opened.push(entry.commitSha)
    }
    try {
      for (let time = 0; time < times; time++) {
        await open()
        await pause(1_500 + random() * 3_000)
        const place = Math.floor(random() * services.length)
        await services[place]?.kill()
        services[place] = await serve(url, env)
      }
      const expected = opened.length * (targets.length / organisations)
      if (isShort) await endLeases(url, services, env)
      await allSent(url, expected)
      // With all processes alive, each message is sent once.
      const before = receiver.received.length
      receiver.respondWith((response) => response.end('ok'))
      for (let i = 0; i < organisations; i++) await open()
      const all = opened.length * (targets.length / organisations)
      await allSent(url, all)
      await pause(3_000)
      const sentAfter = receiver.received.length - before
      if (sentAfter !== all - expected) throw new Error(`${all - expected} messages were sent ${sentAfter} times`)
    } finally {
      await store.close()
    }
    for (const { path, headers, body } of receiver.received) {
      received.push({ path, body, id: String(headers['webhook-id']) })
    }
    check(received, opened, targets)
    for (const service of services) await service.stop()
    const messages = new Set(received.map(({ id }) => id)).size
    return { tried: `${times} kills`, messages, 'requests beyond one for each': received.length - messages }
  },
}

interface Received {
  path: string
  id: string
  body: string
}

/** Returns the paths of the receivers. */
async function addAlerts(port: number, accounts: Account[], url: string, count: number): Promise<string[]> {
  const agent = new Agent({ keepAlive: true })
  const paths: string[] = []
  for (const [i, { key }] of accounts.entries()) {
    for (let alert = 0; alert < count; alert++) {
      const path = `${i}/${alert}`
      const body = {
        name: path,
        channel: 'webhook',
        target: `${url}${path}`,
        events: ['regression.opened'],
        hold_minutes: 0,
      }
      const { status, body: text } = await send(agent, port, {
        method: 'POST',
        path: '/api/v1/alerts',
        key,
        body: JSON.stringify(body),
      })
      if (status !== 201) throw new Error(`adding an alert failed: ${status} ${text}`)
      paths.push(`/${path}`)
    }
  }
  agent.destroy()
  return paths
}

/** A prompt that a change made worse, on another day than the others, so that the judge agrees with the regression. */
async function createPrompt(store: Store, organisationId: number, number: number, place: number) {
  const now = Date.now()
  const prompt = await store.prompts.create(newPrompt(organisationId, `p${number}`, now), null)
  const [createdAt, changedAt] = [now - 25 * day, now - (2 + number) * day - 1_234]
  const record = (version: number, at: number) =>
    store.history.record(
      prompt,
      newHistoryEntry({
        action: 'deployed',
        user: { name: 'Ada', email: 'ada@example.com' },
        commitSha: `${version}${place}${String(number).padStart(38, '0')}`,
        prNumber: null,
        prUrl: null,
        branchName: 'main',
        createdAt: at,
      }),
      now,
      null,
    )
  const votes = (from: number, until: number, count: number, rate: number): NewSignal[] =>
    Array.from({ length: count }, (_, vote) => ({
      organisationId,
      promptId: prompt.id,
      metadata: null,
      value: vote % 20 < rate * 20 ? 'positive' : 'negative',
      createdAt: Math.floor(from + ((until - from) * vote) / count),
    }))
  await record(1, createdAt)
  const entry = await record(2, changedAt)
  await store.signals.import(inBatches(votes(createdAt + 1, changedAt, votesBefore, 0.85)))
  await store.signals.import(inBatches(votes(changedAt + 1, now, votesAfter, 0.5)))
  return { prompt, entry }
}

/** What killed processes were sending is due at once, instead of when their leases end. */
async function endLeases(url: string, services: RunningProcess[], env: NodeJS.ProcessEnv): Promise<void> {
  for (const [place, service] of services.entries()) {
    await service.kill()
    services[place] = await serve(url, env)
  }
  await queryRows(url, `update alert_deliveries set due_at = 1 where lease_owner is not null`)
}

/** Waits until so many messages are sent. */
function allSent(url: string, expected: number): Promise<void> {
  return eventually(
    async () => {
      const rows = await queryRows(
        url,
        'select event, state, count(*) as count from alert_deliveries group by event, state',
      )
      const counts = rows.map(({ event, state, count }) => `${count} ${event} ${state}`)
      const isDone = counts.length === 1 && counts[0] === `${expected} regression.opened sent`
      if (!isDone) throw new Error(`expected ${expected} messages, but there are ${counts.join(', ') || 'none'}`)
    },
    { timeoutMs: settleTimeoutMs, intervalMs: 500 },
  )
}

/** Every alert heard of every regression of its organisation, under one ID and in the same words each time. */
function check(received: Received[], opened: string[], targets: string[]): void {
  const bodies = new Map<string, string>()
  const ids = new Map<string, string>()
  for (const { path, id, body } of received) {
    if ((bodies.get(id) ?? body) !== body) throw new Error(`message ${id} was sent with different contents`)
    bodies.set(id, body)
    const [sha = ''] = /[0-9a-f]{40}/.exec(body) ?? []
    const subject = `${path} ${sha}`
    if ((ids.get(subject) ?? id) !== id) throw new Error(`${subject} was sent as ${id} and as ${ids.get(subject)}`)
    ids.set(subject, id)
  }
  for (const sha of opened) {
    for (const path of targets.filter((target) => target.startsWith(`/${sha[1]}/`))) {
      if (!ids.has(`${path} ${sha}`)) throw new Error(`${path} never heard of ${sha}`)
    }
  }
}
