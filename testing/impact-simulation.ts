import { cutBlocks, type Sum } from '../server/src/domain/impact/model/blocks.ts'
import { type Drift, defaultDrift, learnDrift } from '../server/src/domain/impact/model/drift.ts'
import { discoveries } from '../server/src/domain/impact/model/e-values.ts'
import { evidenceOfChanges, likelihoodOfDrift } from '../server/src/domain/impact/model/evidence.ts'
import { judge } from '../server/src/domain/impact/model/judgement.ts'
import { copyLevels, observe, startLevels } from '../server/src/domain/impact/model/local-level.ts'
import { evidenceAcrossSegments, mixOf } from '../server/src/domain/impact/model/segments.ts'
import { evidenceOfStep, observeStep, type Step, startStep } from '../server/src/domain/impact/model/step.ts'
import { minLogBayesFactor, verdictOf } from '../server/src/domain/impact/model/verdict.ts'
import { driftOfSegments } from '../server/src/domain/impact/segment-impact.ts'
import type { Tally } from '../server/src/domain/signals/tally.ts'
import { day, hourStart } from '../server/src/domain/time.ts'
import { type Random, seededRandom } from './random.ts'
import {
  audience,
  bursts,
  canary,
  episodes,
  fakeChange,
  lateVotes,
  levels,
  rates,
  readStatements,
  type Source,
  season,
  steady,
  type Vote,
  voters,
  votesPerDay,
  walk,
} from './votes.ts'

// How often the verdict is right, on votes that drift as real ones do. Run as a program it prints the tables of the decision
// record: npx node testing/impact-simulation.ts [histories per row, 400 by default] [part of a row's name, or delays]

type Decided = 'better' | 'worse'

/** What one rule makes of one history. */
interface Found {
  /** The first verdict, with the signals after the change at that time. */
  first: { verdict: Decided; signals: number } | null
  /** Whether the verdict still stands after the last vote. */
  stands: boolean
}

interface Watch {
  /** Credit votes to the version that they name, not to the one that was live when they arrived. */
  byVersion?: boolean
  /** Judge within segments, as if one was declared. */
  bySegment?: boolean
  /** Votes name their voter. */
  byVoter?: boolean
  drift?: Readonly<Drift>
  every?: number
}

/** Looks at the history after every 20 votes, with the rule of old and with the new one. */
export function watch({ votes, change }: ReturnType<Source>, options: Watch = {}): { old: Found; new: Found } {
  const { byVersion = false, bySegment = false, byVoter = false, drift = defaultDrift, every = 20 } = options
  const arrived = [emptyTally(), emptyTally()] as const
  const windows: [Sum[], Sum[]] = [[], []]
  const segments = new Map<number, [Sum[], Sum[]]>()
  const votesOf = [new Map<number, number>(), new Map<number, number>()] as const
  const found = { old: nothing(), new: nothing() }
  let quick: ReturnType<typeof quickEvidence> | null = null
  for (const [i, vote] of votes.entries()) {
    const side = (byVersion ? vote.isNew : i >= change) ? 1 : 0
    count(arrived[i >= change ? 1 : 0], vote)
    const earlier = votesOf[side].get(vote.voter) ?? 0
    if (byVoter) votesOf[side].set(vote.voter, earlier + 1)
    addTo(windows[side], vote, 2 * earlier + 1)
    if (bySegment) {
      if (!segments.has(vote.segment)) segments.set(vote.segment, [[], []])
      addTo((segments.get(vote.segment) as [Sum[], Sum[]])[side], vote, 1)
    }
    if (i < change || ((i + 1 - change) % every !== 0 && i + 1 !== votes.length)) continue
    const isLast = i + 1 + every > votes.length
    const signals = windows[1].reduce((sum, { positive, negative }) => sum + positive + negative, 0)
    if (found.old.first === null || isLast) note(found.old, verdictOf(...arrived), i + 1 - change, isLast)
    if (found.new.first === null || isLast) {
      // What is cut and filtered before the change stays, unless late votes still join it.
      if (!byVersion && !bySegment && !byVoter) quick ??= quickEvidence(windows[0], drift)
      const isPossible = quick === null || quick(windows[1]) >= minLogBayesFactor - 1e-6
      const verdict = isPossible ? judgeWindows(windows, drift, [...segments.values()]) : 'undecided'
      note(found.new, verdict, signals, isLast)
    }
  }
  return found
}

