import pg from 'pg'
import { createAccount } from '../testing/account.ts'
import { startPostgres } from '../testing/postgres.ts'
import { serve } from '../testing/processes.ts'
import { startTcpProxy } from '../testing/tcp-proxy.ts'
import type { Fault } from './fault.ts'
import { tallyUp } from './tally.ts'
import { pause, startVoting } from './voters.ts'

const patience = 5_000

/** PostgreSQL is killed and stopped and comes back, backends are ended and connections cut, all in the middle of batches. */
export const postgresAway: Fault = {
  name: 'postgres',
  title: 'PostgreSQL killed, stopped, cut off',
  engines: ['postgres'],
  times: { full: 20, short: 1 },
  async run({ times, random }) {
    const postgres = await startPostgres()
    const databasePort = Number(new URL(postgres.url).port)
    const proxy = await startTcpProxy(() => [databasePort])
    const through = new URL(postgres.url)
    through.port = String(proxy.port)
    const accounts = [await createAccount(postgres.url, 'business'), await createAccount(postgres.url, 'free')]
    const service = await serve(through.href, { LOG_LEVEL: 'silent' })
    const votes = startVoting(() => service.port, accounts, 16)
    let slowest = 0
    try {
      for (let time = 0; time < times; time++) {
        await pause(100 + random() * 400)
        await postgres.halt(random() < 0.5 ? 'SIGKILL' : 'SIGQUIT')
        await pause(random() * 500)
        await postgres.resume()
        slowest = Math.max(slowest, await untilReady(service.port))
        proxy.cut()
        await pause(random() * 200)
        await endOneBackend(postgres.url)
        slowest = Math.max(slowest, await untilReady(service.port))
      }
      await votes.stop()
      const tally = await tallyUp(service.port, accounts, votes)
      // It was always back in time to find out.
      if (tally.found > 0) throw new Error(`${tally.found} votes were answered with 500 and are stored`)
      return {
        tried: `${times} restarts, cuts and ended backends`,
        ...tally,
        'slowest recovery, ms': Math.round(slowest),
      }
    } finally {
      await votes.stop()
      await service.stop()
      await proxy.close()
      await postgres.stop()
    }
  },
}

/** How long the service took to be healthy again, in milliseconds. */
async function untilReady(port: number): Promise<number> {
  const start = performance.now()
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null)
    const waited = performance.now() - start
    if (response?.status === 200) return waited
    if (waited > patience) throw new Error(`not healthy ${patience} ms after PostgreSQL was back`)
    await pause(20)
  }
}

async function endOneBackend(url: string): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  await client.query(`select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'promptledger' order by state = 'active' desc limit 1`)
  await client.end()
}
