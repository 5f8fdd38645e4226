import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { createAccount } from '../testing/account.ts'
import { startDistributed } from '../testing/distributed-cluster.ts'
import { isCitus } from '../testing/engines.ts'
import { eventually } from '../testing/eventually.ts'
import { type PostgresServer, startPostgres } from '../testing/postgres.ts'
import { serve } from '../testing/processes.ts'
import { startTcpProxy } from '../testing/tcp-proxy.ts'
import type { Fault } from './fault.ts'
import { reconcile } from './reconcile.ts'
import { startSenders } from './senders.ts'

// The outcome has the slowest recovery. Tests share the machine with others, and a cluster with its other servers.
const recoveryTimeoutMs = 30_000

/** PostgreSQL is killed and restarted, backends are terminated and connections cut, all in the middle of batches. */
export const postgres: Fault = {
  name: 'postgres',
  title: 'PostgreSQL killed, stopped and cut off',
  engines: ['postgres'],
  times: { full: 20, short: 1 },
  async run({ times, random }) {
    const { servers, url, stop } = await startServers()
    const [server, ...workers] = servers as [PostgresServer, ...PostgresServer[]]
    const proxy = await startTcpProxy(url)
    const accounts = [await createAccount(url, 'business'), await createAccount(url, 'free')]
    const service = await serve(proxy.url, { LOG_LEVEL: 'silent' })
    const senders = startSenders(() => service.port, accounts, 16)
    let slowest = 0
    const recover = async () => {
      slowest = Math.max(slowest, await recoveryMs(service.address))
    }
    try {
      for (let time = 0; time < times; time++) {
        await pause(100 + random() * 400)
        for (const victim of [server, ...workers]) {
          await victim.halt(random() < 0.5 ? 'SIGKILL' : 'SIGQUIT')
          await pause(random() * 500)
          await victim.resume()
          await recover()
        }
        proxy.cut()
        await pause(random() * 200)
        await terminateOneBackend(url)
        await recover()
      }
      await senders.stop()
      const totals = await reconcile(service.port, accounts, senders)
      // PostgreSQL was always back in time for the service to look up the outcome of a broken batch. Of a cluster that is not certain.
      const storedDespite500 = totals['unknown but stored']
      if (storedDespite500 > 0 && !isCitus)
        throw new Error(`${storedDespite500} signals were answered with 500 and are stored`)
      return {
        tried: `${times} restarts, cuts and terminated backends`,
        ...totals,
        'slowest recovery, ms': Math.round(slowest),
      }
    } finally {
      await senders.stop()
      await service.stop()
      await proxy.close()
      await stop()
    }
  },
}

/** One server, or with `npm run test:citus` a coordinator, which is the first, and its workers. */
async function startServers(): Promise<{ servers: PostgresServer[]; url: string; stop(): Promise<void> }> {
  if (isCitus) return startDistributed()
  const server = await startPostgres()
  return { servers: [server], url: server.url, stop: server.stop }
}

/** Milliseconds until the service is ready again. */
async function recoveryMs(address: string): Promise<number> {
  const start = performance.now()
  await eventually(async () => (await fetch(`${address}/readyz`)).status === 200, { timeoutMs: recoveryTimeoutMs })
  return performance.now() - start
}

async function terminateOneBackend(url: string): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  await client.query(`select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'promptledger' order by state = 'active' desc limit 1`)
  await client.end()
}
