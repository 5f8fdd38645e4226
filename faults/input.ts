import fc, { type Arbitrary } from 'fast-check'
import type { Document } from '../server/src/http/docs/openapi-document.ts'
import { createAccount } from '../testing/account.ts'
import { memoryOf, serve } from '../testing/processes.ts'
import type { Fault } from './fault.ts'
import { createConnection } from './input/connection.ts'
import { contractOf } from './input/contract.ts'
import type { Draft } from './input/draft.ts'
import { type HostileExchange, hostileExchanges, slowExchanges, stalledExchanges } from './input/hostile.ts'
import { oddIdRequests, requests } from './input/requests.ts'
import { checkSignals, prepareTarget, type Target } from './input/target.ts'
import { createVerifier, type Verifier } from './input/verifier.ts'
import { weighted } from './weighted.ts'

const concurrency = 64
const slowConcurrency = 4
// Stalled clients are rejected after half a minute, and memory settles late: only long runs check both.
const longRun = 100_000
const maxGrowthMb = 20

/** Generated requests, valid and with mistakes, and hostile bytes. `times` counts them. */
export const input: Fault = {
  name: 'input',
  title: 'generated, malformed and hostile requests',
  engines: ['sqlite', 'postgres'],
  times: { full: 200_000, short: 1_500 },
  async run({ url, folder, times, random }) {
    const account = await createAccount(url, 'business')
    const service = await serve(url, {
      DATA_DIR: folder,
      ALLOW: 'local-repositories',
      PROMPTLEDGER_SECRET_KEY: '5a'.repeat(32),
    })
    try {
      const target = await prepareTarget(service, account, folder)
      const document = (await (await fetch(`${service.address}/openapi.json`)).json()) as Document
      const contract = contractOf(document)
      const verifier = createVerifier(target, contract)
      const inputs = weighted<Draft | HostileExchange>(
        [17, requests(document, contract.operations, target)],
        [1, oddIdRequests(contract.operations)],
        [2, hostileExchanges(target)],
      )
      const memory: number[] = []
      const sampling = setInterval(() => memory.push(memoryOf(service).resident), 100)
      const seeds = Array.from({ length: concurrency }, () => Math.floor(random() * 2 ** 31))
      await sendAll(target, verifier, inputs, seeds, times).finally(() => clearInterval(sampling))
      const { status } = await fetch(`${service.address}/healthz`)
      if (status !== 200) throw new Error(`/healthz responds with ${status}`)
      const signals = await checkSignals(target)
      const idle = contract.operations.filter(({ operation }) => !verifier.succeeded.has(operation.operationId))
      const [before, after] = [median(memory, 0.25, 0.5), median(memory, 0.75, 1)]
      if (times >= longRun) {
        const names = idle.map(({ operation }) => operation.operationId)
        if (idle.length > 0) throw new Error(`no request succeeded: ${names.join(', ')}`)
        if (after - before > maxGrowthMb) throw new Error(`memory grew from ${before} to ${after} MB`)
      }
      return {
        tried: `${verifier.sent.toLocaleString('en')} requests`,
        kinds: listed(verifier.kinds),
        statuses: listed(verifier.statuses),
        'closed without a response': listed(verifier.closed),
        'operations that succeeded': `${contract.operations.length - idle.length} of ${contract.operations.length}`,
        'signals stored': signals,
        'memory in the second quarter, MB': Math.round(before),
        'memory in the last quarter, MB': Math.round(after),
      }
    } finally {
      await service.stop()
    }
  },
}

/** Sends all inputs, one sequence per seed at the same time, beside slow clients. fast-check shrinks the first failure. */
async function sendAll(
  target: Target,
  verifier: Verifier,
  inputs: Arbitrary<Draft | HostileExchange>,
  seeds: number[],
  times: number,
): Promise<void> {
  let failedSeed: number | null = null
  let running = seeds.length

  const fast = seeds.map(async (seed) => {
    const connection = createConnection(target.port)
    const property = fc.asyncProperty(inputs, async (drawn) => {
      // The others stop, so that the failing sequence can be shrunk.
      if (failedSeed !== null && failedSeed !== seed) return
      try {
        await ('pieces' in drawn ? verifier.attack(drawn) : verifier.request(drawn, connection))
      } catch (error) {
        failedSeed ??= seed
        throw error
      }
    })
    try {
      await fc.assert(property, { seed, numRuns: Math.ceil(times / seeds.length), includeErrorInReport: true })
    } catch (error) {
      if (failedSeed === seed) throw error
    } finally {
      running--
      connection.close()
    }
  })
  const slow = Array.from({ length: slowConcurrency }, async (_, i) => {
    const exchanges = slowExchanges(target)
    for (let turn = i; running > 0; turn++) await verifier.attack(exchanges[turn % exchanges.length] as HostileExchange)
  })
  const stalled = times < longRun ? [] : stalledExchanges(target).map((one) => verifier.attack(one))
  await Promise.all([...fast, ...slow, ...stalled])
}

function median(numbers: number[], from: number, to: number): number {
  const part = numbers.slice(numbers.length * from, numbers.length * to).sort((a, b) => a - b)
  return part[Math.floor(part.length / 2)] ?? 0
}

/** Counts by name, in one line. */
function listed(counts: Map<string, number>): string {
  const sorted = [...counts].sort(([a], [b]) => (a < b ? -1 : 1))
  return sorted.map(([name, count]) => `${name} ${count}`).join(', ')
}