function judgeWindows(windows: [Sum[], Sum[]], drift: Readonly<Drift>, segments: [Sum[], Sum[]][]) {
  const [before, after] = windows.map(totalOf) as [Tally, Tally]
  const evidence = evidenceOfChanges(cutBlocks(windows), 2, drift)[1] ?? null
  // Only better and worse are counted here. Why it is neither takes longer to find out.
  if (evidence === null || evidence.logBayesFactor < minLogBayesFactor) return 'undecided'
  if (segments.length === 0) return judge({ before, after, evidence }).verdict
  const mix = mixOf(segments.map(([from, to]) => ({ before: totalOf(from), after: totalOf(to) })))
  const within = evidenceAcrossSegments(segments, drift)
  return judge({ before, after, evidence, segments: [{ key: 'segment', evidence: within, mix }] }).verdict
}

/** The log Bayes factor of votes that only ever arrive after the change, without going through those before it at every look. */
export function quickEvidence(before: Sum[], drift: Readonly<Drift>): (after: Sum[]) => number {
  const levels = startLevels()
  const past = cutBlocks([before, []])
  for (let t = 0; t < past.count; t++) observe(levels, past.y[t] as number, past.variance[t] as number)
  const step = startStep(levels)
  // One sum with all votes before the change has the same effect on how those after it are cut.
  const total = { start: 0, ...totalOf(before) }
  let observed = 0
  return (after) => {
    const cut = cutBlocks([[total], after])
    const from = cut.window.indexOf(1)
    if (past.count === 0 || from < 0) return 0
    const y = cut.y.subarray(from)
    const variance = cut.variance.subarray(from)
    for (; observed < y.length - 1; observed++) {
      observeStep(step, y[observed] as number, variance[observed] as number, true)
    }
    // The last block may still grow.
    const last = copyStep(step)
    observeStep(last, y.at(-1) as number, variance.at(-1) as number, true)
    return evidenceOfStep(last, drift).logBayesFactor
  }
}

function copyStep({ levels, pattern, information, score }: Step): Step {
  return {
    levels: copyLevels(levels),
    pattern: pattern.slice(),
    information: information.slice(),
    score: score.slice(),
  }
}

function nothing(): Found {
  return { first: null, stands: false }
}

function note(found: Found, verdict: string, signals: number, isLast: boolean): void {
  if (verdict !== 'better' && verdict !== 'worse') return
  found.first ??= { verdict, signals }
  if (isLast) found.stands = true
}

function addTo(sums: Sum[], vote: Vote, squares: number): void {
  const start = hourStart(vote.at)
  let sum = sums.at(-1)
  if (sum?.start !== start) {
    sum = { start, positive: 0, negative: 0, squares: 0 }
    sums.push(sum)
  }
  count(sum, vote)
  sum.squares = (sum.squares ?? 0) + squares
}

function count(tally: Tally, { isPositive }: Vote): void {
  if (isPositive) tally.positive++
  else tally.negative++
}

function emptyTally(): Tally {
  return { positive: 0, negative: 0 }
}

function totalOf(sums: readonly Tally[]): Tally {
  const total = emptyTally()
  for (const { positive, negative } of sums) {
    total.positive += positive
    total.negative += negative
  }
  return total
}

export interface Shares {
  old: number
  new: number
}

/** The share of histories that are found better or worse at any look. */
export function shareFound(source: Source, histories: number, seed: number, options: Watch = {}): Shares {
  return share(histories, seed, (random) => watch(source(random), options))
}

