import type { Prompt } from '../domain/prompt.ts'
import type { NewSignal, SignalDetails } from '../domain/signals/signal.ts'
import { day, hour, type Instant } from '../domain/time.ts'
import type { Canary } from './canary.ts'
import type { DemoPrompt } from './change.ts'
import { instantOf, type Landing, landings, mondayOf, week } from './timeline.ts'

/** Returns numbers from 0 (inclusive) to 1 (exclusive). */
type Random = () => number

/** The mulberry32 generator: the same seed yields the same numbers. */
function seededRandom(seed: number): Random {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

function oneOf<T>(random: Random, items: readonly T[]): T {
  return items[Math.floor(random() * items.length)] as T
}

/** Draws from the Poisson distribution with this mean, by Knuth's algorithm. */
function poisson(random: Random, mean: number): number {
  const end = Math.exp(-mean)
  let count = 0
  for (let product = random(); product > end; product *= random()) count += 1
  return count
}

const weeks = 52
// Weights of the hours of a day and the days of a week, relative to the mean.
const byHour = [2, 1, 1, 1, 2, 5, 12, 25, 40, 48, 50, 47, 42, 44, 46, 44, 40, 34, 28, 24, 20, 14, 8, 4].map(
  (share, _, all) => (share * all.length) / sum(all),
)
const byWeekday = [1.25, 1.25, 1.2, 1.15, 1.05, 0.6, 0.5]
// Usage grows over the year.
const growth = { from: 0.7, to: 1.3 }

/** A year of signals for a prompt, up to now. Repeatable: the same prompt gets the same signals in the same week. */
export function generateSignals(prompt: Prompt, demo: DemoPrompt, canary: Canary | null, now: Instant): NewSignal[] {
  // Any seed works, as long as it differs between prompts.
  const random = seededRandom(demo.signalsPerYear)
  const start = mondayOf(now) - weeks * week
  const changes = landings(demo, now)
  const incidents = demo.incidents.map((incident) => ({ ...incident, at: instantOf(incident, incident.at, now) }))
  const signals: NewSignal[] = []
  let live: Live | null = null
  for (let from = start; from <= now; from += hour) {
    // Always draw the whole hour, even if it is not over, so that the sequence does not depend on the start time.
    const count = poisson(random, meanOf(demo, from, start))
    const times = Array.from({ length: count }, () => from + random() * hour)
    for (const createdAt of times.map(Math.floor).sort((a, b) => a - b)) {
      while (changes[0] !== undefined && changes[0].at <= createdAt) live = withChange(live, changes.shift() as Landing)
      while (live !== null && incidents[0] !== undefined && incidents[0].at <= createdAt) {
        live = { ...live, rate: (incidents.shift() as { rate: number }).rate }
      }
      if (live === null || createdAt > now) continue
      const { organisationId, id: promptId } = prompt
      // Beside a canary, the application says which version it used.
      const version = canary === null || createdAt < canary.at ? null : versionOf(canary, random())
      signals.push({ organisationId, promptId, createdAt, ...drawSignal(random, live, version) })
    }
  }
  return signals
}

function meanOf({ signalsPerYear }: DemoPrompt, at: Instant, start: Instant): number {
  const hours = Math.floor((at - start) / hour)
  const mean = signalsPerYear / (weeks * 7 * 24)
  const grown = growth.from + ((growth.to - growth.from) * (at - start)) / (weeks * week)
  const weekday = Math.floor((at - start) / day) % 7
  return mean * grown * (byHour[hours % 24] as number) * (byWeekday[weekday] as number)
}

interface Live {
  rate: number
  complaints: string[]
}

function withChange(live: Live | null, { change }: Landing): Live {
  return { rate: change.rate ?? live?.rate ?? 0, complaints: change.complaints ?? live?.complaints ?? [] }
}

const models = ['large-2', 'large-2', 'large-2', 'small-3']
const locales = ['en', 'en', 'en', 'de', 'de', 'fr', 'pl', 'es']
const praise = ['exactly what I needed', 'thank you!', 'quick and clear', 'solved it', 'perfect']
const userCount = 4_000

function versionOf({ share, oldSha, newSha }: Canary, draw: number): string {
  return draw < 1 - share ? oldSha : newSha
}

type DrawnSignal = Pick<NewSignal, 'value' | 'metadata' | 'details'>

function drawSignal(random: Random, { rate, complaints }: Live, version: string | null): DrawnSignal {
  const value = random() < rate ? 'positive' : 'negative'
  const trace = Math.floor(random() * 2 ** 32)
    .toString(16)
    .padStart(8, '0')
  const metadata = {
    trace,
    user: `u-${1_000 + Math.floor(random() ** 2 * userCount)}`,
    model: oneOf(random, models),
    locale: oneOf(random, locales),
  }
  const comment = oneOf(random, value === 'positive' ? praise : complaints)
  const draw = random()
  // Some integrations send only the value, and most users leave no comment.
  if (draw < 0.12) return { value, metadata: null, details: detailsOf(version, null) }
  const hasComment = draw > (value === 'positive' ? 0.97 : 0.82)
  return { value, metadata: JSON.stringify(metadata), details: detailsOf(version, hasComment ? comment : null) }
}

function detailsOf(version: string | null, comment: string | null): SignalDetails | null {
  if (version === null && comment === null) return null
  return { version, comment, subject: null, voter: null, occurredAt: null, traceId: null }
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
