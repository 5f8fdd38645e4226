import { differenceOf, type Verdict, verdictOf } from '../server/src/domain/impact/model/verdict.ts'
import type { Tally } from '../server/src/domain/signals/tally.ts'
import { type Random, seededRandom } from './random.ts'

// Simulates signals with known rates, to see how often the verdict is right. Run as a program it prints the tables of
// docs/impact.md: npx node testing/verdict-simulation.ts

/** Draws how many of `count` signals are positive, with one random number instead of one per signal. */
function positives(count: number, rate: number): (random: Random) => number {
  const cumulative = new Float64Array(count + 1)
  let logChoices = 0
  let sum = 0
  for (let k = 0; k <= count; k++) {
    sum += Math.exp(logChoices + k * Math.log(rate) + (count - k) * Math.log1p(-rate))
    cumulative[k] = sum
    logChoices += Math.log((count - k) / (k + 1))
  }
  return (random) => {
    const drawn = random()
    let low = 0
    let high = count
    while (low < high) {
      const middle = (low + high) >> 1
      if ((cumulative[middle] as number) > drawn) high = middle
      else low = middle + 1
    }
    return low
  }
}

/**
 * When the change is made: after this many signals; `bad`, as soon as the signals look bad, as people do; or `both`, where both
 * windows keep growing.
 */
export type Change = number | 'bad' | 'both'

interface Simulation {
  rate: number
  /** The rate after the change; the same if the change has no effect. */
  rateAfter?: number
  change: Change
  histories: number
  seed: number
  signalsPerCheck?: number
  isDecided?: (before: Tally, after: Tally) => boolean
}

const maxSignals = 5_000

/** How many histories are decided at any check: by default, found better or worse. */
export function countDecided(simulation: Simulation): number {
  const { rate, rateAfter = rate, change, histories, seed } = simulation
  const { signalsPerCheck = 20, isDecided = isBetterOrWorse } = simulation
  const random = seededRandom(seed)
  const drawBefore = positives(signalsPerCheck, rate)
  const drawAfter = positives(signalsPerCheck, rateAfter)
  let decided = 0
  for (let i = 0; i < histories; i++) {
    const before = emptyTally()
    const after = emptyTally()
    for (let check = 0; check < maxSignals / signalsPerCheck; check++) {
      const isAfter =
        change === 'both'
          ? check % 2 === 1
          : change === 'bad'
            ? looksBad(before, rate)
            : check * signalsPerCheck >= change
      if (isAfter) add(after, drawAfter(random), signalsPerCheck)
      else add(before, drawBefore(random), signalsPerCheck)
      if (isDecided(before, after)) {
        decided++
        break
      }
    }
  }
  return decided
}

/** How often each verdict results from two windows of these rates and sizes. */
export function verdictCounts(
  [beforeRate, beforeCount]: [number, number],
  [afterRate, afterCount]: [number, number],
  histories: number,
  seed: number,
): Record<ReturnType<typeof verdictOf>, number> {
  const random = seededRandom(seed)
  const [drawBefore, drawAfter] = [positives(beforeCount, beforeRate), positives(afterCount, afterRate)]
  const counts: Record<ReturnType<typeof verdictOf>, number> = {
    better: 0,
    worse: 0,
    no_difference_seen: 0,
    too_little_data: 0,
  }
  for (let i = 0; i < histories; i++) {
    const before = emptyTally()
    const after = emptyTally()
    add(before, drawBefore(random), beforeCount)
    add(after, drawAfter(random), afterCount)
    counts[verdictOf(before, after)]++
  }
  return counts
}

function emptyTally(): Tally {
  return { positive: 0, negative: 0 }
}

function add(tally: Tally, positive: number, count: number): void {
  tally.positive += positive
  tally.negative += count - positive
}

function isBetterOrWorse(before: Tally, after: Tally): boolean {
  const verdict = verdictOf(before, after)
  return verdict === 'better' || verdict === 'worse'
}

