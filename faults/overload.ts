import { type Account, createAccount } from '../testing/account.ts'
import { memoryOf, serve } from '../testing/processes.ts'
import type { Fault } from './fault.ts'
import { flood, type Latencies, quantile } from './flood.ts'
import { type Probed, startProbe } from './probe.ts'
import { reconcile } from './reconcile.ts'

const maxMemoryMb = 300
const maxHealthMs = 1_000

interface Size {
  connections: number
  /** The limits of the business plans exceed what can be recorded in the time; the free plan's is reached soon. */
  plans: ('business' | 'free')[]
}

const full: Size = { connections: 2_000, plans: [...Array(9).fill('business'), 'free'] }
const short: Size = { connections: 1_300, plans: ['business', 'business', 'free'] }

/** Thousands of connections send signals as fast as they can. `times` counts seconds. */
export const overload: Fault = {
  name: 'overload',
  title: 'more requests than the service can handle',
  engines: ['sqlite', 'postgres'],
  times: { full: 60, short: 3 },
  async run({ url, times: seconds }) {
    const isShort = seconds < 30
    const { connections, plans } = isShort ? short : full
    const accounts: Account[] = []
    for (const plan of plans) accounts.push(await createAccount(url, plan))
    const service = await serve(url)
    try {
      const headers = { authorization: `Bearer ${accounts[0]?.key}` }
      const stopHealth = await startProbe({ url: `${service.address}/healthz`, intervalMs: 100 })
      const stopReads = await startProbe({ url: `${service.address}/api/v1/usage`, headers, intervalMs: 200 })
      const flooded = await flood({ port: service.port, accounts, connections, seconds })
      const health = await stopHealth()
      const reads = await stopReads()
      const { peak } = memoryOf(service)
      const { stored } = await reconcile(service.port, accounts, flooded)
      check(health, reads, peak, isShort ? 10 * maxHealthMs : maxHealthMs)
      const { latencies } = flooded
      return {
        tried: `${connections} connections for ${seconds} s`,
        stored,
        'stored/s': Math.round(stored / seconds),
        'shed/s': Math.round((latencies.get(500)?.count ?? 0) / seconds),
        'p99 of 201, ms': quantile(latencies.get(201) as Latencies, 0.99),
        'max latency, ms': Math.max(...[...latencies.values()].map((each) => quantile(each, 1))),
        'health p99, ms': p99(health),
        'health max, ms': Math.round(health.at(-1)?.ms ?? 0),
        'admin read p99, ms': p99(reads),
        'peak memory, MB': Math.round(peak),
      }
    } finally {
      await service.stop()
    }
  },
}

function check(health: Probed[], reads: Probed[], peak: number, maxMs: number): void {
  const failed = [...health, ...reads].find(({ status }) => status !== 200)
  if (failed !== undefined) throw new Error(`/healthz or an admin's read was answered with ${failed.status}`)
  const slowest = health.at(-1)?.ms ?? Number.POSITIVE_INFINITY
  if (slowest > maxMs) throw new Error(`/healthz took ${Math.round(slowest)} ms`)
  if (peak > maxMemoryMb) throw new Error(`the service used ${Math.round(peak)} MB`)
}

function p99(probed: Probed[]): number {
  return Math.round(probed[Math.floor(probed.length * 0.99)]?.ms ?? 0)
}
