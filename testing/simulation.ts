import { differenceOf, type Verdict, verdictOf } from '../server/src/domain/impact/verdict.ts'
import type { Tally } from '../server/src/domain/signals/tally.ts'

// Histories of signals whose truth we know, to see how often the verdict is right. Run as a program it prints the tables of
// docs/impact.md: npx node testing/simulation.ts

type Random = () => number

/** Mulberry32: the same numbers from the same seed, on every machine. */
export function randomFrom(seed: number): Random {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Draws how many of so many signals are positive: one random number instead of one a signal. */
function positives(count: number, rate: number): (random: Random) => number {
  const upTo = new Float64Array(count + 1)
  let logChoices = 0
  let sum = 0
  for (let k = 0; k <= count; k++) {
    sum += Math.exp(logChoices + k * Math.log(rate) + (count - k) * Math.log1p(-rate))
    upTo[k] = sum
    logChoices += Math.log((count - k) / (k + 1))
  }
  return (random) => {
    const at = random()
    let low = 0
    let high = count
    while (low < high) {
      const middle = (low + high) >> 1
      if ((upTo[middle] as number) > at) high = middle
      else low = middle + 1
    }
    return low
  }
}

/** After how many signals the change is made; `bad`: as soon as they look bad, as people do; `both`: both windows go on growing. */
export type Change = number | 'bad' | 'both'

interface Looks {
  rate: number
  /** Where the change has an effect. */
  rateAfter?: number
  change: Change
  histories: number
  seed: number
  every?: number
  calls?: (before: Tally, after: Tally) => boolean
}

const upTo = 5_000

/** How many histories are called better or worse, or what else is asked for, at any look. */
export function everCalled(looks: Looks): number {
  const { rate, rateAfter = rate, change, histories, seed, every = 20, calls = verdictCalls } = looks
  const random = randomFrom(seed)
  const drawBefore = positives(every, rate)
  const drawAfter = positives(every, rateAfter)
  let called = 0
  for (let i = 0; i < histories; i++) {
    const before = empty()
    const after = empty()
    for (let look = 0; look < upTo / every; look++) {
      const isAfter =
        change === 'both' ? look % 2 === 1 : change === 'bad' ? looksBad(before, rate) : look * every >= change
      if (isAfter) add(after, drawAfter(random), every)
      else add(before, drawBefore(random), every)
      if (calls(before, after)) {
        called++
        break
      }
    }
  }
  return called
}

/** How often each verdict is given on two windows of these sizes and rates. */
export function verdictsOn(
  [beforeRate, beforeCount]: [number, number],
  [afterRate, afterCount]: [number, number],
  histories: number,
  seed: number,
): Record<Verdict, number> {
  const random = randomFrom(seed)
  const [drawBefore, drawAfter] = [positives(beforeCount, beforeRate), positives(afterCount, afterRate)]
  const given: Record<Verdict, number> = { better: 0, worse: 0, no_difference_seen: 0, too_little_data: 0 }
  for (let i = 0; i < histories; i++) {
    const before = empty()
    const after = empty()
    add(before, drawBefore(random), beforeCount)
    add(after, drawAfter(random), afterCount)
    given[verdictOf(before, after)]++
  }
  return given
}

function empty(): Tally {
  return { positive: 0, negative: 0 }
}

function add(tally: Tally, positive: number, count: number): void {
  tally.positive += positive
  tally.negative += count - positive
}

function verdictCalls(before: Tally, after: Tally): boolean {
  const verdict = verdictOf(before, after)
  return verdict === 'better' || verdict === 'worse'
}

/** What a reader of the interval would do: call it as soon as 0 lies outside. */
export function intervalCalls(before: Tally, after: Tally): boolean {
  const [low, high] = differenceOf(before, after)?.interval ?? [0, 0]
  return low > 0 || high < 0
}

// 40 signals or more, 1.5 standard deviations below the true rate. It stays true from then on, as `before` no longer grows.
function looksBad({ positive, negative }: Tally, rate: number): boolean {
  const total = positive + negative
  return total >= 40 && positive - total * rate < -1.5 * Math.sqrt(total * rate * (1 - rate))
}

/** The fewest signals on each side, to two digits, with which 9 of 10 histories get the verdict. */
function enoughFor(verdict: Verdict, before: number, after: number): number {
  const suffices = (count: number) => verdictsOn([before, count], [after, count], 4_000, count)[verdict] >= 3_600
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
  const percent = (part: number, whole: number) => `${((100 * part) / whole).toFixed(1)} %`
  const row = (cells: (string | number)[]) => console.log(`| ${cells.join(' | ')} |`)
  const head = (cells: string[]) => {
    row(cells)
    console.log(`|---|${'---:|'.repeat(cells.length - 1)}`)
  }

  const histories = 10_000
  const cases: [string, Pick<Looks, 'change' | 'every' | 'calls'>][] = [
    ['after 20 signals', { change: 20 }],
    ['after 200', { change: 200 }],
    ['after 1,000', { change: 1_000 }],
    ['after 2,500', { change: 2_500 }],
    ['as soon as they look bad', { change: 'bad' }],
    ['both windows go on growing', { change: 'both' }],
    ['after 200, looked at after every single signal', { change: 200, every: 1 }],
    ['for comparison, the interval alone: after 1,000', { change: 1_000, calls: intervalCalls }],
  ]
  head(['the change is made', ...rates.map((rate) => percent(rate, 1).replace('.0', ''))])
  for (const [name, looks] of cases) {
    row([name, ...rates.map((rate, i) => percent(everCalled({ ...looks, rate, histories, seed: i }), histories))])
  }

  console.log()
  head(['difference', 'from 95 %', 'from 85 %', 'from 50 %'])
  for (const points of [20, 10, 5, 3, 2, 1]) {
    const counts = [0.95, 0.85, 0.5].map((rate) => enoughFor('worse', rate, rate - points / 100))
    row([`${points} ${points === 1 ? 'point' : 'points'}`, ...counts.map((count) => count.toLocaleString('en'))])
  }
  const none = [0.95, 0.85, 0.5].map((rate) => enoughFor('no_difference_seen', rate, rate).toLocaleString('en'))
  row(['none: `no_difference_seen`', ...none])

  console.log()
  for (const points of [5, 10, 15]) {
    const { worse } = verdictsOn([0.85, 200], [0.85 - points / 100, 100_000], histories, points)
    console.log(
      `200 signals before at 85 %, 100,000 after, ${points} points lower: worse in ${percent(worse, histories)}`,
    )
  }
  const fall = verdictsOn([0.85, 1_000], [0.75, 1_000], histories, 1)
  console.log(`From 85 % to 75 %, 1,000 on each side: worse in ${percent(fall.worse, histories)}`)
  const calls = (before: Tally, after: Tally) => verdictOf(before, after) === 'no_difference_seen'
  const missed = everCalled({ rate: 0.85, rateAfter: 0.75, change: 1_000, histories, seed: 1, calls })
  console.log(`The same, looked at after every 20: no_difference_seen at any look in ${percent(missed, histories)}`)
}

if (import.meta.main) printTables()
