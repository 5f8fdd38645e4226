import { type Difference, notableDifference } from '../impact/model/verdict.ts'
import { countOf, type Tally } from '../signals/tally.ts'
import { type Arm, arms } from './assignment.ts'

// Bets against "both arms have the same rate at this moment". The arm of each vote was drawn at random, so whatever moves the rate
// of both arms makes no bet win on average: without an effect, the expected capital never exceeds the 1 it starts with. By Ville's
// inequality it ever reaches 20 with a probability of at most 1/20, however often anyone looks. docs/decisions/0113 has the proof.

/** What is known of a trial. It is plain JSON, and only grows with the number of shares and rates that the trial has had. */
export interface TrialEvidence {
  /** The latest votes of both arms, older ones discounted. The next bets assume their rate. */
  recent: Tally
  bets: Bets[]
}

/** Votes by what was assumed before they arrived. Their order no longer matters. */
interface Bets extends Record<Arm, Tally> {
  /** The index of the assumed rate. */
  level: number
  share: number
}

const trialVerdicts = ['better', 'worse', 'undecided'] as const

export type TrialVerdict = (typeof trialVerdicts)[number]

const minLogCapital = Math.log(20)

// Differences that bets are made on, and the part of the initial capital that each gets: most at 5 and 10 points, where trials are
// decided. Large trials find differences down to about half of the smallest.
const effects = [0.0125, 0.025, 0.05, 0.1, 0.2]
const parts = [1 / 8, 1 / 4, 3 / 4, 1, 1 / 2]
const logTotal = Math.log(parts.reduce((sum, part) => sum + part))
const logParts = parts.map((part) => Math.log(part) - logTotal)

// A bet never risks more than this part of its capital: the assumed rate is an estimate.
const maxRisk = 0.95

// Rates that bets assume, closer together near 0 and 1, where a point matters more. A few levels keep the evidence small.
const levels = 20
const rateOfLevel = (level: number) => Math.sin((Math.PI * level) / (2 * levels)) ** 2
const levelOfRate = (rate: number) => {
  const level = Math.round((Math.asin(Math.sqrt(rate)) * 2 * levels) / Math.PI)
  return Math.min(levels - 1, Math.max(1, level))
}

// How many votes the assumed rate remembers, so that it follows a rate that moves.
const memory = 300

// How many votes the rate of the live version before the trial counts for.
const maxBefore = 100

/** Evidence without votes. The votes on the live version before the trial tell which rate to expect. */
export function startEvidence(before: Readonly<Tally> = { positive: 0, negative: 0 }): TrialEvidence {
  const weight = Math.min(1, maxBefore / Math.max(1, before.positive + before.negative))
  const recent = { positive: 0.5 + before.positive * weight, negative: 0.5 + before.negative * weight }
  return { recent, bets: [] }
}

/**
 * Counts votes that were assigned with this share, in the order of arrival: one by one, or in batches such as the votes of an hour.
 * Each unit may vote once, because the arm of its next vote is no longer random. Without a second arm there is nothing to compare.
 */
export function addVotes(evidence: TrialEvidence, share: number, votes: Readonly<Record<Arm, Tally>>): void {
  const { recent, bets } = evidence
  const positive = votes.candidate.positive + votes.control.positive
  const negative = votes.candidate.negative + votes.control.negative
  if (share > 0 && share < 1 && positive + negative > 0) {
    // Only votes that arrived earlier may choose the rate: a bet that knows its outcome proves nothing.
    const level = levelOfRate(recent.positive / (recent.positive + recent.negative))
    let bet = bets.find((other) => other.level === level && other.share === share)
    if (bet === undefined) {
      bet = { level, share, candidate: { positive: 0, negative: 0 }, control: { positive: 0, negative: 0 } }
      bets.push(bet)
    }
    add(bet.candidate, votes.candidate)
    add(bet.control, votes.control)
  }
  const kept = Math.exp(-(positive + negative) / memory)
  recent.positive = recent.positive * kept + positive
  recent.negative = recent.negative * kept + negative
}

