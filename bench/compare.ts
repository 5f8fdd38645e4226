import { execFileSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Account } from '../testing/account.ts'
import { mainScript, type RunningProcess, serve, startProcess, threadSeconds } from '../testing/processes.ts'
import { openSocket } from '../testing/socket.ts'
import { bytesAfter, historyRequest, signalRequest } from './load.ts'
import { fillAccounts, savePage } from './requests.ts'
import { median, quantile } from './statistics.ts'

const connections = 32
// More than all rounds record. Not unlimited, because a limit has to be counted.
const settings = { PLAN_LIMITS: 'business=100000000' }
const warmUpTurns = 40
const burstsPerTurn = 6
const root = fileURLToPath(new URL('..', import.meta.url))
const bareServer = fileURLToPath(new URL('./bare.ts', import.meta.url))

type Engine = 'sqlite' | 'postgres'
const engines = ['sqlite', 'postgres'] as const
const operations = {
  'POST signals': { status: 201, requests: (accounts: Account[]) => accounts.map(signalRequest) },
  'GET history': { status: 200, requests: ([account]: Account[]) => [historyRequest(account as Account)] },
}

/** By server, then by operation, the processor time of a request in each round, in microseconds, without that of PostgreSQL. */
export type Comparison = Record<string, Record<string, number[]>>

interface Server {
  name: string
  service: RunningProcess
  sockets: Socket[]
  accounts: Account[]
}

/**
 * Measures this working tree, another commit and the bare server at once: they take turns of a few milliseconds, so that all see the same
 * machine. Requests per second say nothing where the machine is shared, and neither does the processor time of seconds: neighbours slow
 * down the processor itself. The 25th percentile of short turns leaves out most of that.
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
      const servers: Server[] = []
      for (const [name, { start, accounts }] of targets) {
        servers.push({ name, service: await start(), sockets: [], accounts })
      }
      for (const server of servers) server.sockets = await openSockets(server.service.port)
      for (const operation of Object.keys(operations) as (keyof typeof operations)[]) {
        for (let turn = 0; turn < warmUpTurns; turn++) for (const server of servers) await takeTurn(server, operation)
        const turns = new Map<Server, number[]>(servers.map((server) => [server, []]))
        const end = performance.now() + seconds * servers.length * 1_000
        while (performance.now() < end) {
          for (const [server, times] of turns) times.push(await takeTurn(server, operation))
        }
        for (const [{ name }, times] of turns) {
          comparison[name] ??= {}
          comparison[name][operation] ??= []
          comparison[name][operation].push(quantile(times, 0.25))
        }
      }
      for (const { service, sockets } of servers) {
        for (const socket of sockets) socket.destroy()
        await service.stop()
      }
    }
  } finally {
    execFileSync('git', ['-C', root, 'worktree', 'remove', '--force', join(folder, 'other')])
  }
  return comparison
}

function openSockets(port: number): Promise<Socket[]> {
  return Promise.all(Array.from({ length: connections }, () => openSocket(port)))
}

/** Has one request of each connection arrive at the same time, several times. Returns the microseconds per request. */
async function takeTurn({ service, sockets, accounts }: Server, operation: keyof typeof operations): Promise<number> {
  const { status, requests } = operations[operation]
  const bytes = requests(accounts).map((request) => Buffer.from(request, 'latin1'))
  const before = threadSeconds(service)
  for (let burst = 0; burst < burstsPerTurn; burst++) {
    await Promise.all(sockets.map((socket, i) => exchange(socket, bytes[i % bytes.length] as Buffer, status)))
  }
  return ((threadSeconds(service) - before) * 1_000_000) / burstsPerTurn / connections
}

/** Sends a request and reads its response. */
function exchange(socket: Socket, request: Buffer, status: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let missing = 0
    const fail = () => reject(new Error('the server closed the connection'))
    socket.once('close', fail)
    socket.on('data', function read(chunk: Buffer) {
      missing = missing > 0 ? missing - chunk.length : bytesAfter(chunk, status)
      if (missing > 0) return
      socket.off('data', read).off('close', fail)
      resolve()
    })
    socket.write(request)
  })
}

/** The start script of a commit, with the packages that are installed here. */
function checkOut(commit: string, folder: string): string {
  execFileSync('git', ['-C', root, 'worktree', 'add', '--quiet', '--detach', folder, commit])
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  return join(folder, 'server/src/main.ts')
}

export function reportComparison(comparison: Comparison): string {
  const rows = Object.keys(operations).flatMap((operation) =>
    Object.entries(comparison).map(([server, measured]) => {
      const times = measured[operation] as number[]
      const ofBare = median(times) / median(comparison.bare?.[operation] as number[])
      const spread = `${Math.min(...times).toFixed(1)} to ${Math.max(...times).toFixed(1)}`
      return `| ${operation} | ${server} | ${median(times).toFixed(1)} | ${spread} | ${ofBare.toFixed(2)} |`
    }),
  )
  return [
    '| operation | server | processor time of the service, µs per request | spread of rounds | vs bare |',
    '|---|---|---:|---:|---:|',
    ...rows,
  ].join('\n')
}
