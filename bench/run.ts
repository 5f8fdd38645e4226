import { execFile } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import pg from 'pg'
import { eventually } from '../testing/eventually.ts'
import { deliveriesFrom } from '../testing/payloads/deliveries.ts'
import { startPostgres } from '../testing/postgres.ts'
import { serve } from '../testing/processes.ts'
import { generateRepository } from '../testing/sample-repository.ts'
import { type Backfill, measureBackfill, reportBackfill } from './backfill.ts'
import { compareWith, reportComparison } from './compare.ts'
import { type Deliveries, measureDeliveries } from './deliveries.ts'
import { measureGrowth, reportGrowth } from './growth.ts'
import {
  type ConnectedRepository,
  connectRepository,
  createOwner,
  type Installation,
  webhookAt,
} from './installation.ts'
import { measureReading, reportReading } from './reading.ts'
import { measureRequests, reportRequests } from './requests.ts'
import { measureSize, reportSize } from './size.ts'
import { type Percentiles, percentiles } from './statistics.ts'
import { measureTokens, reportTokens } from './tokens.ts'
import { measureVotes, reportVotes } from './votes.ts'
import { measureWriters, reportWriters } from './writers.ts'

const run = promisify(execFile)
const pushes = 30
const pollIntervalMs = 3

/** Milliseconds from sending the delivery of a completed push until the history lists the entry. */
async function measurePush(installation: Installation, folder: string): Promise<Percentiles> {
  const remote = join(folder, `push-${installation.engine}.git`)
  const checkout = join(folder, `push-${installation.engine}`)
  await generateRepository(remote, 5_000, 100)
  await run('git', ['clone', '--quiet', remote, checkout])
  const owner = await createOwner(installation)
  const { value: connected } = await connectRepository(installation, owner, remote)
  const service = await serve(installation.url, installation.env)
  const forge = deliveriesFrom('github', connected.webhook_secret)
  const headers = { authorization: `Bearer ${owner.key}` }
  const latencies: number[] = []
  for (let i = 0; i < pushes; i++) {
    const { id, path } = connected.prompts[i] as ConnectedRepository['prompts'][0]
    const { before, after } = await pushChange(checkout, path, `Be kind, version ${i}.\n`)
    const delivery = forge.push({ before, after, commits: [{ sha: after }] })
    const startedAt = performance.now()
    const response = await fetch(webhookAt(service.port, connected), {
      method: 'POST',
      headers: delivery.headers,
      body: new Uint8Array(delivery.body),
    })
    if (response.status !== 202) throw new Error(`the delivery was answered with ${response.status}`)
    const history = `${service.address}/api/v1/prompts/${id}/history?limit=1`
    await eventually(
      async () => {
        const { data } = (await (await fetch(history, { headers })).json()) as { data: { commit_sha: string }[] }
        return data[0]?.commit_sha === after
      },
      { timeoutMs: 60_000, intervalMs: pollIntervalMs },
    )
    latencies.push(performance.now() - startedAt)
  }
  await service.stop()
  return percentiles(latencies)
}

/** Commits and pushes a change, and returns the branch's commits before and after. */
async function pushChange(checkout: string, path: string, text: string): Promise<{ before: string; after: string }> {
  const git = async (...args: string[]) => (await run('git', ['-C', checkout, ...args])).stdout.trim()
  const before = await git('rev-parse', 'HEAD')
  await writeFile(join(checkout, path), text)
  const author = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com']
  await git(...author, 'commit', '--quiet', '--all', '--message', `Change ${path}`)
  await git('push', '--quiet', 'origin', 'main')
  return { before, after: await git('rev-parse', 'HEAD') }
}

type Engine = Installation['engine']

interface Repositories {
  backfill: Backfill[]
  push: Record<Engine, Percentiles>
  deliveries: Record<Engine, Deliveries>
}

/** How fast history comes from git: on the first sync, after a push, and while many webhook deliveries arrive. */
async function measureRepositories(urls: Record<Engine, string>, folder: string): Promise<Repositories> {
  const secretKey = randomBytes(32).toString('hex')
  const installation = (engine: Engine): Installation => ({
    engine,
    url: urls[engine],
    env: { DATABASE_URL: urls[engine], DATA_DIR: join(folder, engine), PROMPTLEDGER_SECRET_KEY: secretKey },
  })
  const [sqlite, postgres] = [installation('sqlite'), installation('postgres')]
  return {
    backfill: await measureBackfill([sqlite, postgres], folder),
    push: { sqlite: await measurePush(sqlite, folder), postgres: await measurePush(postgres, folder) },
    deliveries: {
      sqlite: await measureDeliveries(sqlite, folder),
      postgres: await measureDeliveries(postgres, folder),
    },
  }
}

