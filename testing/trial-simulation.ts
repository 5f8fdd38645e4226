import type { Arm } from '../server/src/domain/trials/assignment.ts'
import { addVotes, startEvidence, type TrialEvidence, verdictOfTrial } from '../server/src/domain/trials/e-process.ts'
import { hasShareMismatch } from '../server/src/domain/trials/share-check.ts'
import { type Random, seededRandom } from './random.ts'

// Simulates trials with known rates, to see how often and how soon their verdict is right. Run as a program it prints the table of
// docs/impact.md: npx node testing/trial-simulation.ts [trials per row, 2,000 by default]

export interface SimulatedTrial {
  votes: number
  /** The rate of the control at each vote. */
  rate: (vote: number) => number
  /** What the candidate adds to it. */
  difference: number
  share: (vote: number) => number
}

/** Votes until the verdict, checked after every 10; null if there is none. */
export function votesToVerdict(
  trial: SimulatedTrial,
  random: Random,
): { verdict: 'better' | 'worse'; votes: number } | null {
  const evidence = startEvidence(pastOf(trial.rate(0)))
  for (let i = 0; i < trial.votes; i++) {
    addVote(evidence, trial, i, random)
    if (i % 10 !== 9) continue
    const verdict = verdictOfTrial(evidence)
    if (verdict !== 'undecided') return { verdict, votes: i + 1 }
  }
  return null
}

/** A hundred votes on the live version: what is known of it before a trial starts. */
export function pastOf(rate: number) {
  return { positive: 100 * rate, negative: 100 * (1 - rate) }
}

export function addVote(evidence: TrialEvidence, trial: SimulatedTrial, i: number, random: Random): void {
  const share = trial.share(i)
  const isCandidate = random() < share
  const isPositive = random() < trial.rate(i) + (isCandidate ? trial.difference : 0)
  addVotes(evidence, share, oneVote(isCandidate ? 'candidate' : 'control', isPositive))
}

export function oneVote(arm: Arm, isPositive: boolean) {
  const vote = { positive: isPositive ? 1 : 0, negative: isPositive ? 0 : 1 }
  const none = { positive: 0, negative: 0 }
  return arm === 'candidate' ? { candidate: vote, control: none } : { candidate: none, control: vote }
}

export interface Power {
  /** The share of trials found worse, and the share found better. */
  worse: number
  better: number
  /** The median number of votes of those that were decided. */
  median: number
}

export function powerOf(trial: SimulatedTrial, trials: number, seed: number): Power {
  const random = seededRandom(seed)
  const decided = Array.from({ length: trials }, () => votesToVerdict(trial, random)).filter((found) => found !== null)
  const votes = decided.map((found) => found.votes).sort((a, b) => a - b)
  const worse = decided.filter(({ verdict }) => verdict === 'worse').length
  return {
    worse: worse / trials,
    better: (decided.length - worse) / trials,
    median: votes[votes.length >> 1] ?? Number.NaN,
  }
}

export const constant = (value: number) => () => value

/** A rate that moves by 60 points and back every 1,250 votes. */
export const wave = (vote: number) => 0.6 + 0.3 * Math.sin(vote / 200)

export const simulatedTrials: { name: string; trial: SimulatedTrial; atLeast?: number }[] = [
  ...[500, 1_000, 2_000].map((votes, i) => ({
    name: `85→75%, share 50%, ${votes.toLocaleString('en')} votes`,
    trial: { votes, rate: constant(0.85), difference: -0.1, share: constant(0.5) },
    atLeast: [0.5, 0.87, 0.995][i] as number,
  })),
  {
    name: '85→80%, share 50%, 5,000 votes',
    trial: { votes: 5_000, rate: constant(0.85), difference: -0.05, share: constant(0.5) },
    atLeast: 0.94,
  },
  {
    name: '85→75%, share 10%, 4,000 votes',
    trial: { votes: 4_000, rate: constant(0.85), difference: -0.1, share: constant(0.1) },
    atLeast: 0.96,
  },
  {
    name: '85→75%, share 5, then 20, then 50%, 1,000 votes each',
    trial: {
      votes: 3_000,
      rate: constant(0.85),
      difference: -0.1,
      share: (vote) => [0.05, 0.2, 0.5][Math.floor(vote / 1_000)] as number,
    },
  },
  ...[0.5, 0.2, 0.1].map((share) => ({
    name: `no effect, rate between 30 and 90%, share ${100 * share}%, 3,000 votes`,
    trial: { votes: 3_000, rate: wave, difference: 0, share: constant(share) },
  })),
  {
    name: 'no effect, the share rises while the rate falls, 3,000 votes',
    trial: {
      votes: 3_000,
      rate: (vote) => 0.9 - vote / 5_000,
      difference: 0,
      share: (vote) => [0.05, 0.2, 0.5][Math.floor(vote / 1_000)] as number,
    },
  },
]

/** The share of runs in which units that come with `actual` instead of `share` are noticed, and after how many. */
export function mismatchesFound(
  share: number,
  actual: number,
  { units, runs, seed }: { units: number; runs: number; seed: number },
): { found: number; median: number } {
  const random = seededRandom(seed)
  const needed: number[] = []
  for (let run = 0; run < runs; run++) {
    const counts = { share, candidate: 0, control: 0 }
    for (let i = 0; i < units; i++) {
      counts[random() < actual ? 'candidate' : 'control']++
      if (i % 10 === 9 && hasShareMismatch([counts])) {
        needed.push(i + 1)
        break
      }
    }
  }
  needed.sort((a, b) => a - b)
  return { found: needed.length / runs, median: needed[needed.length >> 1] ?? Number.NaN }
}

const percent = (value: number) => `${(100 * value).toFixed(1)}%`

function printTables(trials: number): void {
  console.log('| trial | worse | better | median votes |\n|---|---:|---:|---:|')
  for (const [i, { name, trial }] of simulatedTrials.entries()) {
    const { worse, better, median } = powerOf(trial, trials, i)
    console.log(`| ${name} | ${percent(worse)} | ${percent(better)} | ${Number.isNaN(median) ? '' : median} |`)
  }
  console.log('\n| promised share | actual share | noticed within 5,000 units | median units |\n|---|---:|---:|---:|')
  for (const [i, [share, actual]] of shareMismatches.entries()) {
    const { found, median } = mismatchesFound(share, actual, { units: 5_000, runs: trials, seed: 100 + i })
    console.log(
      `| ${percent(share)} | ${percent(actual)} | ${percent(found)} | ${Number.isNaN(median) ? '' : median} |`,
    )
  }
}

export const shareMismatches = [
  [0.5, 0.5],
  [0.2, 0.2],
  [0.1, 0.1],
  [0.5, 0.45],
  [0.5, 0.55],
  [0.5, 0.6],
  [0.5, 0.4],
  [0.2, 0.3],
  [0.2, 0.1],
  [0.1, 0.2],
  [0.1, 0],
  [0.2, 0.18],
  [0.1, 0.09],
] as const

if (import.meta.main) printTables(Number(process.argv[2] ?? 2_000))