function add(tally: Tally, { positive, negative }: Tally): void {
  tally.positive += positive
  tally.negative += negative
}

/** Better or worse from a capital of 20. */
export function verdictOfTrial(evidence: TrialEvidence): TrialVerdict {
  const { better, worse, both } = logCapital(evidence)
  if (both < minLogCapital) return 'undecided'
  return better > worse ? 'better' : 'worse'
}

/**
 * The log capital of bets against the candidate's rate being higher by `difference` than that of the control: of those on more, of
 * those on less, and of both halves together.
 */
export function logCapital(evidence: TrialEvidence, difference = 0): Record<'better' | 'worse' | 'both', number> {
  const better = logSum(logCapitals(evidence, difference, 1))
  const worse = logSum(logCapitals(evidence, difference, -1))
  return { better, worse, both: logSum([better, worse]) - Math.LN2 }
}

// The log capital of the bet on each effect, in one direction.
function logCapitals({ bets }: TrialEvidence, difference: number, sign: number): number[] {
  const logs = [...logParts]
  for (const { level, share, candidate, control } of bets) {
    const game = gameOf(rateOfLevel(level), share)
    for (const [i, effect] of effects.entries()) {
      const stake = stakeOf(game, sign * effect, difference)
      logs[i] =
        (logs[i] as number) +
        candidate.positive * Math.log(1 + stake * (game.candidateUp - difference)) +
        candidate.negative * Math.log(1 + stake * (game.candidateDown - difference)) +
        control.positive * Math.log(1 + stake * (game.controlUp - difference)) +
        control.negative * Math.log(1 + stake * (game.controlDown - difference))
    }
  }
  return logs
}

type Game = ReturnType<typeof gameOf>

// What a vote says about the difference: (vote − rate) / share for the candidate, −(vote − rate) / (1 − share) for the control. On
// average over the arms that is exactly the difference of their rates, whatever the rate that is assumed.
function gameOf(rate: number, share: number) {
  const candidateUp = (1 - rate) / share
  const candidateDown = -rate / share
  const controlUp = -(1 - rate) / (1 - share)
  const controlDown = rate / (1 - share)
  const variance = (rate * (1 - rate)) / (share * (1 - share))
  return { candidateUp, candidateDown, controlUp, controlDown, variance }
}

// A capital grows fastest with a stake of effect / variance: for a difference of 0, that multiplies it by the likelihood ratio.
function stakeOf(game: Game, effect: number, difference: number): number {
  const { candidateUp, candidateDown, controlUp, controlDown, variance } = game
  const loss =
    effect > 0 ? difference - Math.min(candidateDown, controlUp) : Math.max(candidateUp, controlDown) - difference
  const stake = Math.abs(effect) / variance
  return Math.sign(effect) * (loss > 0 ? Math.min(stake, maxRisk / loss) : stake)
}

/** The log of a sum whose terms are given as logs. */
export function logSum(logs: readonly number[]): number {
  const max = Math.max(...logs)
  return max + Math.log(logs.reduce((sum, log) => sum + Math.exp(log - max), 0))
}

const rangeSteps = 100
const rangePrecision = 0.0001

/**
 * The difference between the arms with its confidence sequence: the differences that no capital of 20 speaks against. It contains
 * the true one at all looks together with a probability of at least 95%. Null until both arms have votes, and if they speak against
 * every difference, as they do when units do not come in the promised share.
 */
export function differenceOfTrial(evidence: TrialEvidence): Difference | null {
  const difference = estimateOf(evidence)
  if (difference === null) return null
  const isPossible = (at: number) => logCapital(evidence, at).both < minLogCapital
  const low = edgeOf(isPossible, -1)
  const high = edgeOf(isPossible, 1)
  return low === null || high === null ? null : { difference, interval: [low, high] }
}

