import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { blockSizes, cutBlocks, type Sum } from '../server/src/domain/impact/model/blocks.ts'
import { defaultDrift } from '../server/src/domain/impact/model/drift.ts'
import { votesUntilVerdict } from '../server/src/domain/impact/model/expected-verdict.ts'
import type { Tally } from '../server/src/domain/signals/tally.ts'
import { day, hourStart } from '../server/src/domain/time.ts'
import { armOf } from '../server/src/domain/trials/assignment.ts'
import { addVotes, startEvidence, verdictOfTrial } from '../server/src/domain/trials/e-process.ts'
import { watch } from './impact-simulation.ts'
import { type Random, seededRandom } from './random.ts'
import { oneVote } from './trial-simulation.ts'
import {
  bursts,
  episodes,
  levels,
  rates,
  readStatements,
  type Source,
  type Statement,
  season,
  steady,
  type Vote,
  walk,
} from './votes.ts'

// npm run verdicts: how often each way to judge a change blames one that did nothing, and how often it finds one that did harm, on
// real votes. Prints the tables of docs/impact.md.

const usage = `Compares ways to judge a change on real votes: how often they blame a change that did nothing, and how often they find falls of 5 to 30 points.

npm run verdicts -- [options]

--open-data <folder>  also judge five more conversations of a clone of https://github.com/compdemocracy/openData
--votes <file>        judge these votes instead; may be repeated. CSV with the columns item, second, voter and vote (1 or -1), or a votes.csv of Polis
--min-votes <n>       leave out statements with fewer votes (default: 200)
--waits               only compare how long verdicts take with what was foretold
--histories <n>       histories per figure, at least one per statement (default: 300)
`

/**
 * Chosen before any figure was known: every conversation that has 20 statements with 200 votes, and whose votes.csv is smaller than
 * 4 MB.
 */
const openData = [
  'austria-climate.5twd2jsnkf.2022-08-08',
  'football-concussions',
  'scoop-hivemind.biodiversity',
  'scoop-hivemind.taxes',
  'ssis.land-bank-farmland.2rumnecbeh.2021-08-01',
]

export const falls = [5, 10, 20, 30]
export const shares = [0.5, 0.2, 0.1]

interface History {
  votes: Vote[]
  /** How many votes arrived before the change. */
  change: number
}

type Decision = 'better' | 'worse' | null

/** What a rule makes of a history in which `fall` gives each vote after the change, or of a candidate, its effect. */
type Rule = (history: History, fall: (vote: Vote) => Vote, random: Random) => Decision

const every = 20

/** Looks at both sides of the change after every 20 votes. */
function beforeAndAfter(decide: (before: Tally, after: Tally) => Decision): Rule {
  return ({ votes, change }, fall) => {
    const before = tallyOf(votes.slice(0, change))
    const after = { positive: 0, negative: 0 }
    for (let i = change; i < votes.length; i++) {
      count(after, fall(votes[i] as Vote))
      if ((i + 1 - change) % every !== 0 && i + 1 !== votes.length) continue
      const decision = decide(before, after)
      if (decision !== null) return decision
    }
    return null
  }
}

/** A rate that differs by 10 points, from 50 votes on each side. */
export function decideByThreshold(before: Tally, after: Tally): Decision {
  if (totalOf(before) < 50 || totalOf(after) < 50) return null
  return decision(differenceOf(before, after), Math.abs(differenceOf(before, after)) >= 0.1)
}

/** The test of two proportions, at 5%. */
export function decideByZ(before: Tally, after: Tally): Decision {
  if (totalOf(before) < 20 || totalOf(after) < 20) return null
  const difference = differenceOf(before, after)
  return decision(difference, Math.abs(difference) >= 1.959964 * Math.sqrt(varianceOf(before, after)))
}

const spread = 0.1

/** The mixture sequential probability ratio test of Johari and others, with effects spread by 10 points, at 5%. */
export function decideByMsprt(before: Tally, after: Tally): Decision {
  if (totalOf(before) < 20 || totalOf(after) < 20) return null
  const difference = differenceOf(before, after)
  const variance = varianceOf(before, after)
  if (variance === 0) return null
  const sum = variance + spread ** 2
  const log = Math.log(variance / sum) / 2 + (spread ** 2 * difference ** 2) / (2 * variance * sum)
  return decision(difference, log >= Math.log(20))
}

function decision(difference: number, isDecided: boolean): Decision {
  return isDecided ? (difference > 0 ? 'better' : 'worse') : null
}

function differenceOf(before: Tally, after: Tally): number {
  return after.positive / totalOf(after) - before.positive / totalOf(before)
}

