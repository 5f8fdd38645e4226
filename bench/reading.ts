import { createAccount } from '../testing/account.ts'
import { serve } from '../testing/processes.ts'
import { fillHistory, fillPrompts, fillSignals, fillVersions } from './fill.ts'
import { listRequest, load, readRequest } from './load.ts'

type Engine = 'sqlite' | 'postgres'

const signals = 1_000_000
const changes = 1_000
const deployments = 5_000
const prompts = 10_000
const seconds = 3

/** Milliseconds. */
interface Latency {
  p50: number
  p99: number
}

export type Reading = Record<string, Record<Engine, Latency>>

// Signals and changes are spread over this year, the changes at odd times within hours.
const year = 'from=2024-01-01T00:00:00Z&to=2025-01-01T00:00:00Z'
const paths: Record<string, string> = {
  'summary of a year by day': `signals/summary?${year}&interval=day`,
  'impact, first page': 'impact',
  'impact, last page': `impact?page=${changes / 25}`,
  'timeline, first page': 'timeline',
  shifts: 'shifts',
  'signals, first page': 'signals',
  'signals, page 20,000': 'signals?page=20000',
  'signals, negative ones since July, page 10': 'signals?value=negative&since=2024-07-01T00:30:00Z&page=10',
}

// The same amounts, with a version in every signal and deployments that decide what was live.
const versionedPaths: Record<string, string> = {
  'with versions and 5,000 deployments: summary of a year by day': `signals/summary?${year}&interval=day`,
  'with versions and 5,000 deployments: impact, first page': 'impact',
  'with versions and 5,000 deployments: impact, last page': `impact?page=${changes / 25}`,
  'with versions and 5,000 deployments: timeline, first page': 'timeline',
  'with versions and 5,000 deployments: live': 'live?at=2024-07-01T00:30:00Z',
}

// 10,000 prompts. Those of the page have 4,000 signals each.
const listPaths: Record<string, string> = {
  '10,000 prompts: first page of 25': '?limit=25',
  '10,000 prompts: first page of 100': '?limit=100',
  '10,000 prompts: by regression, page of 100': '?limit=100&sort=regression',
}

/** Latency of reads over many signals, one request at a time. */
export async function measureReading(urls: Record<Engine, string>): Promise<Reading> {
  const [sqlite, postgres] = [await readingOf(urls.sqlite), await readingOf(urls.postgres)]
  return Object.fromEntries(
    Object.keys(sqlite).map((name) => [name, { sqlite: sqlite[name] as Latency, postgres: postgres[name] as Latency }]),
  )
}

async function readingOf(url: string): Promise<Record<string, Latency>> {
  const account = await createAccount(url, 'business')
  await fillHistory(url, account, changes, { start: Date.UTC(2024, 0), stepMs: (365 * 86_400_000) / changes + 1_234 })
  await fillSignals(url, account, signals)
  const versioned = await createAccount(url, 'business')
  const steps = { start: Date.UTC(2024, 0), stepMs: (365 * 86_400_000) / changes }
  await fillHistory(url, versioned, changes, steps)
  await fillVersions(url, versioned, { signals, changes, deployments })
  const listed = await createAccount(url, 'business')
  await fillPrompts(url, listed, { prompts, signalsOfFirst: 4_000, signalsOfOthers: 20 })
  const service = await serve(url)
  const latencies: Record<string, Latency> = {}
  const measured = [
    ...Object.entries(paths).map(([name, path]) => [name, readRequest(account, path)] as const),
    ...Object.entries(versionedPaths).map(([name, path]) => [name, readRequest(versioned, path)] as const),
    ...Object.entries(listPaths).map(([name, path]) => [name, listRequest(listed, path)] as const),
  ]
  for (const [name, text] of measured) {
    const request = { port: service.port, requests: [text], expectedStatus: 200, connections: 1 }
    await load({ ...request, seconds: 1 })
    const { p50, p99 } = await load({ ...request, seconds })
    latencies[name] = { p50, p99 }
  }
  await service.stop()
  return latencies
}

export function reportReading(reading: Reading): string {
  const cell = ({ p50, p99 }: Latency) => `${p50.toFixed(1)} / ${p99.toFixed(1)}`
  return [
    '',
    '| 1,000,000 signals, 1,000 changes: p50 / p99, ms | SQLite | PostgreSQL |',
    '|---|---:|---:|',
    ...Object.entries(reading).map(([name, at]) => `| ${name} | ${cell(at.sqlite)} | ${cell(at.postgres)} |`),
  ].join('\n')
}