function reportRepositories({ backfill, push, deliveries }: Repositories): string {
  const cells = (of: Record<Engine, Percentiles>, ...names: (keyof Percentiles)[]) =>
    [of.sqlite, of.postgres].map((one) => names.map((name) => one[name].toFixed(0)).join(' / ')).join(' | ')
  const { sqlite, postgres } = deliveries
  return [
    '',
    ...reportBackfill(backfill),
    '',
    '| | SQLite | PostgreSQL |',
    '|---|---:|---:|',
    `| push to entry, p50 / p95, ms | ${cells(push, 'p50', 'p95')} |`,
    `| webhook response at 200 deliveries/s, p50 / p99 / max, ms | ${cells(deliveries, 'p50', 'p99', 'max')} |`,
    `| backlog cleared after the last of 4,000 deliveries, s | ${sqlite.clearedAfter.toFixed(1)} | ${postgres.clearedAfter.toFixed(1)} |`,
  ].join('\n')
}

const usage = `Measures the service on SQLite and PostgreSQL against a bare node:http server. Prints tables, then everything as one JSON line.

npm run bench                      all parts
npm run bench -- --only requests   one part:
                                     requests      throughput and latency of signals and history, memory, start-up
                                     votes         signals with a version and a subject, and batches, beside plain ones
                                     tokens        latency of the API beside 1,000 votes a second from pages
                                     writers       four processes on PostgreSQL that record for one organisation, or for one each
                                     reading       latency of lists and summaries of 1,000,000 signals
                                     repositories  backfill, push to entry, webhook deliveries
                                     size          bytes per signal
npm run bench -- --rounds 5        rounds per server in "requests", "votes", "tokens" and "writers"
npm run bench -- --seconds 4       seconds per round and operation in "requests", "votes", "tokens" and "writers"
npm run bench -- --compare HEAD~1  only compares signals and history with another commit, in turns and by processor time
npm run bench -- --large           adds a growth table to "requests": 1,000,000 entries and 10,000,000 signals, 15 minutes more
`

const parts = ['requests', 'votes', 'tokens', 'writers', 'reading', 'repositories', 'size']

const { values: options } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    compare: { type: 'string' },
    large: { type: 'boolean', default: false },
    only: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '4' },
  },
})
const { help, only, large, compare } = options
const [rounds, seconds] = [Number(options.rounds), Number(options.seconds)]

if (help) process.stdout.write(usage)
else if (only !== undefined && !parts.includes(only)) fail(`Unknown part ${only}: use one of ${parts.join(', ')}.`)
else if (!(rounds >= 1 && seconds > 0)) fail('--rounds and --seconds must be positive numbers.')
else await main()

function fail(message: string): void {
  process.stderr.write(`${message}\n\n${usage}`)
  process.exitCode = 2
}

async function main(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'promptledger-bench-'))
  const postgres = await startPostgres()
  const urls = { sqlite: `sqlite:${join(folder, 'bench.db')}`, postgres: postgres.url }
  const machine = `${cpus().length} × ${process.arch}, Node ${process.version}, ${process.platform}`
  const results: Record<string, unknown> = { machine }

  /** Measures one part if it was asked for, prints its table and returns its results. */
  async function part<Result>(
    name: string,
    measure: () => Promise<Result>,
    report: (result: Result) => string,
  ): Promise<Result | null> {
    if (only !== undefined && only !== name) return null
    const result = await measure()
    process.stdout.write(`${report(result)}\n`)
    return result
  }

  async function createDatabase(engine: 'sqlite' | 'postgres'): Promise<string> {
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

  try {
    process.stdout.write(`${new Date().toISOString().slice(0, 10)}, ${machine}\n`)
    if (compare !== undefined) {
      const comparison = await compareWith(compare, createDatabase, folder, rounds, seconds)
      process.stdout.write(`${reportComparison(comparison)}\n`)
      return
    }
    const requests = await part('requests', () => measureRequests(urls, folder, rounds, seconds), reportRequests)
    Object.assign(results, requests)
    if (requests !== null && large) {
      const growth = await measureGrowth(urls, seconds)
      process.stdout.write(`${reportGrowth(growth)}\n`)
      results.growth = growth
    }
    results.votes = await part('votes', () => measureVotes(createDatabase, rounds, seconds), reportVotes)
    results.tokens = await part('tokens', () => measureTokens(createDatabase, rounds, seconds), reportTokens)
    results.writers = await part('writers', () => measureWriters(createDatabase, rounds, seconds), reportWriters)
    results.reading = await part('reading', () => measureReading(urls), reportReading)
    results.repositories = await part('repositories', () => measureRepositories(urls, folder), reportRepositories)
    results.size = await part('size', () => measureSize(createDatabase), reportSize)
    process.stdout.write(`${JSON.stringify(results)}\n`)
  } finally {
    await postgres.stop()
    await rm(folder, { recursive: true, force: true })
  }
}
