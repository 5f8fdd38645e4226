import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { startPostgres } from '../server/test/postgres.ts'
import { measureGrowth } from './growth.ts'
import { type LoadResult, load } from './load.ts'
import { type Running, residentMemory, serve, start, stop } from './processes.ts'
import { fillHistory, historyRequest, newSubject, type Subject, signalRequest } from './subject.ts'

const { values: options } = parseArgs({
  options: {
    large: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '4' },
  },
})
const rounds = Number(options.rounds)
const seconds = Number(options.seconds)
const connections = 32
// Each organisation may record 100,000 signals a month; together they may record what the rounds need.
const organisations = 4

const folder = await mkdtemp(join(tmpdir(), 'promptledger-bench-'))
const postgres = await startPostgres()
const urls = { sqlite: `sqlite:${join(folder, 'bench.db')}`, postgres: postgres.url }
const engines = ['sqlite', 'postgres'] as const

try {
  const subjects = { sqlite: await prepare(urls.sqlite), postgres: await prepare(urls.postgres) }
  const services = { sqlite: await serve(urls.sqlite), postgres: await serve(urls.postgres) }
  const page = await samplePage(services.sqlite, subjects.sqlite[0] as Subject)
  const bare = await start(fileURLToPath(new URL('./bare.ts', import.meta.url)), [page])

  const targets = {
    bare: { port: bare.port, subjects: subjects.sqlite },
    sqlite: { port: services.sqlite.port, subjects: subjects.sqlite },
    postgres: { port: services.postgres.port, subjects: subjects.postgres },
  }
  const post = await compare(targets, 201, (all) => all.map(signalRequest))
  const get = await compare(targets, 200, (all) => [historyRequest(all[0] as Subject)])
  const memory = { sqlite: residentMemory(services.sqlite), postgres: residentMemory(services.postgres) }
  for (const running of [bare, services.sqlite, services.postgres]) await stop(running)
  const startup = { sqlite: await startTime(urls.sqlite), postgres: await startTime(urls.postgres) }
  const growth = options.large ? await measureGrowth(urls, seconds) : null

  const results = { machine: machine(), rounds, seconds, connections, post, get, memory, startup, growth }
  process.stdout.write(`${report(results)}\n${JSON.stringify(results)}\n`)
} finally {
  await postgres.stop()
  await rm(folder, { recursive: true, force: true })
}

async function prepare(url: string): Promise<Subject[]> {
  const subjects: Subject[] = []
  for (let i = 0; i < organisations; i++) subjects.push(await newSubject(url))
  await fillHistory(url, subjects[0] as Subject, 1_000)
  return subjects
}

/** Writes a page of history as the service sends it, for the bare server to send. */
async function samplePage({ port }: Running, { key, promptId }: Subject): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/api/v1/prompts/${promptId}/history`, {
    headers: { authorization: `Bearer ${key}` },
  })
  const file = join(folder, 'page.json')
  await writeFile(file, Buffer.from(await response.arrayBuffer()))
  return file
}

type Name = 'bare' | 'sqlite' | 'postgres'
type Measured = Record<Name, LoadResult>

/** Each round measures all three, one after the other, so that a slow moment of the machine meets them alike. */
async function compare(
  targets: Record<Name, { port: number; subjects: Subject[] }>,
  expectedStatus: number,
  requestsOf: (subjects: Subject[]) => string[],
): Promise<Measured> {
  const results: Record<Name, LoadResult[]> = { bare: [], sqlite: [], postgres: [] }
  // The first round only warms up.
  for (let round = 0; round <= rounds; round++) {
    for (const name of ['bare', ...engines] as Name[]) {
      const { port, subjects } = targets[name]
      const requests = requestsOf(subjects)
      const result = await load({ port, requests, expectedStatus, connections, seconds: round === 0 ? 2 : seconds })
      if (round > 0) results[name].push(result)
    }
  }
  return { bare: median(results.bare), sqlite: median(results.sqlite), postgres: median(results.postgres) }
}

function median(results: LoadResult[]): LoadResult {
  const middle = (pick: (result: LoadResult) => number) =>
    results.map(pick).sort((a, b) => a - b)[Math.floor(results.length / 2)] as number
  return {
    requestsPerSecond: middle(({ requestsPerSecond }) => requestsPerSecond),
    p50: middle(({ p50 }) => p50),
    p99: middle(({ p99 }) => p99),
  }
}

async function startTime(url: string): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < 5; i++) {
    const running = await serve(url)
    times.push(running.startedIn)
    await stop(running)
  }
  return times.sort((a, b) => a - b)[2] as number
}

function machine(): string {
  return `${cpus().length} × ${process.arch}, Node ${process.version}, ${process.platform}`
}

interface Results {
  machine: string
  post: Measured
  get: Measured
  memory: { sqlite: number; postgres: number }
  startup: { sqlite: number; postgres: number }
  growth: Awaited<ReturnType<typeof measureGrowth>> | null
}

function report({ machine, post, get, memory, startup, growth }: Results): string {
  const lines = [
    `${new Date().toISOString().slice(0, 10)}, ${machine}; ${connections} connections, median of ${rounds} rounds of ${seconds} s`,
    '',
    '| operation | server | requests/s | of bare | p50 ms | p99 ms | p99 of bare |',
    '|---|---|---:|---:|---:|---:|---:|',
    ...rows('POST signals', post),
    ...rows('GET history, 25 entries', get),
    '',
    '| | SQLite | PostgreSQL |',
    '|---|---:|---:|',
    `| resident memory afterwards, MB | ${memory.sqlite.toFixed(0)} | ${memory.postgres.toFixed(0)} |`,
    `| ready after, s | ${(startup.sqlite / 1_000).toFixed(2)} | ${(startup.postgres / 1_000).toFixed(2)} |`,
  ]
  if (growth !== null) {
    lines.push('', '| growth: throughput of the large over the small | SQLite | PostgreSQL |', '|---|---:|---:|')
    for (const [name, { sqlite, postgres }] of Object.entries(growth)) {
      lines.push(`| ${name} | ${sqlite.toFixed(2)} | ${postgres.toFixed(2)} |`)
    }
  }
  return lines.join('\n')
}

function rows(operation: string, measured: Measured): string[] {
  return (['bare', ...engines] as const).map((name) => {
    const { requestsPerSecond, p50, p99 } = measured[name]
    const rate = (requestsPerSecond / measured.bare.requestsPerSecond).toFixed(2)
    const wait = (p99 / measured.bare.p99).toFixed(1)
    return `| ${operation} | ${name} | ${requestsPerSecond.toFixed(0)} | ${rate} | ${p50.toFixed(1)} | ${p99.toFixed(1)} | ${wait} |`
  })
}
