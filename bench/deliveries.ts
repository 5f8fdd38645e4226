import { renameSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { eventually } from '../testing/eventually.ts'
import { deliveriesFrom } from '../testing/payloads/deliveries.ts'
import type { Delivery } from '../testing/payloads/facts.ts'
import { type RunningProcess, serve } from '../testing/processes.ts'
import { queryRows } from '../testing/rows.ts'
import { generateRepository } from '../testing/sample-repository.ts'
import { connectRepository, createOwner, type Installation, webhookAt } from './installation.ts'
import { type Percentiles, percentiles } from './statistics.ts'

const repositories = 20
const perSecond = 200
const seconds = 20
const count = perSecond * seconds
const backlogTimeoutMs = 300_000

export interface Deliveries extends Percentiles {
  /** Seconds from the last delivery until the backlog was empty. */
  clearedAfter: number
}

interface Push {
  remote: string
  commit: string
  url: string
  delivery: Delivery
}

/** Milliseconds until the service responds to a delivery while it processes those before. */
export async function measureDeliveries(installation: Installation, folder: string): Promise<Deliveries> {
  const service = await serve(installation.url, installation.env)
  const pushes = await preparePushes(installation, folder, service)
  const agent = new Agent({ keepAlive: true })
  const start = performance.now()
  const responses: Promise<number>[] = []
  for (const [i, push] of pushes.entries()) {
    const dueAt = start + (i * 1_000) / perSecond
    // Sent on schedule even if earlier responses are missing. A late send counts as latency.
    await pause(Math.max(dueAt - performance.now(), 0))
    setBranch(push.remote, push.commit)
    responses.push(send(agent, push).then(() => performance.now() - dueAt))
  }
  const lastSentAt = performance.now()
  const latencies = await Promise.all(responses)
  await backlogCleared(installation)
  const clearedAfter = (performance.now() - lastSentAt) / 1_000
  agent.destroy()
  await service.stop()
  return { ...percentiles(latencies), clearedAfter }
}

async function preparePushes(installation: Installation, folder: string, { port }: RunningProcess): Promise<Push[]> {
  const owner = await createOwner(installation)
  const pushesPerRepository = count / repositories
  const byRepository: Push[][] = []
  for (let i = 0; i < repositories; i++) {
    const remote = join(folder, `deliveries-${installation.engine}-${i}.git`)
    const commits = await generateRepository(remote, pushesPerRepository + 1, 10)
    setBranch(remote, commits[0] as string)
    const { value: connected } = await connectRepository(installation, owner, remote)
    const forge = deliveriesFrom('github', connected.webhook_secret)
    const url = webhookAt(port, connected)
    byRepository.push(
      commits.slice(1).map((commit, j) => {
        const { body } = forge.push({ before: commits[j] as string, after: commit, commits: [{ sha: commit }] })
        return { remote, commit, url, delivery: forge.signed('push', padded(body)) }
      }),
    )
  }
  return Array.from({ length: count }, (_, i) => byRepository[i % repositories]?.[Math.floor(i / repositories)] as Push)
}

/** Pads a delivery to the 10 KB that GitHub's have: each lists about fifty URLs of the repository that the service ignores. */
function padded(body: Buffer): Buffer {
  const delivery = JSON.parse(body.toString())
  for (let i = 0; body.length + i * 180 < 10_000; i++) {
    delivery.repository[`address_${i}_url`] = `https://api.github.example/repos/acme/prompts/${'x'.repeat(110)}{/sha}`
  }
  return Buffer.from(JSON.stringify(delivery))
}

/** Moves the branch as a push does, without starting a git process for each. */
function setBranch(remote: string, commit: string): void {
  const ref = join(remote, 'refs/heads/main')
  writeFileSync(`${ref}.new`, `${commit}\n`)
  renameSync(`${ref}.new`, ref)
}

function send(agent: Agent, { url, delivery }: Push): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method: 'POST',
      agent,
      headers: { ...delivery.headers, 'content-length': delivery.body.length },
    })
    sent.on('error', reject)
    sent.on('response', (response) => {
      response.resume()
      if (response.statusCode === 202) response.on('end', resolve)
      else reject(new Error(`a delivery was answered with ${response.statusCode}`))
    })
    sent.end(delivery.body)
  })
}

async function backlogCleared({ url }: Installation): Promise<void> {
  const states = await eventually(
    async () => {
      const rows = await queryRows(url, 'select state, count(*) as count from deliveries group by state')
      if (rows.some(({ state }) => state === 'pending')) throw new Error(`deliveries by state: ${JSON.stringify(rows)}`)
      return rows
    },
    { timeoutMs: backlogTimeoutMs, intervalMs: 100 },
  )
  if (states.some(({ state }) => state === 'failed')) throw new Error(`deliveries failed: ${JSON.stringify(states)}`)
}