function share(histories: number, seed: number, run: (random: Random) => { old: Found; new: Found }): Shares {
  const random = seededRandom(seed)
  const found = { old: 0, new: 0 }
  for (let i = 0; i < histories; i++) {
    const result = run(random)
    if (result.old.first !== null) found.old++
    if (result.new.first !== null) found.new++
  }
  return { old: found.old / histories, new: found.new / histories }
}

const statements = readStatements()

/** Fake changes among the votes of real statements, the same number for each. */
export function shareFoundInStatements(
  histories: number,
  seed: number,
  {
    of = () => true,
    change = (votes) => votes,
    learn = false,
  }: { of?: (id: number) => boolean; change?: (votes: Vote[], random: Random) => Vote[]; learn?: boolean } = {},
): Shares {
  const chosen = statements.filter(({ id }) => of(id))
  const pasts = learn ? chosen.map(({ votes }) => likelihoodOfDrift(cutBlocks([sumsOf(votes)]), 1)) : []
  let next = 0
  return share(chosen.length * Math.max(1, Math.round(histories / chosen.length)), seed, (random) => {
    const i = next++ % chosen.length
    const votes = change((chosen[i] as { votes: Vote[] }).votes, random)
    const drift = learn ? learnDrift(pasts.filter((_, other) => other !== i)) : defaultDrift
    return watch(fakeChange(votes)(random), { drift })
  })
}

function sumsOf(votes: Vote[]): Sum[] {
  const sums: Sum[] = []
  for (const vote of votes) addTo(sums, vote, 1)
  return sums
}

/** The median number of signals on the new version until the verdict is worse; without it, the history's length. */
export function medianUntilWorse(source: Source, histories: number, seed: number, options: Watch = {}): Shares {
  const random = seededRandom(seed)
  const untilOld: number[] = []
  const untilNew: number[] = []
  for (let i = 0; i < histories; i++) {
    const result = watch(source(random), options)
    untilOld.push(result.old.first?.signals ?? Number.POSITIVE_INFINITY)
    untilNew.push(result.new.first?.signals ?? Number.POSITIVE_INFINITY)
  }
  return { old: median(untilOld), new: median(untilNew) }
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[values.length >> 1] as number
}

/** Mean signals until worse after 2,000 calm ones, divided by that of a test that knows both rates. Not found counts as all 2,000. */
export function delayAgainstOracle(histories: number, seed: number): Shares & { oracle: number } {
  const random = seededRandom(seed)
  const sums = { old: 0, new: 0, oracle: 0 }
  for (let i = 0; i < histories; i++) {
    const history = steady(2_000, 2_000, rates(0.85, 0.75))(random)
    const result = watch(history)
    sums.old += result.old.first?.signals ?? 2_000
    sums.new += result.new.first?.signals ?? 2_000
    sums.oracle += signalsOfOracle(history.votes.slice(history.change))
  }
  return { old: sums.old / sums.oracle, new: sums.new / sums.oracle, oracle: sums.oracle / histories }
}

// Wald's test of 75% against 85%, with the same threshold of 20.
function signalsOfOracle(votes: Vote[]): number {
  let log = 0
  for (const [i, { isPositive }] of votes.entries()) {
    log += isPositive ? Math.log(0.75 / 0.85) : Math.log(0.25 / 0.15)
    if (log >= Math.log(20)) return i + 1
  }
  return votes.length
}

