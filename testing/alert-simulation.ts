import { isCertainEnough, type RegressionCertainty } from '../server/src/domain/alerts/certainty.ts'
import { type Drift, defaultDrift, learnDrift } from '../server/src/domain/impact/model/drift.ts'
import { hour } from '../server/src/domain/time.ts'
import {
  drift,
  hoursPerDay,
  hoursPerYear,
  independent,
  realVotes,
  season,
  unnamedVoters,
  type VoteSource,
} from './prompt-years.ts'
import { type Random, seededRandom } from './random.ts'
import { driftOf, type Look, watchPrompt } from './watched-prompt.ts'

// How often people would be told about a regression that is none, and how fast about a real one. Run as a program it prints the
// tables of docs/alerts.md: npx node testing/alert-simulation.ts [years per row, 200 by default] [part of a row's name] [seed]

const changesPerYear = 12
const learnedPrompts = 10

/** How the rate moves without any effect of a change. A fall starts from 85%, so there the walk is at 85% when it falls. */
export const surroundings: Record<string, (anchor: (hours: number) => number) => VoteSource> = {
  calm: () => independent(),
  'random walk, 0.5 points a day': (anchor) => independent([drift(0.5)], anchor),
  'random walk, 1 point a day': (anchor) => independent([drift(1)], anchor),
  'weekly and yearly season, ±4 points each': () => independent([season(4), season(4, 365)]),
  'walk of 0.5 points, and seasons': (anchor) => independent([drift(0.5), season(4), season(4, 365)], anchor),
  'walk of 1 point, and seasons': (anchor) => independent([drift(1), season(4), season(4, 365)], anchor),
  '5 votes a voter, not named': () => unnamedVoters(5),
  'real votes (vTaiwan)': () => realVotes(),
}

export interface Outcome {
  /** Per prompt-year: changes that were `worse` at any look, those that were told, and of these the ones that were `worse` no longer in the end. */
  worse: number
  told: number
  takenBack: number
}

/** Years with twelve changes that have no effect, of a prompt alone. */
export function harmlessYears(source: VoteSource, perDay: number, years: number, seed: number): Outcome {
  return watchYears(source, perDay, years, seededRandom(seed), () => [defaultDrift])[0] as Outcome
}

/** The same of a prompt alone, and of one whose organisation has ten others like it. */
function harmlessYearsOfTwo(source: VoteSource, perDay: number, years: number, seed: number): Outcome[] {
  const random = seededRandom(seed)
  const others = Array.from({ length: 2 * learnedPrompts }, () =>
    driftOf(source(random, hoursPerYear, perDay), randomHours(random, changesPerYear, hoursPerYear)),
  )
  return watchYears(source, perDay, years, random, () => [defaultDrift, learnedFrom(random, others)])
}

function watchYears(
  source: VoteSource,
  perDay: number,
  years: number,
  random: Random,
  drawDrifts: () => Readonly<Drift>[],
): Outcome[] {
  const outcomes: Outcome[] = []
  for (let year = 0; year < years; year++) {
    const changes = randomHours(random, changesPerYear, hoursPerYear)
    const drifts = drawDrifts()
    const watched = watchChanges(changes)
    watchPrompt({ votes: source(random, hoursPerYear, perDay), changes, drifts, onLook: watched.onLook })
    for (const i of drifts.keys()) {
      const found = watched.found().filter(({ drift }) => drift === i)
      const told = found.filter(({ toldAt }) => toldAt !== null)
      const outcome = outcomes[i] ?? { worse: 0, told: 0, takenBack: 0 }
      outcomes[i] = outcome
      outcome.worse += found.length / years
      outcome.told += told.length / years
      outcome.takenBack += told.filter(({ isWorse }) => !isWorse).length / years
    }
  }
  return outcomes
}

function learnedFrom(random: Random, others: Float64Array[]): Drift {
  return learnDrift(Array.from({ length: learnedPrompts }, () => others[Math.floor(random() * others.length)] as Drift))
}

/** A change that was `worse` at some look, with the figures of the last one. */
interface Found {
  drift: number
  openedAt: number
  figures: Omit<RegressionCertainty, 'heldForMs' | 'liveForMs'>
  toldAt: number | null
  isWorse: boolean
}

