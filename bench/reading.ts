import { serve, stop } from '../testing/processes.ts'
import { load } from './load.ts'
import { fillHistory, fillSignals, newSubject, type Subject } from './subject.ts'

type Name = 'sqlite' | 'postgres'

const signals = 1_000_000
const changes = 1_000
const seconds = 3

export type Reading = Record<string, Record<Name, { p50: number; p99: number }>>

// Signals and changes are spread over this year, the changes at odd times within hours.
const year = 'from=2024-01-01T00:00:00Z&to=2025-01-01T00:00:00Z'
const requests: Record<string, string> = {
  'summary of a year by day': `signals/summary?${year}&interval=day`,
  'impact, first page': 'impact',
  'impact, last page': `impact?page=${changes / 25}`,
  'signals, first page': 'signals',
  'signals, page 20,000': 'signals?page=20000',
  'signals, negative ones since July, page 10': 'signals?value=negative&since=2024-07-01T00:30:00Z&page=10',
}

/** How long it takes to look at many signals, one request at a time. */
export async function measureReading(urls: Record<Name, string>): Promise<Reading> {
  const [sqlite, postgres] = [await readingOf(urls.sqlite), await readingOf(urls.postgres)]
  const names = Object.keys(requests)
  return Object.fromEntries(
    names.map((name) => [name, { sqlite: sqlite[name], postgres: postgres[name] }]),
  ) as unknown as Reading
}

async function readingOf(url: string) {
  const subject = await newSubject(url)
  await fillHistory(url, subject, changes, { start: Date.UTC(2024, 0), step: (365 * 86_400_000) / changes + 1_234 })
  await fillSignals(url, subject, signals)
  const service = await serve(url)
  const found: Record<string, { p50: number; p99: number }> = {}
  for (const [name, path] of Object.entries(requests)) {
    const asked = { port: service.port, requests: [request(subject, path)], expectedStatus: 200, connections: 1 }
    await load({ ...asked, seconds: 1 })
    const { p50, p99 } = await load({ ...asked, seconds })
    found[name] = { p50, p99 }
  }
  await stop(service)
  return found
}

function request({ key, promptId }: Subject, path: string): string {
  return (
    `GET /api/v1/prompts/${promptId}/${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n` + `Authorization: Bearer ${key}\r\n\r\n`
  )
}

export function reportReading(reading: Reading): string {
  const cell = ({ p50, p99 }: { p50: number; p99: number }) => `${p50.toFixed(1)} / ${p99.toFixed(1)}`
  return [
    '',
    '| 1,000,000 signals, 1,000 changes: ms, p50 / p99 | SQLite | PostgreSQL |',
    '|---|---:|---:|',
    ...Object.entries(reading).map(([name, at]) => `| ${name} | ${cell(at.sqlite)} | ${cell(at.postgres)} |`),
  ].join('\n')
}