function varianceOf(before: Tally, after: Tally): number {
  const rate = (before.positive + after.positive) / (totalOf(before) + totalOf(after))
  return rate * (1 - rate) * (1 / totalOf(before) + 1 / totalOf(after))
}

/** The verdict of the service, through its own code. */
const ourVerdict: Rule = ({ votes, change }, fall) =>
  watch({ votes: votes.map((vote, i) => (i < change ? vote : fall(vote))), change }).new.first?.verdict ?? null

/** Arms that are drawn at random by voter: from the change on, or over all votes. The first vote of each voter counts. */
function trial(share: number, from: 'change' | 'start'): Rule {
  return ({ votes, change }, fall, random) => {
    const id = `trl_${random()}`
    const start = from === 'change' ? change : 0
    const evidence = startEvidence(tallyOf(votes.slice(0, start)))
    const seen = new Set<number>()
    for (let i = start; i < votes.length; i++) {
      const vote = votes[i] as Vote
      if (!seen.has(vote.voter)) {
        seen.add(vote.voter)
        const arm = armOf(id, String(vote.voter), share)
        addVotes(evidence, share, oneVote(arm, (arm === 'candidate' ? fall(vote) : vote).isPositive))
      }
      if ((i + 1 - start) % every !== 0 && i + 1 !== votes.length) continue
      const verdict = verdictOfTrial(evidence)
      if (verdict !== 'undecided') return verdict
    }
    return null
  }
}

export const rules: Record<string, Rule> = {
  'fixed threshold of 10 points': beforeAndAfter(decideByThreshold),
  'z-test at every look': beforeAndAfter(decideByZ),
  mSPRT: beforeAndAfter(decideByMsprt),
  'our verdict': ourVerdict,
  'trial, 50%, from the change on': trial(0.5, 'change'),
  'trial, 50%, over all votes': trial(0.5, 'start'),
}

export const aaRules: Record<string, Rule> = Object.fromEntries(
  shares.map((share) => [`${100 * share}%`, trial(share, 'start')]),
)

const unchanged = (vote: Vote) => vote

/** The share of histories that a rule calls better or worse, though nothing changed. Changes are placed at random. */
export function falseBlame(statements: readonly Statement[], rule: Rule, histories: number, seed: number): number {
  return shareOf(statements, histories, seed, ({ votes }, random) => {
    const change = 40 + Math.floor(random() * (votes.length - 80))
    return rule({ votes, change }, unchanged, random) !== null
  })
}

/** The share of histories that a rule calls worse, if the rate falls by so many points halfway through. */
export function power(
  statements: readonly Statement[],
  rule: Rule,
  points: number,
  histories: number,
  seed: number,
): number {
  return shareOf(statements, histories, seed, ({ votes }, random) => {
    const { turned, fall } = falling(votes, points, random)
    return rule({ votes: turned, change: votes.length >> 1 }, fall, random) === 'worse'
  })
}

/** Any statement can be turned into its opposite. Most votes are then positive, and their rate can fall by 30 points. */
function falling(votes: Vote[], points: number, random: Random): { turned: Vote[]; fall: (vote: Vote) => Vote } {
  const { positive, negative } = tallyOf(votes)
  const isTurned = positive < negative
  const part = points / 100 / (Math.max(positive, negative) / votes.length)
  return {
    turned: isTurned ? votes.map((vote) => ({ ...vote, isPositive: !vote.isPositive })) : votes,
    fall: (vote) => (vote.isPositive && random() < part ? { ...vote, isPositive: false } : vote),
  }
}

/** How long a verdict took, as a multiple of the wait that was foretold. */
interface Wait {
  /** Infinite without a verdict. */
  taken: number
  /** How long the history goes on. */
  reach: number
}

export interface Waits {
  byVotes: Wait[]
  byDays: Wait[]
  /** Of the histories that end before the verdict was foretold, the share that has one. */
  early: number
}

const trafficMs = 14 * day

