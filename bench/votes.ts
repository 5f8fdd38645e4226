import { type Account, createAccount } from '../testing/account.ts'
import { processorSeconds, serve } from '../testing/processes.ts'
import { batchRequest, load, signalRequest, subjectNumber, voteRequest } from './load.ts'
import { median } from './statistics.ts'

type Engine = 'sqlite' | 'postgres'

const engines = ['sqlite', 'postgres'] as const
const batchSize = 500
const organisations = 4
const warmUpSeconds = 2

interface Operation {
  name: string
  signals: number
  connections: number
  status: number
  request: (account: Account) => string
  change?: (request: Buffer) => void
}

let votes = 0

const operations: Operation[] = [
  { name: 'plain signals', signals: 1, connections: 32, status: 201, request: signalRequest },
  {
    name: 'with version and subject',
    signals: 1,
    connections: 32,
    status: 201,
    request: voteRequest,
    change(request) {
      const number = String(++votes).padStart(subjectNumber.length, '0')
      request.write(number, request.length - '"}'.length - number.length, 'latin1')
    },
  },
  {
    name: `batches of ${batchSize}`,
    signals: batchSize,
    connections: 4,
    status: 200,
    request: (account) => batchRequest(account, batchSize),
  },
]

interface Rate {
  signalsPerSecond: number
  /** Processor time of the service, without that of PostgreSQL, in microseconds. */
  microsecondsPerSignal: number
}

export type Votes = Record<string, Record<Engine, Rate>>

/** Throughput of signals with details and of batches, beside that of plain signals in the same process. */
export async function measureVotes(
  createDatabase: (engine: Engine) => Promise<string>,
  rounds: number,
  seconds: number,
): Promise<Votes> {
  const measured = new Map<string, Rate[]>()
  for (const engine of engines) {
    const url = await createDatabase(engine)
    const accounts: Account[] = []
    for (let i = 0; i < organisations; i++) accounts.push(await createAccount(url, 'business'))
    for (let round = 0; round < rounds; round++) {
      // A new process each, because the same code can be 10% faster or slower from one process to the next.
      const service = await serve(url, { PLAN_LIMITS: 'free=1000,team=10000,business=unlimited' })
      for (const operation of operations) {
        const { name, signals, connections, status: expectedStatus, change } = operation
        const requests = accounts.map(operation.request)
        const options = { port: service.port, requests, expectedStatus, connections, ...(change && { change }) }
        await load({ ...options, seconds: warmUpSeconds })
        const before = processorSeconds(service)
        const startedAt = performance.now()
        const { requestsPerSecond } = await load({ ...options, seconds })
        const recorded = (requestsPerSecond * signals * (performance.now() - startedAt)) / 1_000
        const rate = {
          signalsPerSecond: requestsPerSecond * signals,
          microsecondsPerSignal: ((processorSeconds(service) - before) * 1_000_000) / recorded,
        }
        const key = `${engine} ${name}`
        measured.set(key, [...(measured.get(key) ?? []), rate])
      }
      await service.stop()
    }
  }
  const medianOf = (engine: Engine, name: string): Rate => {
    const rates = measured.get(`${engine} ${name}`) ?? []
    return {
      signalsPerSecond: median(rates.map(({ signalsPerSecond }) => signalsPerSecond)),
      microsecondsPerSignal: median(rates.map(({ microsecondsPerSignal }) => microsecondsPerSignal)),
    }
  }
  return Object.fromEntries(
    operations.map(({ name }) => [name, { sqlite: medianOf('sqlite', name), postgres: medianOf('postgres', name) }]),
  )
}

export function reportVotes(votes: Votes): string {
  const plain = Object.values(votes)[0] as Record<Engine, Rate>
  return [
    '',
    '| signals | engine | signals/s | vs plain | processor time of the service, µs per signal |',
    '|---|---|---:|---:|---:|',
    ...Object.entries(votes).flatMap(([name, rates]) =>
      engines.map((engine) => {
        const { signalsPerSecond, microsecondsPerSignal } = rates[engine]
        const ratio = (signalsPerSecond / plain[engine].signalsPerSecond).toFixed(2)
        return `| ${name} | ${engine} | ${signalsPerSecond.toFixed(0)} | ${ratio} | ${microsecondsPerSignal.toFixed(0)} |`
      }),
    ),
  ].join('\n')
}