// Looks for the first possible difference from one end, then more exactly just before it.
function edgeOf(isPossible: (difference: number) => boolean, end: 1 | -1): number | null {
  let i = 0
  while (i <= 2 * rangeSteps && !isPossible(end * (1 - i / rangeSteps))) i++
  if (i > 2 * rangeSteps) return null
  if (i === 0) return end
  let [outside, inside] = [end * (1 - (i - 1) / rangeSteps), end * (1 - i / rangeSteps)]
  while (Math.abs(inside - outside) > rangePrecision) {
    const middle = (outside + inside) / 2
    if (isPossible(middle)) inside = middle
    else outside = middle
  }
  return outside
}

// Compares only votes that were counted under the same share and a similar rate (Mantel and Haenszel). Over all votes together, a
// share that was raised while the rate rose would look like an effect.
function estimateOf({ bets }: TrialEvidence): number | null {
  let [sum, weights] = [0, 0]
  for (const { candidate, control } of bets) {
    const [m, n] = [countOf(candidate), countOf(control)]
    if (m === 0 || n === 0) continue
    const weight = (m * n) / (m + n)
    sum += weight * (candidate.positive / m - control.positive / n)
    weights += weight
  }
  return weights === 0 ? null : sum / weights
}

// Until both arms have this many votes, their difference is mostly chance.
const minVotes = 20

/**
 * How many days it takes until there is a verdict at this many votes a day, if the arms keep differing as they do so far, or by 10
 * points while there are few votes. Null if no verdict is in sight.
 */
export function daysUntilVerdict(evidence: TrialEvidence, share: number, votesPerDay: number): number | null {
  const isKnown = arms.every((arm) => evidence.bets.reduce((sum, bet) => sum + countOf(bet[arm]), 0) >= minVotes)
  const difference = (isKnown ? estimateOf(evidence) : null) ?? -notableDifference
  const votes = votesUntilVerdict(evidence, share, difference)
  return votes === null || votesPerDay <= 0 ? null : votes / votesPerDay
}

const maxVotes = 1e9

/**
 * About how many further votes it takes until there is a verdict, if the candidate's rate differs by `difference`: the average, most
 * trials need fewer. Null if the difference is too small to ever be found.
 */
export function votesUntilVerdict(evidence: TrialEvidence, share: number, difference: number): number | null {
  if (share <= 0 || share >= 1) return null
  const { positive, negative } = evidence.recent
  const rate = positive / (positive + negative)
  const sides = [1, -1].map((sign) => ({
    now: logCapitals(evidence, 0, sign),
    growth: effects.map((effect) => growthOf(rate, share, sign * effect, difference)),
  }))
  const logAfter = (votes: number) =>
    logSum(sides.flatMap(({ now, growth }) => now.map((log, i) => log + votes * (growth[i] as number)))) - Math.LN2
  if (logAfter(0) >= minLogCapital) return 0
  if (logAfter(maxVotes) < minLogCapital) return null
  let [low, high] = [0, maxVotes]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (logAfter(middle) >= minLogCapital) high = middle
    else low = middle
  }
  return high
}

// How much the log capital of a bet grows with each vote, on average.
function growthOf(rate: number, share: number, effect: number, difference: number): number {
  const game = gameOf(rate, share)
  const stake = stakeOf(game, effect, 0)
  const bounded = (value: number) => Math.min(1, Math.max(0, value))
  const candidate = bounded(rate + (1 - share) * difference)
  const control = bounded(rate - share * difference)
  return (
    share *
      (candidate * Math.log(1 + stake * game.candidateUp) +
        (1 - candidate) * Math.log(1 + stake * game.candidateDown)) +
    (1 - share) *
      (control * Math.log(1 + stake * game.controlUp) + (1 - control) * Math.log(1 + stake * game.controlDown))
  )
}
