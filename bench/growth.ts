import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { serve, stop } from '../testing/processes.ts'
import { load } from './load.ts'
import { median } from './median.ts'
import { fillHistory, fillSignals, historyRequest, newSubject, type Subject, signalRequest } from './subject.ts'

type Urls = { sqlite: string; postgres: string }
type Ratios = { sqlite: number; postgres: number }

const rounds = 3
const fewEntries = 1_000
const manyEntries = 1_000_000
const manySignals = 10_000_000

/** How much of its speed each operation keeps when there is much more data. */
export async function measureGrowth(urls: Urls, seconds: number): Promise<Record<string, Ratios>> {
  const sqlite = await growthOf(urls.sqlite, seconds)
  const postgres = await growthOf(urls.postgres, seconds)
  const names = Object.keys(sqlite) as (keyof typeof sqlite)[]
  return Object.fromEntries(names.map((name) => [name, { sqlite: sqlite[name], postgres: postgres[name] }]))
}

export async function growthOf(url: string, seconds: number) {
  const few = await newSubject(url)
  const many = await newSubject(url)
  await fillHistory(url, few, fewEntries)
  await fillHistory(url, many, manyEntries)
  const smallPost = await postRate(url, few, seconds)
  const pages = await pageRatios(url, few, many, seconds)
  await fillSignals(url, many, manySignals)
  // What the import wrote is still on its way to the disk, and every flush would have to wait behind it.
  await promisify(execFile)('sync')
  return { ...pages, 'POST, 10,000,000 signals stored': (await postRate(url, many, seconds)) / smallPost }
}

async function pageRatios(url: string, few: Subject, many: Subject, seconds: number) {
  const lastOfFew = fewEntries / 25
  const lastOfMany = manyEntries / 25
  const service = await serve(url)
  const rate = async (requests: string[]) => {
    const result = await load({ port: service.port, requests, expectedStatus: 200, connections: 32, seconds })
    return result.requestsPerSecond
  }
  // More pages than are kept in memory, so that the database is asked each time; of one entry, so that there are as many of
  // the small history.
  const spread = (subject: Subject, entries: number) =>
    Array.from({ length: 1_000 }, (_, i) => historyRequest(subject, 1 + ((i * 7_919 * (entries / 1_000)) % entries), 1))
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
    'GET, pages all over 1,000,000 entries, none from memory': median(
      await alternate(
        () => rate(spread(many, manyEntries)),
        () => rate(spread(few, fewEntries)),
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
