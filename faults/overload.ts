import { type Account, createAccount } from '../testing/account.ts'
import { memoryOf, serve } from '../testing/processes.ts'
import type { Fault } from './fault.ts'
import { type Answers, flood, within } from './flood.ts'
import { type Answer, startProbe } from './probe.ts'
import { tallyUp } from './tally.ts'

const mostMemory = 300
const longestWaitForHealth = 1_000

interface Size {
  connections: number
  /** Organisations: what can be answered in the time has to fit below their limits, and one is to be over its own soon. */
  plans: ('business' | 'free')[]
}

const full: Size = { connections: 2_000, plans: [...Array(9).fill('business'), 'free'] }
const short: Size = { connections: 1_300, plans: ['business', 'business', 'free'] }

/** Thousands of connections send signals as fast as they can; `times` counts seconds. */
export const overload: Fault = {
  name: 'overload',
  title: 'more requests than can be answered',
  engines: ['sqlite', 'postgres'],
  times: { full: 60, short: 5 },
  async run({ url, times: seconds }) {
    const { connections, plans } = seconds < 30 ? short : full
    const accounts: Account[] = []
    for (const plan of plans) accounts.push(await createAccount(url, plan))
    const running = await serve(url)
    try {
      const address = `http://127.0.0.1:${running.port}`
      const headers = { authorization: `Bearer ${accounts[0]?.key}` }
      const stopHealth = await startProbe({ url: `${address}/healthz`, every: 100 })
      const stopReading = await startProbe({ url: `${address}/api/v1/usage`, headers, every: 200 })
      const flooded = await flood({ port: running.port, accounts, connections, seconds })
      const health = await stopHealth()
      const reads = await stopReading()
      const memory = memoryOf(running).peak
      const { stored } = await tallyUp(running.port, accounts, flooded)
      check(health, reads, memory, seconds < 30 ? 10 * longestWaitForHealth : longestWaitForHealth)
      const { answers } = flooded
      return {
        tried: `${connections} connections for ${seconds} s`,
        stored,
        'stored/s': Math.round(stored / seconds),
        'refused/s': Math.round((answers.get(500)?.count ?? 0) / seconds),
        'p99 of 201, ms': within(answers.get(201) as Answers, 0.99),
        'longest wait, ms': Math.max(...[...answers.values()].map((all) => within(all, 1))),
        'health p99, ms': p99(health),
        'health longest, ms': Math.round(health.at(-1)?.milliseconds ?? 0),
        'reading of an admin p99, ms': p99(reads),
        'memory, MB': Math.round(memory),
      }
    } finally {
      await running.stop()
    }
  },
}

function check(health: Answer[], reads: Answer[], memory: number, most: number): void {
  const wrong = [...health, ...reads].find(({ status }) => status !== 200)
  if (wrong !== undefined) throw new Error(`health or an admin was answered with ${wrong.status}`)
  const longest = health.at(-1)?.milliseconds ?? Number.POSITIVE_INFINITY
  if (longest > most) throw new Error(`health was told after ${Math.round(longest)} ms`)
  if (memory > mostMemory) throw new Error(`the service took ${Math.round(memory)} MB`)
}

function p99(answers: Answer[]): number {
  return Math.round(answers[Math.floor(answers.length * 0.99)]?.milliseconds ?? 0)
}