/** What a reader who trusts only the interval would do: decide as soon as it excludes 0. */
export function decidedByInterval(before: Tally, after: Tally): boolean {
  const [low, high] = differenceOf(before, after)?.interval ?? [0, 0]
  return low > 0 || high < 0
}

// At least 40 signals, 1.5 standard deviations below the true rate. It stays true, because `before` no longer grows.
function looksBad({ positive, negative }: Tally, rate: number): boolean {
  const total = positive + negative
  return total >= 40 && positive - total * rate < -1.5 * Math.sqrt(total * rate * (1 - rate))
}

/** The smallest window, to two digits, that gives 90% of histories this verdict. */
function signalsNeeded(verdict: Exclude<Verdict, 'unexplained'>, before: number, after: number): number {
  const suffices = (count: number) => verdictCounts([before, count], [after, count], 4_000, count)[verdict] >= 3_600
  let [low, high] = [20, 20]
  while (!suffices(high)) [low, high] = [high, high * 2]
  while (high - low > Math.max(1, high / 200)) {
    const middle = (low + high) >> 1
    if (suffices(middle)) high = middle
    else low = middle
  }
  const unit = 10 ** Math.max(1, Math.floor(Math.log10(high)) - 1)
  return Math.ceil(high / unit) * unit
}

function printTables(): void {
  const rates = [0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99]
  const percent = (part: number, whole: number) => `${((100 * part) / whole).toFixed(1)}%`
  const row = (cells: (string | number)[]) => console.log(`| ${cells.join(' | ')} |`)
  const head = (cells: string[]) => {
    row(cells)
    console.log(`|---|${'---:|'.repeat(cells.length - 1)}`)
  }

  const histories = 10_000
  const cases: [string, Pick<Simulation, 'change' | 'signalsPerCheck' | 'isDecided'>][] = [
    ['after 20 signals', { change: 20 }],
    ['after 200', { change: 200 }],
    ['after 1,000', { change: 1_000 }],
    ['after 2,500', { change: 2_500 }],
    ['as soon as the signals look bad', { change: 'bad' }],
    ['both windows keep growing', { change: 'both' }],
    ['after 200, checked after every signal', { change: 200, signalsPerCheck: 1 }],
    ['for comparison, the interval alone: after 1,000', { change: 1_000, isDecided: decidedByInterval }],
  ]
  head(['the change is made', ...rates.map((rate) => percent(rate, 1).replace('.0', ''))])
  for (const [name, simulation] of cases) {
    const decided = rates.map((rate, i) => countDecided({ ...simulation, rate, histories, seed: i }))
    row([name, ...decided.map((count) => percent(count, histories))])
  }

  console.log()
  head(['difference', 'from 95%', 'from 85%', 'from 50%'])
  for (const points of [20, 10, 5, 3, 2, 1]) {
    const counts = [0.95, 0.85, 0.5].map((rate) => signalsNeeded('worse', rate, rate - points / 100))
    row([`${points} ${points === 1 ? 'point' : 'points'}`, ...counts.map((count) => count.toLocaleString('en'))])
  }
  const none = [0.95, 0.85, 0.5].map((rate) => signalsNeeded('no_difference_seen', rate, rate).toLocaleString('en'))
  row(['none: `no_difference_seen`', ...none])

  console.log()
  for (const points of [5, 10, 15]) {
    const { worse } = verdictCounts([0.85, 200], [0.85 - points / 100, 100_000], histories, points)
    console.log(
      `200 signals before at 85%, 100,000 after, ${points} points lower: worse in ${percent(worse, histories)}`,
    )
  }
  const fall = verdictCounts([0.85, 1_000], [0.75, 1_000], histories, 1)
  console.log(`From 85% to 75%, 1,000 on each side: worse in ${percent(fall.worse, histories)}`)
  const isDecided = (before: Tally, after: Tally) => verdictOf(before, after) === 'no_difference_seen'
  const missed = countDecided({ rate: 0.85, rateAfter: 0.75, change: 1_000, histories, seed: 1, isDecided })
  console.log(`The same, checked after every 20: no_difference_seen at any check in ${percent(missed, histories)}`)
}

if (import.meta.main) printTables()
