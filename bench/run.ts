import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { startPostgres } from '../testing/postgres.ts'
import { type Running, residentMemory, serve, start, stop } from '../testing/processes.ts'
import { measureGrowth } from './growth.ts'
import { type LoadResult, load } from './load.ts'
import { median } from './median.ts'
import { measureReading, reportReading } from './reading.ts'
import { measureRepositories, reportRepositories } from './repositories.ts'
import { measureSize, reportSize } from './size.ts'
import { fillHistory, historyRequest, newSubject, type Subject, signalRequest } from './subject.ts'

const { values: options } = parseArgs({
  options: {
    large: { type: 'boolean', default: false },
    /** `requests`, `reading`, `repositories` or `size`; all of them where it is not given. */
    only: { type: 'string' },
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
const bareServer = fileURLToPath(new URL('./bare.ts', import.meta.url))
const names = ['bare', 'sqlite', 'postgres'] as const
const warmUp = 2

type Name = (typeof names)[number]

interface Target {
  start: () => Promise<Running>
  subjects: Subject[]
}

interface Round {
  post: LoadResult
  get: LoadResult
  memory: number
  startedIn: number
}

interface Medians {
  post: Record<Name, LoadResult>
  get: Record<Name, LoadResult>
  memory: Record<Name, number>
  startup: Record<Name, number>
}

try {
  const wanted = (name: string) => options.only === undefined || options.only === name
  const requests = wanted('requests') ? await measureRequests() : {}
  const reading = wanted('reading') ? await measureReading(urls) : null
  if (reading !== null) process.stdout.write(`${reportReading(reading)}\n`)
  const repositories = wanted('repositories') ? await measureRepositories(urls, folder) : null
  if (repositories !== null) process.stdout.write(`${reportRepositories(repositories)}\n`)
  const size = wanted('size') ? await measureSize(newDatabase) : null
  if (size !== null) process.stdout.write(`${reportSize(size)}\n`)
  process.stdout.write(`${JSON.stringify({ machine: machine(), ...requests, reading, repositories, size })}\n`)
} finally {
  await postgres.stop()
  await rm(folder, { recursive: true, force: true })
}

async function newDatabase(engine: 'sqlite' | 'postgres'): Promise<string> {
  const name = `bench_${randomUUID().replaceAll('-', '')}`
  if (engine === 'sqlite') return `sqlite:${join(folder, `${name}.db`)}`
  const client = new pg.Client(postgres.url)
  await client.connect()
  await client.query(`create database ${name}`)
  await client.end()
  const url = new URL(postgres.url)
  url.pathname = `/${name}`
  return url.href
}

async function measureRequests() {
  const subjects = { sqlite: await prepare(urls.sqlite), postgres: await prepare(urls.postgres) }
  const page = await samplePage(urls.sqlite, subjects.sqlite[0] as Subject)
  const targets: Record<Name, Target> = {
    bare: { start: () => start(bareServer, [page]), subjects: subjects.sqlite },
    sqlite: { start: () => serve(urls.sqlite), subjects: subjects.sqlite },
    postgres: { start: () => serve(urls.postgres), subjects: subjects.postgres },
  }
  const measured: Record<Name, Round[]> = { bare: [], sqlite: [], postgres: [] }
  for (let round = 0; round < rounds; round++) {
    for (const name of names) measured[name].push(await measure(targets[name]))
  }
  const results = { rounds, seconds, connections, ...medians(measured) }
  process.stdout.write(`${report(results)}\n`)
  const growth = options.large ? await measureGrowth(urls, seconds) : null
  if (growth !== null) process.stdout.write(`${reportGrowth(growth)}\n`)
  return { ...results, growth }
}

async function prepare(url: string): Promise<Subject[]> {
  const subjects: Subject[] = []
  for (let i = 0; i < organisations; i++) subjects.push(await newSubject(url))
  await fillHistory(url, subjects[0] as Subject, 1_000)
  return subjects
}

/** Writes a page of history as the service sends it, for the bare server to send. */
async function samplePage(url: string, { key, promptId }: Subject): Promise<string> {
  const service = await serve(url)
  const response = await fetch(`http://127.0.0.1:${service.port}/api/v1/prompts/${promptId}/history`, {
    headers: { authorization: `Bearer ${key}` },
  })
  const file = join(folder, 'page.json')
  await writeFile(file, Buffer.from(await response.arrayBuffer()))
  await stop(service)
  return file
}

/**
 * One round of one server, in a process of its own: the same code can be a tenth faster or slower from one process to the
 * next, so a figure from a single one means little.
 */
async function measure({ start, subjects }: Target): Promise<Round> {
  const running = await start()
  const run = (requests: string[], expectedStatus: number, duration: number) =>
    load({ port: running.port, requests, expectedStatus, connections, seconds: duration })
  const signals = subjects.map(signalRequest)
  const history = [historyRequest(subjects[0] as Subject)]
  await run(signals, 201, warmUp)
  const post = await run(signals, 201, seconds)
  await run(history, 200, warmUp)
  const get = await run(history, 200, seconds)
  const memory = residentMemory(running)
  await stop(running)
  return { post, get, memory, startedIn: running.startedIn }
}

function medians(measured: Record<Name, Round[]>): Medians {
  const each = <T>(pick: (rounds: Round[]) => T) => ({
    bare: pick(measured.bare),
    sqlite: pick(measured.sqlite),
    postgres: pick(measured.postgres),
  })
  return {
    post: each((all) => medianLoad(all.map(({ post }) => post))),
    get: each((all) => medianLoad(all.map(({ get }) => get))),
    memory: each((all) => median(all.map(({ memory }) => memory))),
    startup: each((all) => median(all.map(({ startedIn }) => startedIn))),
  }
}

function medianLoad(results: LoadResult[]): LoadResult {
  return {
    requestsPerSecond: median(results.map(({ requestsPerSecond }) => requestsPerSecond)),
    p50: median(results.map(({ p50 }) => p50)),
    p99: median(results.map(({ p99 }) => p99)),
  }
}

function machine(): string {
  return `${cpus().length} × ${process.arch}, Node ${process.version}, ${process.platform}`
}

function report({ post, get, memory, startup }: Medians): string {
  return [
    `${new Date().toISOString().slice(0, 10)}, ${machine()}; ${connections} connections, median of ${rounds} rounds of ${seconds} s`,
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
  ].join('\n')
}

function reportGrowth(growth: Awaited<ReturnType<typeof measureGrowth>>): string {
  return [
    '',
    '| growth: throughput of the large over the small | SQLite | PostgreSQL |',
    '|---|---:|---:|',
    ...Object.entries(growth).map(
      ([name, { sqlite, postgres }]) => `| ${name} | ${sqlite.toFixed(2)} | ${postgres.toFixed(2)} |`,
    ),
  ].join('\n')
}

function rows(operation: string, measured: Record<Name, LoadResult>): string[] {
  return names.map((name) => {
    const { requestsPerSecond, p50, p99 } = measured[name]
    const rate = (requestsPerSecond / measured.bare.requestsPerSecond).toFixed(2)
    const wait = (p99 / measured.bare.p99).toFixed(1)
    return `| ${operation} | ${name} | ${requestsPerSecond.toFixed(0)} | ${rate} | ${p50.toFixed(1)} | ${p99.toFixed(1)} | ${wait} |`
  })
}