/** The share of prompts with 20 segments, none affected, that report any segment at any look. */
export function falseDiscoveries(
  histories: number,
  seed: number,
  start: (random: Random) => (vote: number, isNew: boolean) => number = rates(0.85, 0.85),
): Shares {
  const random = seededRandom(seed)
  const found = { old: 0, new: 0 }
  for (let i = 0; i < histories; i++) {
    const segments = Array.from({ length: 20 }, () => steady(500, 500, start)(random).votes)
    const logs = segments.map(() => 0)
    const before = segments.map((votes) => sumsOf(votes.slice(0, 500)))
    const drifts = driftOfSegments(before, defaultDrift)
    const quick = before.map((sums, s) => quickEvidence(sums, drifts[s] as Drift))
    let [isOld, isNew] = [false, false]
    for (let look = 540; look <= 1_000; look += 20) {
      for (const [s, votes] of segments.entries()) {
        const windows = [sumsOf(votes.slice(0, 500)), sumsOf(votes.slice(500, look))]
        isOld ||= ['better', 'worse'].includes(verdictOf(...(windows.map(totalOf) as [Tally, Tally])))
        logs[s] = (quick[s] as (after: Sum[]) => number)(windows[1] as Sum[])
      }
      isNew ||= discoveries(logs).some(Boolean)
    }
    if (isOld) found.old++
    if (isNew) found.new++
  }
  return { old: found.old / histories, new: found.new / histories }
}

/** Power if the organisation has other prompts, each with 2,000 calm votes. */
function foundAmongCalmPrompts(histories: number, seed: number, prompts: number): Shares {
  const random = seededRandom(seed)
  const pasts = Array.from({ length: prompts }, () => {
    const { votes } = steady(2_000, 0, rates(0.85, 0.85))(random)
    return likelihoodOfDrift(cutBlocks([sumsOf(votes)]), 1)
  })
  return shareFound(steady(1_000, 1_000, rates(0.85, 0.75)), histories, seed, { drift: learnDrift(pasts) })
}

const percent = (value: number) => `${(100 * value).toFixed(1)}%`
const times = (value: number) => `${value.toFixed(2)} ×`

interface Row {
  name: string
  must: string
  run: (histories: number) => Shares
  show?: (value: number) => string
}

const withoutChange: Row[] = [
  {
    name: 'vTaiwan, fake changes at random places',
    must: '≤ 3%',
    run: (n) => shareFoundInStatements(4 * n, 1),
  },
  {
    name: 'random walk, 0.5 points a day',
    must: '≤ 6%',
    run: (n) => shareFound(steady(2_000, 2_000, walk(0.5)), n, 2),
  },
  {
    name: 'random walk, 1 point a day',
    must: '≤ 6%',
    run: (n) => shareFound(steady(2_000, 2_000, walk(1)), n, 3),
  },
  { name: 'weekly season, ±4 points', must: '≤ 6%', run: (n) => shareFound(steady(2_000, 2_000, season(4)), n, 4) },
  {
    name: '5 votes a voter, correlated 0.3',
    must: '≤ 6%',
    run: (n) => shareFound(steady(2_000, 2_000, voters(5)), n, 5),
  },
  {
    name: '10 votes a voter, correlated 0.3',
    must: '≤ 6%',
    run: (n) => shareFound(steady(2_000, 2_000, voters(10)), n, 6),
  },
  {
    name: 'audience 70→50% of a segment at 90%, the rest at 70%; segment declared',
    must: '≤ 5%',
    run: (n) => shareFound(audience(2_000, 2_000, [0.9, 0.7], [0.7, 0.5]), n, 7, { bySegment: true }),
  },
  {
    name: 'independent, no change',
    must: '≤ 5%',
    run: (n) => shareFound(steady(1_000, 2_000, rates(0.85, 0.85)), n, 8),
  },
  { name: '20 segments without effect, any reported', must: '≤ 5%', run: (n) => falseDiscoveries(Math.ceil(n / 2), 9) },
]

