import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { startPostgres } from '../testing/postgres.ts'
import { compareWith, reportComparison } from './compare.ts'
import { measureGrowth, reportGrowth } from './growth.ts'
import { measureReading, reportReading } from './reading.ts'
import { measureRepositories, reportRepositories } from './repositories.ts'
import { measureRequests, reportRequests } from './requests.ts'
import { measureSize, reportSize } from './size.ts'
import { measureTokens, reportTokens } from './tokens.ts'
import { measureVotes, reportVotes } from './votes.ts'
import { measureWriters, reportWriters } from './writers.ts'

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
