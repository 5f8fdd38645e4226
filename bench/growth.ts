import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { type Account, createAccount } from '../testing/account.ts'
import { serve } from '../testing/processes.ts'
import { fillHistory, fillSignals } from './fill.ts'
import { historyRequest, load, signalRequest } from './load.ts'
import { median } from './statistics.ts'

type Urls = { sqlite: string; postgres: string }
type Ratios = { sqlite: number; postgres: number }

const rounds = 3
const connections = 32
const fewEntries = 1_000
const manyEntries = 1_000_000
const manySignals = 10_000_000

/** How much of its throughput each operation keeps with much more data: 1 is all of it. */
export async function measureGrowth(urls: Urls, seconds: number): Promise<Record<string, Ratios>> {
  const sqlite = await growthOf(urls.sqlite, seconds)
  const postgres = await growthOf(urls.postgres, seconds)
  const names = Object.keys(sqlite) as (keyof typeof sqlite)[]
  return Object.fromEntries(names.map((name) => [name, { sqlite: sqlite[name], postgres: postgres[name] }]))
}

async function growthOf(url: string, seconds: number) {
  const few = await createAccount(url, 'business')
  const many = await createAccount(url, 'business')
  await fillHistory(url, few, fewEntries)
  await fillHistory(url, many, manyEntries)
  const smallPost = await postRate(url, few, seconds)
  const pages = await pageRatios(url, few, many, seconds)
  await fillSignals(url, many, manySignals)
  // The import is still being written to disk, and every flush would have to wait for it.
  await promisify(execFile)('sync')
  return { ...pages, 'POST, 10,000,000 signals stored': (await postRate(url, many, seconds)) / smallPost }
}

async function pageRatios(url: string, few: Account, many: Account, seconds: number) {
  const service = await serve(url)
  const rate = async (requests: string[]) => {
    const result = await load({ port: service.port, requests, expectedStatus: 200, connections, seconds })
    return result.requestsPerSecond
  }
  // Pages of one entry, so that the small history too has more pages than the cache holds and every request reaches the database.
  const spread = (account: Account, entries: number) =>
    Array.from({ length: 1_000 }, (_, i) => historyRequest(account, 1 + ((i * 7_919 * (entries / 1_000)) % entries), 1))
  const ratio = async (large: string[], small: string[]) => {
    const ratios: number[] = []
    for (let round = 0; round < rounds; round++) ratios.push((await rate(large)) / (await rate(small)))
    return median(ratios)
  }
  const ratios = {
    'GET, first page of 1,000,000 entries': await ratio([historyRequest(many, 1)], [historyRequest(few, 1)]),
    'GET, last page of 1,000,000 entries': await ratio(
      [historyRequest(many, manyEntries / 25)],
      [historyRequest(few, fewEntries / 25)],
    ),
    'GET, pages across 1,000,000 entries, none cached': await ratio(spread(many, manyEntries), spread(few, fewEntries)),
  }
  await service.stop()
  return ratios
}

/** Each round starts a new service, so that neither side has warmed up longer. */
async function postRate(url: string, account: Account, seconds: number): Promise<number> {
  const rates: number[] = []
  for (let round = 0; round < rounds; round++) {
    const service = await serve(url)
    const measure = (duration: number) =>
      load({
        port: service.port,
        requests: [signalRequest(account)],
        expectedStatus: 201,
        connections,
        seconds: duration,
      })
    await measure(1)
    rates.push((await measure(Math.min(seconds, 2))).requestsPerSecond)
    await service.stop()
  }
  return median(rates)
}

export function reportGrowth(growth: Record<string, Ratios>): string {
  return [
    '',
    '| growth: throughput with much data vs little | SQLite | PostgreSQL |',
    '|---|---:|---:|',
    ...Object.entries(growth).map(
      ([name, { sqlite, postgres }]) => `| ${name} | ${sqlite.toFixed(2)} | ${postgres.toFixed(2)} |`,
    ),
  ].join('\n')
}