/** Foretells how long a fall by so many points takes to find, from the votes before it, and compares. */
export async function waitsFor(
  draw: (random: Random, i: number) => History,
  points: number,
  histories: number,
  seed: number,
): Promise<Waits> {
  const random = seededRandom(seed)
  const [byVotes, byDays]: [Wait[], Wait[]] = [[], []]
  let [long, early] = [0, 0]
  for (let i = 0; i < histories; i++) {
    const { votes, change } = draw(random, i)
    const { turned, fall } = falling(votes, points, random)
    const before = sumsOf(turned.slice(0, change))
    const size = blockSizes([before, []])[1] as number
    const foretold = await votesUntilVerdict(cutBlocks([before]), 1, size, points / 100, defaultDrift)
    const { first } = watch({ votes: turned.map((vote, at) => (at < change ? vote : fall(vote))), change }).new
    const taken = first?.verdict === 'worse' ? first.signals : Number.POSITIVE_INFINITY
    const after = votes.length - change
    if (foretold === null || after < foretold) {
      long++
      if (taken < Number.POSITIVE_INFINITY) early++
      continue
    }
    byVotes.push({ taken: taken / foretold, reach: after / foretold })
    const at = (vote: number) => (votes[vote] as Vote).at
    const from = at(change)
    const traffic = votes.filter((vote, n) => n < change && vote.at >= from - trafficMs).length
    const days = (foretold * Math.min(trafficMs, from - at(0))) / traffic
    const daysTaken = taken < Number.POSITIVE_INFINITY ? at(change + taken - 1) - from : taken
    byDays.push({ taken: daysTaken / days, reach: (at(votes.length - 1) - from) / days })
  }
  return { byVotes, byDays, early: long === 0 ? 0 : early / long }
}

/** The share with a verdict within so many times the wait that was foretold, among the histories that go on for so long. */
export function shareWithin(waits: readonly Wait[], times: number): number {
  const seen = waits.filter(({ reach }) => reach >= times)
  return seen.filter(({ taken }) => taken <= times).length / seen.length
}

function sumsOf(votes: readonly Vote[]): Sum[] {
  return [...Map.groupBy(votes, ({ at }) => hourStart(at))].map(([start, ofHour]) => ({ start, ...tallyOf(ofHour) }))
}

/** Changes somewhere in the middle of real votes. */
function middle(statements: readonly Statement[]): (random: Random, i: number) => History {
  return (random, i) => {
    const { votes } = statements[i % statements.length] as Statement
    return { votes, change: Math.floor(votes.length * (0.3 + 0.4 * random())) }
  }
}

export const calmVotes: Record<string, Source> = {
  'simulated: 85%, 500 votes before': steady(500, 4_000, rates(0.85, 0.85)),
  'simulated: 85%, 2,000 votes before': steady(2_000, 4_000, rates(0.85, 0.85)),
  'simulated: random walk, 1 point a day, 2,000 votes before': steady(2_000, 4_000, walk(1)),
}

function shareOf(
  statements: readonly Statement[],
  histories: number,
  seed: number,
  isFound: (statement: Statement, random: Random) => boolean,
): number {
  const random = seededRandom(seed)
  const count = statements.length * Math.max(1, Math.round(histories / statements.length))
  let found = 0
  for (let i = 0; i < count; i++) if (isFound(statements[i % statements.length] as Statement, random)) found++
  return found / count
}

/** By how much the rate moves between one block of 20 votes and the next, beyond what chance explains: a standard deviation. */
export function driftOf(statements: readonly Statement[]): number {
  const size = 20
  let [sum, steps] = [0, 0]
  for (const { votes } of statements) {
    let last: number | null = null
    for (let i = 0; i + size <= votes.length; i += size) {
      const rate = tallyOf(votes.slice(i, i + size)).positive / size
      if (last !== null) {
        sum += (rate - last) ** 2 - (rate * (1 - rate) + last * (1 - last)) / (size - 1)
        steps++
      }
      last = rate
    }
  }
  return Math.sqrt(Math.max(0, sum / steps))
}

/** Votes without any effect whose rate moves in other ways than real ones did. */
export const drifts: Record<string, Source> = {
  'random walk, 1 point a day': steady(1_000, 1_000, walk(1)),
  'random walk, 5 points a day': steady(1_000, 1_000, walk(5)),
  'weekly season, ±4 points': steady(1_000, 1_000, season(4)),
  'level wanders by 0.08 per 20 votes': steady(1_000, 1_000, levels(0.08)),
  'level wanders by 0.3 per 20 votes': steady(1_000, 1_000, levels(0.3)),
  'an audience of its own every 400 votes for 160': steady(1_000, 1_000, episodes(400, 160, 0.4)),
  'bursts with an audience each': bursts(1_000, 1_000, 0.3),
}

/** The share of trials without effect that are called better or worse at any look. */
export function falseBlameUnderDrift(source: Source, rule: Rule, trials: number, seed: number): number {
  const random = seededRandom(seed)
  let found = 0
  for (let i = 0; i < trials; i++) if (rule(source(random), unchanged, random) !== null) found++
  return found / trials
}

function tallyOf(votes: readonly Vote[]): Tally {
  const tally = { positive: 0, negative: 0 }
  for (const vote of votes) count(tally, vote)
  return tally
}

function count(tally: Tally, { isPositive }: Vote): void {
  if (isPositive) tally.positive++
  else tally.negative++
}

