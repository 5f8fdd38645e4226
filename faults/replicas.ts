import { Agent } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { type Account, createAccount } from '../testing/account.ts'
import { runCliJson } from '../testing/cli.ts'
import { type RunningProcess, serve } from '../testing/processes.ts'
import { startTcpProxy } from '../testing/tcp-proxy.ts'
import type { Fault } from './fault.ts'
import { send } from './http.ts'
import { reconcile } from './reconcile.ts'
import { startSenders } from './senders.ts'

const count = 4
const revocationLimitMs = 1_000

/** Four processes on one PostgreSQL behind a proxy, one of them killed again and again. */
export const replicas: Fault = {
  name: 'replicas',
  title: 'one of four replicas killed at any time',
  engines: ['postgres'],
  times: { full: 20, short: 1 },
  async run({ url, times, random }) {
    const accounts: Account[] = []
    for (const plan of ['free', 'free', 'team', 'team'] as const) accounts.push(await createAccount(url, plan))
    const services: RunningProcess[] = []
    for (let i = 0; i < count; i++) services.push(await serve(url))
    const proxy = await startTcpProxy(() => services.map(({ port }) => port))
    const senders = startSenders(() => proxy.port, accounts, 24)
    let slowest = 0
    for (let time = 0; time < times; time++) {
      await pause(100 + random() * 300)
      const place = Math.floor(random() * count)
      await services[place]?.kill()
      services[place] = await serve(url)
      slowest = Math.max(slowest, await revocationMs(url, services, accounts[0] as Account))
    }
    await senders.stop()
    await proxy.close()
    const totals = await reconcile((services[0] as RunningProcess).port, accounts, senders)
    for (const service of services) await service.stop()
    return { tried: `${times} kills`, ...totals, 'slowest revocation on all replicas, ms': Math.round(slowest) }
  },
}

/** Milliseconds until every replica rejects a key that the CLI has revoked. */
async function revocationMs(url: string, services: RunningProcess[], { organisationId }: Account): Promise<number> {
  const agent = new Agent({ keepAlive: true })
  const create = ['key', 'create', '--org', String(organisationId)]
  const { id, key } = await runCliJson<{ id: number; key: string }>(url, create)
  const statuses = async () => {
    const responses = services.map(({ port }) => send(agent, port, { path: '/api/v1/usage', key }))
    return (await Promise.all(responses)).map(({ status }) => status)
  }
  if ((await statuses()).some((status) => status !== 200)) throw new Error('a replica rejects a new key')
  await runCliJson(url, ['key', 'revoke', String(id)])
  const revokedAt = performance.now()
  // Counts from when a request is sent: how long a replica takes to respond depends on the load.
  for (let sentAfterMs = 0; ; sentAfterMs = performance.now() - revokedAt) {
    const received = await statuses()
    if (sentAfterMs > revocationLimitMs && received.includes(200)) {
      throw new Error(`a replica accepts a key ${Math.round(sentAfterMs)} ms after it was revoked`)
    }
    if (received.every((status) => status === 401)) break
  }
  agent.destroy()
  return performance.now() - revokedAt
}