/** Decides at each look whether people are told, as the alerts do. */
function watchChanges(changes: readonly number[]): { onLook: (look: Look) => true; found: () => Found[] } {
  const all = new Map<string, Found>()
  return {
    found: () => [...all.values()],
    onLook({ change, drift, hour: at, signalsAfter, worse }) {
      const key = `${change} ${drift}`
      let found = all.get(key)
      if (worse !== null) {
        const figures = { evidence: worse.evidence, ...worse.difference, signalsAfter }
        found = { drift, openedAt: at, toldAt: null, ...found, figures, isWorse: true }
        all.set(key, found)
      } else if (found !== undefined) found.isWorse = false
      if (found === undefined) return true
      // A regression stays open while its evidence is a little weaker.
      const heldForMs = (at - found.openedAt) * hour
      const liveForMs = (at + 1 - (changes[change - 1] as number)) * hour
      if (isCertainEnough({ ...found.figures, heldForMs, liveForMs })) found.toldAt ??= at
      return true
    },
  }
}

export interface Fall {
  /** The share of falls that were told within eight days, of all of them and of those without another change in the week before. */
  within8Days: number
  within8DaysAlone: number
  /** The days until half of the falls and nine tenths were told. Infinite if it took longer than eight days. */
  median: number
  nineTenths: number
}

const pastDays = 180
const watchedDays = 8

/** Falls by ten points after half a year with a harmless change each month. */
export function falls(of: (anchor: (hours: number) => number) => VoteSource, runs: number, seed: number): Fall {
  const random = seededRandom(seed)
  const past = pastDays * hoursPerDay
  const hours = past + watchedDays * hoursPerDay
  const source = of(() => past)
  const days: number[] = []
  const daysAlone: number[] = []
  for (let run = 0; run < runs; run++) {
    const harmless = randomHours(random, Math.round((changesPerYear * pastDays) / 365), past)
    const votes = source(random, hours, 150, (at) => (at >= past ? 0.1 : 0))
    const changes = [...harmless, past]
    const watched = watchChanges(changes)
    watchPrompt({
      votes,
      changes,
      drifts: [defaultDrift],
      from: past,
      onLook: (look) => look.change <= harmless.length || (watched.onLook(look) && watched.found()[0]?.toldAt == null),
    })
    const toldAt = watched.found()[0]?.toldAt ?? Number.POSITIVE_INFINITY
    const told = (toldAt + 1 - past) / hoursPerDay
    days.push(told)
    if (past - (harmless.at(-1) as number) >= 7 * hoursPerDay) daysAlone.push(told)
  }
  days.sort((a, b) => a - b)
  return {
    within8Days: shareTold(days),
    within8DaysAlone: shareTold(daysAlone),
    median: days[Math.ceil(0.5 * runs) - 1] as number,
    nineTenths: days[Math.ceil(0.9 * runs) - 1] as number,
  }
}

function shareTold(days: readonly number[]): number {
  return days.filter((day) => day <= watchedDays).length / days.length
}

function randomHours(random: Random, count: number, hours: number): number[] {
  return Array.from({ length: count }, () => 1 + Math.floor(random() * (hours - 1))).sort((a, b) => a - b)
}

const percent = (share: number) => `${(100 * share).toFixed(1)}%`
const inDays = (days: number) => (Number.isFinite(days) ? days.toFixed(1) : 'over 8')

function printRow(cells: (string | number)[]): void {
  console.log(`| ${cells.join(' | ')} |`)
}

function print(years: number, part: string, seed: number): void {
  const sources = Object.entries(surroundings)
  const rows = [20, 150, 1_000].flatMap((perDay) =>
    sources.map(([name, of]) => ({ name: `${perDay.toLocaleString('en')} a day: ${name}`, perDay, of })),
  )
  printRow([
    '12 harmless changes a year',
    'called worse',
    'told',
    'told, ten prompts beside it',
    'told, then not worse',
  ])
  printRow(['---', ...Array.from({ length: 4 }, () => '---:')])
  for (const { name, perDay, of } of rows.filter((row) => row.name.includes(part))) {
    const source = of(() => 0)
    const [alone, beside] = harmlessYearsOfTwo(source, perDay, years, seed) as [Outcome, Outcome]
    printRow([name, ...[alone.worse, alone.told, beside.told, alone.takenBack].map((value) => value.toFixed(3))])
  }
  console.log()
  printRow([
    'from 85% to 75%, 150 a day',
    'told within 8 days',
    'no change in the week before',
    'half, days',
    '90%, days',
  ])
  printRow(['---', ...Array.from({ length: 4 }, () => '---:')])
  for (const [name, of] of sources.filter(([each]) => !each.startsWith('real') && `fall: ${each}`.includes(part))) {
    const { within8Days, within8DaysAlone, median, nineTenths } = falls(of, 2 * years, seed)
    printRow([`fall: ${name}`, percent(within8Days), percent(within8DaysAlone), inDays(median), inDays(nineTenths)])
  }
}

if (import.meta.main) print(Number(process.argv[2] ?? 200), process.argv[3] ?? '', Number(process.argv[4] ?? 1))
