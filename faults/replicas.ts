import { Agent } from 'node:http'
import { startCutter } from '../testing/cutting-proxy.ts'
import { kill, promptledger, type Running, serve, stop } from '../testing/processes.ts'
import type { Fault } from './fault.ts'
import { newSubject, type Subject } from './subject.ts'
import { tallyUp } from './tally.ts'
import { ask, pause, startVoting } from './voters.ts'

const replicas = 4

/** Four processes on one PostgreSQL behind a proxy, of which one is killed again and again. */
export const manyReplicas: Fault = {
  name: 'replicas',
  title: 'four replicas, one killed at any time',
  engines: ['postgres'],
  times: { full: 20, short: 1 },
  async run({ url, times, random }) {
    const subjects: Subject[] = []
    for (const plan of ['free', 'free', 'team', 'team'] as const) subjects.push(await newSubject(url, plan))
    const running: Running[] = []
    for (let i = 0; i < replicas; i++) running.push(await serve(url))
    const cutter = await startCutter(() => running.map(({ port }) => port))
    const votes = startVoting(() => cutter.port, subjects, 24)
    let slowest = 0
    for (let time = 0; time < times; time++) {
      await pause(100 + random() * 300)
      const place = Math.floor(random() * replicas)
      const victim = running[place] as Running
      await kill(victim)
      running[place] = await serve(url)
      slowest = Math.max(slowest, await revokedEverywhere(url, running, subjects[0] as Subject))
    }
    await votes.stop()
    await cutter.close()
    const tally = await tallyUp((running[0] as Running).port, subjects, votes)
    for (const replica of running) await stop(replica)
    return { tried: `${times} kills`, ...tally, 'revoked everywhere after, ms': Math.round(slowest) }
  },
}

/** How long until a key that was revoked by the command is refused by every replica, in milliseconds. */
async function revokedEverywhere(url: string, running: Running[], { organisationId }: Subject): Promise<number> {
  const agent = new Agent({ keepAlive: true })
  const made = await promptledger<{ id: number; key: string }>(url, 'key', 'create', '--org', String(organisationId))
  const statuses = () =>
    Promise.all(running.map(async ({ port }) => (await ask(agent, port, 'GET', '/api/v1/usage', made.key)).status))
  if ((await statuses()).some((status) => status !== 200)) throw new Error('a new key is not known everywhere')
  await promptledger(url, 'key', 'revoke', String(made.id))
  const start = performance.now()
  for (;;) {
    const found = await statuses()
    const waited = performance.now() - start
    if (found.every((status) => status === 401)) {
      agent.destroy()
      return waited
    }
    if (waited > 1_000) throw new Error(`a revoked key still opens something after ${Math.round(waited)} ms`)
  }
}
