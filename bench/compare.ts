import { execFileSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Account } from '../testing/account.ts'
import { mainScript, processorSeconds, type RunningProcess, serve, startProcess } from '../testing/processes.ts'
import { historyRequest, load, signalRequest } from './load.ts'
import { fillAccounts, savePage } from './requests.ts'
import { median } from './statistics.ts'

const connections = 32
// More than all rounds record. Not unlimited, because a limit has to be counted.
const settings = { PLAN_LIMITS: 'business=100000000' }
const warmUpSeconds = 1
const root = fileURLToPath(new URL('..', import.meta.url))
const bareServer = fileURLToPath(new URL('./bare.ts', import.meta.url))

type Engine = 'sqlite' | 'postgres'
const engines = ['sqlite', 'postgres'] as const
const operations = ['POST signals', 'GET history'] as const

interface Measured {
  requestsPerSecond: number
  /** Processor time of the service, without that of PostgreSQL. */
  microsecondsPerRequest: number
}

/** By server, then by operation, a measurement of each round. */
export type Comparison = Record<string, Record<string, Measured[]>>

/**
 * Measures this working tree and another commit in turns, so that both see the same machine. Processor time per request says more than
 * requests per second where the machine is shared.
 */
export async function compareWith(
  commit: string,
  createDatabase: (engine: Engine) => Promise<string>,
  folder: string,
  rounds: number,
  seconds: number,
): Promise<Comparison> {
  const other = checkOut(commit, join(folder, 'other'))
  const ofOther: typeof import('./requests.ts') = await import(join(folder, 'other/bench/requests.ts'))
  const targets = new Map<string, { start: () => Promise<RunningProcess>; accounts: Account[] }>()
  for (const engine of engines) {
    // Databases of their own, because migrations of one may be unknown to the other.
    const versions = [
      { name: commit, script: other, ...ofOther },
      { name: 'this', script: mainScript, fillAccounts, savePage },
    ]
    for (const { name, script, ...requests } of versions) {
      const url = await createDatabase(engine)
      const accounts = await requests.fillAccounts(url)
      targets.set(`${name} on ${engine}`, { start: () => serve(url, settings, 0, script), accounts })
      if (targets.size > 1) continue
      const page = await requests.savePage(url, accounts[0] as Account, folder)
      targets.set('bare', { start: () => startProcess(bareServer, [page]), accounts })
    }
  }
  const comparison: Comparison = {}
  try {
    for (let round = 0; round < rounds; round++) {
      for (const [name, { start, accounts }] of targets) {
        const service = await start()
        const history = [historyRequest(accounts[0] as Account)]
        const measured = [
          await measure(service, accounts.map(signalRequest), 201, seconds),
          await measure(service, history, 200, seconds),
        ]
        await service.stop()
        const results = comparison[name] ?? {}
        comparison[name] = results
        for (const [i, operation] of operations.entries()) {
          results[operation] = [...(results[operation] ?? []), measured[i] as Measured]
        }
      }
    }
  } finally {
    execFileSync('git', ['-C', root, 'worktree', 'remove', '--force', join(folder, 'other')])
  }
  return comparison
}

/** The start script of a commit, with the packages that are installed here. */
function checkOut(commit: string, folder: string): string {
  execFileSync('git', ['-C', root, 'worktree', 'add', '--quiet', '--detach', folder, commit])
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  return join(folder, 'server/src/main.ts')
}

async function measure(
  service: RunningProcess,
  requests: string[],
  expectedStatus: number,
  seconds: number,
): Promise<Measured> {
  const options = { port: service.port, requests, expectedStatus, connections }
  await load({ ...options, seconds: warmUpSeconds })
  const before = processorSeconds(service)
  const startedAt = performance.now()
  const { requestsPerSecond } = await load({ ...options, seconds })
  const count = (requestsPerSecond * (performance.now() - startedAt)) / 1_000
  return { requestsPerSecond, microsecondsPerRequest: ((processorSeconds(service) - before) * 1_000_000) / count }
}

export function reportComparison(comparison: Comparison): string {
  const rows = operations.flatMap((operation) =>
    Object.entries(comparison).map(([server, measured]) => {
      const rounds = measured[operation] as Measured[]
      const bare = comparison.bare?.[operation] as Measured[]
      const times = rounds.map(({ microsecondsPerRequest }) => microsecondsPerRequest)
      const ofBare = median(times) / median(bare.map(({ microsecondsPerRequest }) => microsecondsPerRequest))
      const rate = (of: Measured[]) => median(of.map(({ requestsPerSecond }) => requestsPerSecond))
      const spread = `${Math.min(...times).toFixed(0)} to ${Math.max(...times).toFixed(0)}`
      return (
        `| ${operation} | ${server} | ${rate(rounds).toFixed(0)} | ${(rate(rounds) / rate(bare)).toFixed(2)} | ` +
        `${median(times).toFixed(0)} | ${spread} | ${ofBare.toFixed(2)} |`
      )
    }),
  )
  return [
    '| operation | server | requests/s | vs bare | processor time of the service, µs per request | spread | vs bare |',
    '|---|---|---:|---:|---:|---:|---:|',
    ...rows,
  ].join('\n')
}