function totalOf({ positive, negative }: Tally): number {
  return positive + negative
}

const percent = (value: number, digits = 1) => `${(100 * value).toFixed(digits)}%`

function printRow(cells: readonly string[]): void {
  console.log(`| ${cells.join(' | ')} |`)
}

function printHead(cells: readonly string[]): void {
  printRow(cells)
  console.log(`|---|${'---:|'.repeat(cells.length - 1)}`)
}

function printTables(sets: readonly { name: string; statements: Statement[] }[], histories: number): void {
  for (const { name, statements } of sets) {
    const lengths = statements.map(({ votes }) => votes.length).sort((a, b) => a - b)
    console.log(
      `\n${name}: ${statements.length} statements with ${lengths[0]} to ${lengths.at(-1)} votes (median ${lengths[lengths.length >> 1]}), drift ${(100 * driftOf(statements)).toFixed(1)} points per 20 votes\n`,
    )
    printHead([name, 'false blame', ...falls.map((points) => `−${points} points found`)])
    for (const [rule, judge] of Object.entries(rules)) {
      const found = falls.map((points) => percent(power(statements, judge, points, histories, points)))
      printRow([rule, percent(falseBlame(statements, judge, 4 * histories, 1)), ...found])
    }
  }
  console.log('')
  printHead(['trials without effect, called at any look', ...Object.keys(aaRules)])
  for (const { name, statements } of sets) {
    printRow([name, ...cells((rule) => falseBlame(statements, rule, 4 * histories, 2))])
  }
}

async function printWaits(
  sets: readonly { name: string; statements: Statement[] }[],
  isSimulated: boolean,
): Promise<void> {
  const real = sets.map(({ name, statements }) => ({ name, draw: middle(statements), count: 200, falls: [20, 30] }))
  const simulated = Object.entries(calmVotes).map(([name, draw]) => ({ name, draw, count: 60, falls: [10, 20] }))
  console.log('')
  printHead([
    'verdict within half / all / twice the foretold wait',
    'fall',
    'foretold',
    'votes',
    'days',
    'found earlier',
  ])
  for (const { name, draw, count, falls } of isSimulated ? [...real, ...simulated] : real) {
    for (const points of falls) {
      const { byVotes, byDays, early } = await waitsFor(draw, points, count, points)
      const found = (waits: Wait[]) =>
        [0.5, 1, 2]
          .map((times) =>
            waits.filter(({ reach }) => reach >= times).length < 10 ? '–' : percent(shareWithin(waits, times), 0),
          )
          .join(' / ')
      printRow([name, `−${points}`, `${byVotes.length} of ${count}`, found(byVotes), found(byDays), percent(early)])
    }
  }
}

const cells = (find: (rule: Rule) => number) => Object.values(aaRules).map((rule) => percent(find(rule)))

function printDrifts(histories: number): void {
  for (const [name, source] of Object.entries(drifts)) {
    printRow([`simulated: ${name}`, ...cells((rule) => falseBlameUnderDrift(source, rule, histories, 3))])
  }
}

async function main(): Promise<void> {
  const values = options()
  if (values.help) return void process.stdout.write(usage)
  const [minVotes, histories] = [Number(values['min-votes']), Number(values.histories)]
  if (!(minVotes >= 100))
    throw new Error('--min-votes must be at least 100: changes are placed 40 votes from both ends.')
  if (!(histories >= 1)) throw new Error('--histories must be at least 1.')
  const folder = values['open-data']
  const files = [
    ...(folder === undefined ? [] : openData.map((name) => ({ name, file: join(folder, name, 'votes.csv') }))),
    ...(values.votes ?? []).map((file) => ({ name: file.split('/').slice(-2).join('/'), file })),
  ]
  const sets = files.map(({ name, file }) => ({ name, statements: readStatements(file, minVotes) }))
  const short = sets.find(({ statements }) => statements.length === 0)
  if (short !== undefined) throw new Error(`${short.name} has no item with ${minVotes} votes: lower --min-votes.`)
  if (values.votes === undefined) sets.unshift({ name: 'vTaiwan', statements: readStatements() })
  if (!values.waits) {
    printTables(sets, histories)
    if (values.votes === undefined) printDrifts(histories)
  }
  await printWaits(sets, values.votes === undefined)
}

function options() {
  return parseArgs({
    options: {
      'open-data': { type: 'string' },
      votes: { type: 'string', multiple: true },
      'min-votes': { type: 'string', default: '200' },
      histories: { type: 'string', default: '300' },
      waits: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  }).values
}

if (import.meta.main) {
  try {
    await main()
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${usage}`)
    process.exitCode = 2
  }
}
