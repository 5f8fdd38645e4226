import { Agent } from 'node:http'
import { type Account, createAccount } from '../testing/account.ts'
import { runCliJson } from '../testing/cli.ts'
import { type RunningProcess, serve } from '../testing/processes.ts'
import { startTcpProxy } from '../testing/tcp-proxy.ts'
import type { Fault } from './fault.ts'
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
    const accounts: Account[] = []
    for (const plan of ['free', 'free', 'team', 'team'] as const) accounts.push(await createAccount(url, plan))
    const running: RunningProcess[] = []
    for (let i = 0; i < replicas; i++) running.push(await serve(url))
    const proxy = await startTcpProxy(() => running.map(({ port }) => port))
    const votes = startVoting(() => proxy.port, accounts, 24)
    let slowest = 0
    for (let time = 0; time < times; time++) {
      await pause(100 + random() * 300)
      const place = Math.floor(random() * replicas)
      const victim = running[place] as RunningProcess
      await victim.kill()
      running[place] = await serve(url)
      slowest = Math.max(slowest, await revokedEverywhere(url, running, accounts[0] as Account))
    }
    await votes.stop()
    await proxy.close()
    const tally = await tallyUp((running[0] as RunningProcess).port, accounts, votes)
    for (const replica of running) await replica.stop()
    return { tried: `${times} kills`, ...tally, 'revoked everywhere after, ms': Math.round(slowest) }
  },
}

/** How long until a key that was revoked by the command is refused by every replica, in milliseconds. */
async function revokedEverywhere(url: string, running: RunningProcess[], { organisationId }: Account): Promise<number> {
  const agent = new Agent({ keepAlive: true })
  const made = await runCliJson<{ id: number; key: string }>(url, ['key', 'create', '--org', String(organisationId)])
  const statuses = () =>
    Promise.all(running.map(async ({ port }) => (await ask(agent, port, 'GET', '/api/v1/usage', made.key)).status))
  if ((await statuses()).some((status) => status !== 200)) throw new Error('a new key is not known everywhere')
  await runCliJson(url, ['key', 'revoke', String(made.id)])
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
