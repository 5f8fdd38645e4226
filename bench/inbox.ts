import { renameSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Delivery, deliveries } from '../testing/payloads.ts'
import { type Running, serve, stop } from '../testing/processes.ts'
import { makeRepository } from '../testing/sample-repository.ts'
import { queryRows } from '../testing/service.ts'
import { connect, newOrganisation, type Place, webhookAt } from './connected.ts'
import { type Percentiles, percentiles } from './median.ts'

const repositories = 20
const perSecond = 200
const seconds = 20
const count = perSecond * seconds
const longest = 300_000

export interface Inbox extends Percentiles {
  /** Seconds from the last delivery until all were worked on. */
  doneAfter: number
}

interface Push {
  remote: string
  commit: string
  url: string
  delivery: Delivery
}

/** How long the service takes to answer deliveries while it works on them. */
export async function measureInbox(place: Place, folder: string): Promise<Inbox> {
  const service = await serve(place.url, place.env)
  const pushes = await preparePushes(place, folder, service)
  const agent = new Agent({ keepAlive: true })
  const start = performance.now()
  const answers: Promise<number>[] = []
  for (const [i, push] of pushes.entries()) {
    const dueAt = start + (i * 1_000) / perSecond
    // On time, whatever became of those before; what is sent late counts as waiting.
    await pause(Math.max(dueAt - performance.now(), 0))
    pointTo(push.remote, push.commit)
    answers.push(send(agent, push).then(() => performance.now() - dueAt))
  }
  const lastSentAt = performance.now()
  const waits = await Promise.all(answers)
  await allDone(place)
  const doneAfter = (performance.now() - lastSentAt) / 1_000
  agent.destroy()
  await stop(service)
  return { ...percentiles(waits), doneAfter }
}

async function preparePushes(place: Place, folder: string, { port }: Running): Promise<Push[]> {
  const organisation = await newOrganisation(place)
  const each = count / repositories
  const ofEach: Push[][] = []
  for (let i = 0; i < repositories; i++) {
    const remote = join(folder, `inbox-${place.name}-${i}.git`)
    const commits = await makeRepository(remote, each + 1, 10)
    pointTo(remote, commits[0] as string)
    const { value: connected } = await connect(place, organisation, remote)
    const forge = deliveries('github', connected.webhook_secret)
    const url = webhookAt(port, connected)
    ofEach.push(
      commits.slice(1).map((commit, j) => {
        const { body } = forge.push({ before: commits[j] as string, after: commit, commits: [{ sha: commit }] })
        return { remote, commit, url, delivery: forge.signed('push', asLongAsReal(body)) }
      }),
    )
  }
  return Array.from({ length: count }, (_, i) => ofEach[i % repositories]?.[Math.floor(i / repositories)] as Push)
}

/** GitHub tells some fifty addresses with every repository, which nobody reads: 10 KB in all. */
function asLongAsReal(body: Buffer): Buffer {
  const delivery = JSON.parse(body.toString())
  for (let i = 0; body.length + i * 180 < 10_000; i++) {
    delivery.repository[`address_${i}_url`] = `https://api.github.example/repos/acme/prompts/${'x'.repeat(110)}{/sha}`
  }
  return Buffer.from(JSON.stringify(delivery))
}

/** What a push does to the branch, without a process for each. */
function pointTo(remote: string, commit: string): void {
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

async function allDone({ url }: Place): Promise<void> {
  const deadline = performance.now() + longest
  for (;;) {
    const states = await queryRows(url, 'select state, count(*) as count from deliveries group by state')
    if (states.some(({ state }) => state === 'failed')) throw new Error(`deliveries failed: ${JSON.stringify(states)}`)
    if (!states.some(({ state }) => state === 'pending')) return
    if (performance.now() > deadline) throw new Error(`still to be done: ${JSON.stringify(states)}`)
    await pause(100)
  }
}
