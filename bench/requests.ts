import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { buildPackage } from '../packaging/build.ts'
import { type Account, createAccount } from '../testing/account.ts'
import { memoryOf, type RunningProcess, serve, startProcess } from '../testing/processes.ts'
import { fillHistory } from './fill.ts'
import { historyRequest, type LoadResult, load, signalRequest } from './load.ts'
import { median } from './statistics.ts'

const connections = 32
const organisations = 4
// More than all rounds record. Not unlimited, because a limit has to be counted.
const settings = { PLAN_LIMITS: 'business=100000000' }
const warmUpSeconds = 2
const bareServer = fileURLToPath(new URL('./bare.ts', import.meta.url))
/** From the sources, and from the package that people install. */
const servers = ['bare', 'sqlite', 'postgres', 'package on sqlite', 'package on postgres'] as const

type Server = (typeof servers)[number]

interface Target {
  start: () => Promise<RunningProcess>
  accounts: Account[]
}

interface Round {
  post: LoadResult
  get: LoadResult
  memory: number
  startup: number
}

/** Medians over all rounds: requests/s, latency in milliseconds, memory in megabytes, start-up in milliseconds. */
export interface Requests {
  rounds: number
  seconds: number
  connections: number
  post: Record<Server, LoadResult>
  get: Record<Server, LoadResult>
  memory: Record<Server, number>
  startup: Record<Server, number>
}

/** Throughput and latency of the two main operations, beside a bare server that does the least possible work for each. */
export async function measureRequests(
  urls: Record<'sqlite' | 'postgres', string>,
  folder: string,
  rounds: number,
  seconds: number,
): Promise<Requests> {
  const accounts = { sqlite: await fillAccounts(urls.sqlite), postgres: await fillAccounts(urls.postgres) }
  const page = await savePage(urls.sqlite, accounts.sqlite[0] as Account, folder)
  await buildPackage(pathToFileURL(`${folder}/package/`))
  const fromPackage = (url: string) => serve(url, settings, 0, join(folder, 'package/dist/bin.js'))
  const targets: Record<Server, Target> = {
    bare: { start: () => startProcess(bareServer, [page]), accounts: accounts.sqlite },
    sqlite: { start: () => serve(urls.sqlite, settings), accounts: accounts.sqlite },
    postgres: { start: () => serve(urls.postgres, settings), accounts: accounts.postgres },
    'package on sqlite': { start: () => fromPackage(urls.sqlite), accounts: accounts.sqlite },
    'package on postgres': { start: () => fromPackage(urls.postgres), accounts: accounts.postgres },
  }
  const each = <T>(pick: (server: Server) => T) =>
    Object.fromEntries(servers.map((server) => [server, pick(server)])) as Record<Server, T>
  const measured = each((): Round[] => [])
  for (let round = 0; round < rounds; round++) {
    for (const server of servers) measured[server].push(await measureRound(targets[server], seconds))
  }
  const medians = <T>(pick: (rounds: Round[]) => T) => each((server) => pick(measured[server]))
  return {
    rounds,
    seconds,
    connections,
    post: medians((all) => medianLoad(all.map(({ post }) => post))),
    get: medians((all) => medianLoad(all.map(({ get }) => get))),
    memory: medians((all) => median(all.map(({ memory }) => memory))),
    startup: medians((all) => median(all.map(({ startup }) => startup))),
  }
}

/** Creates organisations, the first with a history. */
export async function fillAccounts(url: string): Promise<Account[]> {
  const accounts: Account[] = []
  for (let i = 0; i < organisations; i++) accounts.push(await createAccount(url, 'business'))
  await fillHistory(url, accounts[0] as Account, 1_000)
  return accounts
}

/** Saves a page of history exactly as the service sends it, for the bare server to send. */
export async function savePage(url: string, { key, promptId }: Account, folder: string): Promise<string> {
  const service = await serve(url)
  const response = await fetch(`${service.address}/api/v1/prompts/${promptId}/history`, {
    headers: { authorization: `Bearer ${key}` },
  })
  const file = join(folder, 'page.json')
  await writeFile(file, Buffer.from(await response.arrayBuffer()))
  await service.stop()
  return file
}

/**
 * One round of one server, in a new process: the same code can be 10% faster or slower from one process to the next, so results
 * of a single process mean little.
 */
async function measureRound({ start, accounts }: Target, seconds: number): Promise<Round> {
  const server = await start()
  const run = (requests: string[], expectedStatus: number, duration: number) =>
    load({ port: server.port, requests, expectedStatus, connections, seconds: duration })
  const signals = accounts.map(signalRequest)
  const history = [historyRequest(accounts[0] as Account)]
  await run(signals, 201, warmUpSeconds)
  const post = await run(signals, 201, seconds)
  await run(history, 200, warmUpSeconds)
  const get = await run(history, 200, seconds)
  const memory = memoryOf(server).resident
  await server.stop()
  return { post, get, memory, startup: server.startupMs }
}

function medianLoad(results: LoadResult[]): LoadResult {
  return {
    requestsPerSecond: median(results.map(({ requestsPerSecond }) => requestsPerSecond)),
    p50: median(results.map(({ p50 }) => p50)),
    p99: median(results.map(({ p99 }) => p99)),
  }
}

export function reportRequests({ rounds, seconds, post, get, memory, startup }: Requests): string {
  return [
    `${connections} connections, median of ${rounds} rounds of ${seconds} s`,
    '',
    '| operation | server | requests/s | vs bare | p50, ms | p99, ms | p99 vs bare |',
    '|---|---|---:|---:|---:|---:|---:|',
    ...rows('POST signals', post),
    ...rows('GET history, 25 entries', get),
    '',
    '| server | resident memory after the load, MB | start-up, s |',
    '|---|---:|---:|',
    ...servers.map(
      (server) => `| ${server} | ${memory[server].toFixed(0)} | ${(startup[server] / 1_000).toFixed(2)} |`,
    ),
  ].join('\n')
}

function rows(operation: string, measured: Record<Server, LoadResult>): string[] {
  return servers.map((server) => {
    const { requestsPerSecond, p50, p99 } = measured[server]
    const rate = (requestsPerSecond / measured.bare.requestsPerSecond).toFixed(2)
    const latency = (p99 / measured.bare.p99).toFixed(1)
    return `| ${operation} | ${server} | ${requestsPerSecond.toFixed(0)} | ${rate} | ${p50.toFixed(1)} | ${p99.toFixed(1)} | ${latency} |`
  })
}
