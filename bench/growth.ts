import { load } from './load.ts'
import { median } from './median.ts'
import { serve, stop } from './processes.ts'
import { fillHistory, fillSignals, historyRequest, newSubject, type Subject, signalRequest } from './subject.ts'

type Urls = { sqlite: string; postgres: string }
type Ratios = { sqlite: number; postgres: number }

const rounds = 3
const manyEntries = 1_000_000
const manySignals = 10_000_000

/** How much of its speed each operation keeps when there is much more data. */
export async function measureGrowth(urls: Urls, seconds: number): Promise<Record<string, Ratios>> {
  const sqlite = await growthOf(urls.sqlite, seconds)
  const postgres = await growthOf(urls.postgres, seconds)
  const names = Object.keys(sqlite) as (keyof typeof sqlite)[]
  return Object.fromEntries(names.map((name) => [name, { sqlite: sqlite[name], postgres: postgres[name] }]))
}

async function growthOf(url: string, seconds: number) {
  const few = await newSubject(url)
  const many = await newSubject(url)
  await fillHistory(url, few, 1_000)
  await fillHistory(url, many, manyEntries)
  const smallPost = await postRate(url, few, seconds)
  const pages = await pageRatios(url, few, many, seconds)
  await fillSignals(url, many, manySignals)
  return { ...pages, 'POST, 10,000,000 signals stored': (await postRate(url, many, seconds)) / smallPost }
}

async function pageRatios(url: string, few: Subject, many: Subject, seconds: number) {
  const lastOfFew = 1_000 / 25
  const lastOfMany = manyEntries / 25
  const service = await serve(url)
  const rate = async (requests: string[]) => {
    const result = await load({ port: service.port, requests, expectedStatus: 200, connections: 32, seconds })
    return result.requestsPerSecond
  }
  // More pages than are kept in memory, so that the database is asked each time.
  const spread = (subject: Subject, last: number) =>
    Array.from({ length: 1_000 }, (_, i) => historyRequest(subject, 1 + (Math.floor((i * 7919 * last) / 1_000) % last)))
  const ratios = {
    'GET, first page of 1,000,000 entries': median(
      await alternate(
        () => rate([historyRequest(many, 1)]),
        () => rate([historyRequest(few, 1)]),
      ),
    ),
    'GET, last page of 1,000,000 entries': median(
      await alternate(
        () => rate([historyRequest(many, lastOfMany)]),
        () => rate([historyRequest(few, lastOfFew)]),
      ),
    ),
    'GET, pages all over 1,000,000 entries': median(
      await alternate(
        () => rate(spread(many, lastOfMany)),
        () => rate(spread(few, lastOfFew)),
      ),
    ),
  }
  await stop(service)
  return ratios
}

async function alternate(large: () => Promise<number>, small: () => Promise<number>): Promise<number[]> {
  const ratios: number[] = []
  for (let round = 0; round < rounds; round++) ratios.push((await large()) / (await small()))
  return ratios
}

/** A service started anew each time, so that neither side has warmed up longer. */
async function postRate(url: string, subject: Subject, seconds: number): Promise<number> {
  const rates: number[] = []
  for (let round = 0; round < rounds; round++) {
    const service = await serve(url)
    const measure = (duration: number) =>
      load({
        port: service.port,
        requests: [signalRequest(subject)],
        expectedStatus: 201,
        connections: 32,
        seconds: duration,
      })
    await measure(1)
    rates.push((await measure(Math.min(seconds, 2))).requestsPerSecond)
    await stop(service)
  }
  return median(rates)
}