const withChange: Row[] = [
  {
    name: '85→75%, 4,000 + 1,000',
    must: '≥ 97%',
    run: (n) => shareFound(steady(4_000, 1_000, rates(0.85, 0.75)), n, 10),
  },
  {
    name: '85→75%, 1,000 + 1,000',
    must: '≥ 85%',
    run: (n) => shareFound(steady(1_000, 1_000, rates(0.85, 0.75)), 2 * n, 11),
  },
  {
    name: '95→90%, 4,000 + 1,000',
    must: '≥ 93%',
    run: (n) => shareFound(steady(4_000, 1_000, rates(0.95, 0.9)), n, 12),
  },
  {
    name: '85→80%, 6,000 + 3,000',
    must: '≥ 88%',
    run: (n) => shareFound(steady(6_000, 3_000, rates(0.85, 0.8)), n, 13),
  },
  {
    name: 'late votes with version: median signals to worse, of no delay',
    must: '≤ 1.2 ×',
    run: (n) => {
      const prompt = medianUntilWorse(steady(2_000, 2_000, rates(0.85, 0.75)), n, 14)
      const late = medianUntilWorse(lateVotes(2_000, 4_000, 0.85, 0.75, 300), n, 14, { byVersion: true })
      return { old: late.old / prompt.old, new: late.new / prompt.new }
    },
    show: times,
  },
  {
    name: '10% canary, 10 points worse, with version; 2,000 + 5,000',
    must: '≥ 95%',
    run: (n) => shareFound(canary(2_000, 5_000, 0.85, 0.75, 0.1), n, 15, { byVersion: true }),
  },
  {
    name: 'mean signals to worse, 2,000 calm before, of an oracle',
    must: '≤ 3 ×',
    run: (n) => delayAgainstOracle(n, 16),
    show: times,
  },
]

const more: Row[] = [
  {
    name: 'vTaiwan, statements with even ids (tuned on)',
    must: '',
    run: (n) => shareFoundInStatements(2 * n, 21, { of: (id) => id % 2 === 0 }),
  },
  {
    name: 'vTaiwan, statements with odd ids (held out)',
    must: '',
    run: (n) => shareFoundInStatements(2 * n, 22, { of: (id) => id % 2 === 1 }),
  },
  {
    name: 'vTaiwan, 60% of the votes',
    must: '',
    run: (n) => shareFoundInStatements(2 * n, 23, { change: (votes, random) => votes.filter(() => random() < 0.6) }),
  },
  {
    name: 'vTaiwan, backwards',
    must: '',
    run: (n) => shareFoundInStatements(2 * n, 24, { change: backwards }),
  },
  {
    name: 'vTaiwan, stretches of 60 votes in random order',
    must: '',
    run: (n) => shareFoundInStatements(2 * n, 25, { change: shuffled(60) }),
  },
  {
    name: 'vTaiwan, evenly spread over time',
    must: '',
    run: (n) =>
      shareFoundInStatements(2 * n, 26, {
        change: (votes) => votes.map((vote, i) => ({ ...vote, at: Math.floor((i * day) / votesPerDay) })),
      }),
  },
  {
    name: 'vTaiwan, learning from the other statements',
    must: '',
    run: (n) => shareFoundInStatements(2 * n, 27, { learn: true }),
  },
  ...[0.01, 0.02, 0.04, 0.08].flatMap((drift): Row[] =>
    [300, 1_000].map((size) => ({
      name: `level drifts by ${drift} per 20 votes, ${size.toLocaleString('en')} + ${size.toLocaleString('en')}`,
      must: '',
      run: (n) => shareFound(steady(size, size, levels(drift)), n, 28),
    })),
  ),
  {
    name: 'an audience of its own every 400 votes for 160, 1,000 + 1,000',
    must: '',
    run: (n) => shareFound(steady(1_000, 1_000, episodes(400, 160, 0.4)), n, 29),
  },
  {
    name: 'an audience of its own every 800 votes for 600, 1,000 + 1,000',
    must: '',
    run: (n) => shareFound(steady(1_000, 1_000, episodes(800, 600, 0.3)), n, 30),
  },
  { name: 'bursts with an audience each, 800 + 800', must: '', run: (n) => shareFound(bursts(800, 800, 0.3), n, 31) },
  {
    name: '10 votes a voter, voter named',
    must: '',
    run: (n) => shareFound(namedVoters(steady(2_000, 2_000, voters(10)), 10), n, 6, { byVoter: true }),
  },
  {
    name: '20 drift segments (0.04), any reported',
    must: '',
    run: (n) => falseDiscoveries(Math.ceil(n / 4), 32, levels(0.04)),
  },
  {
    name: 'found: 85→75%, 1,000 + 1,000, 20 calm prompts beside it',
    must: '',
    run: (n) => foundAmongCalmPrompts(n, 33, 20),
  },
  {
    name: 'found: 85→70%, 500 + 500',
    must: '',
    run: (n) => shareFound(steady(500, 500, rates(0.85, 0.7)), n, 34),
  },
  { name: 'found: 90→50%, 200 + 200', must: '', run: (n) => shareFound(steady(200, 200, rates(0.9, 0.5)), n, 35) },
]

function namedVoters(source: Source, votesEach: number): Source {
  return (random) => {
    const { votes, change } = source(random)
    return { votes: votes.map((vote, i) => ({ ...vote, voter: Math.floor(i / votesEach) })), change }
  }
}

function backwards(votes: Vote[]): Vote[] {
  const last = votes.at(-1)?.at ?? 0
  return votes.toReversed().map((vote) => ({ ...vote, at: last - vote.at }))
}

function shuffled(length: number): (votes: Vote[], random: Random) => Vote[] {
  return (votes, random) => {
    const stretches: Vote[][] = []
    for (let i = 0; i < votes.length; i += length) stretches.push(votes.slice(i, i + length))
    for (let i = stretches.length - 1; i > 0; i--) {
      const j = Math.floor(random() * (i + 1))
      ;[stretches[i], stretches[j]] = [stretches[j] as Vote[], stretches[i] as Vote[]]
    }
    return stretches.flat().map((vote, i) => ({ ...vote, at: (votes[i] as Vote).at }))
  }
}

function printTables(histories: number, part: string): void {
  for (const [title, rows] of [
    ['without any effect: called better or worse', withoutChange],
    ['with an effect: found', withChange],
    ['harder, and held out', more],
  ] as const) {
    const chosen = rows.filter(({ name }) => name.includes(part))
    if (chosen.length === 0) continue
    console.log(`| ${title} | must | old rule | new rule |\n|---|---:|---:|---:|`)
    for (const { name, must, run, show = percent } of chosen) {
      const shares = run(histories)
      console.log(`| ${name} | ${must} | ${show(shares.old)} | ${show(shares.new)} |`)
    }
    console.log()
  }
}

/** How many votes after the change it takes until half and nine tenths of falls are found, by the votes before it. */
function printDelays(histories: number): void {
  const cell = (before: number, from: number, to: number) => {
    const random = seededRandom(40)
    const after = from - to < 0.1 ? 8_000 : 4_000
    const found = Array.from({ length: histories }, () => {
      const { first } = watch(steady(before, after, rates(from, to))(random)).new
      return first?.signals ?? Number.POSITIVE_INFINITY
    }).sort((a, b) => a - b)
    const show = (share: number) => {
      const signals = found[Math.ceil(share * histories) - 1] as number
      return Number.isFinite(signals) ? signals.toLocaleString('en') : `over ${after.toLocaleString('en')}`
    }
    return `${show(0.5)} / ${show(0.9)}`
  }
  const befores = [500, 2_000, 10_000]
  console.log(`| fall | ${befores.map((votes) => `${votes.toLocaleString('en')} before`).join(' | ')} |`)
  console.log(`|---|${befores.map(() => '---:').join('|')}|`)
  for (const [from, to] of [
    [0.95, 0.85],
    [0.95, 0.9],
    [0.85, 0.65],
    [0.85, 0.75],
    [0.85, 0.8],
    [0.5, 0.3],
    [0.5, 0.4],
  ] as const) {
    const cells = befores.map((before) => cell(before, from, to))
    console.log(`| ${Math.round(100 * from)}→${Math.round(100 * to)}% | ${cells.join(' | ')} |`)
  }
}

if (import.meta.main) {
  if (process.argv[3] === 'delays') printDelays(Number(process.argv[2]))
  else printTables(Number(process.argv[2] ?? 400), process.argv[3] ?? '')
}
