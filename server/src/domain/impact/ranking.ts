import type { Prompt } from '../prompt.ts'
import { emptyTally, type Tally } from '../signals/tally.ts'
import type { Instant } from '../time.ts'
import type { JudgedChange } from './judged-changes.ts'
import { rateOf, type Verdict } from './model/verdict.ts'
import { overviewStart } from './overview.ts'
import type { VoteHistory } from './reading/vote-history.ts'

/** How a prompt stands, as the judge last saw it. Lists of prompts are sorted by it, because judging all of them takes too long. */
export interface Ranking {
  /** The effect of the last change. Null while there is too little data. */
  effect: { verdict: Verdict; difference: number } | null
  /** Of the last 30 days. Null with too few signals to compare. */
  positiveShare: number | null
}

export interface RankingStore {
  /** Writes nothing if little has changed within a day. */
  save(prompt: Prompt, ranking: Ranking, at: Instant): Promise<void>
}

// With fewer, one unhappy user would make a prompt the worst of all.
const minSignals = 20

export function rankingOf(history: VoteHistory, judged: readonly JudgedChange[], now: Instant): Ranking {
  const last = history.periods.at(-1)
  const change = judged.find(({ period }) => period === last)
  const isKnown = change !== undefined && change.verdict !== 'too_little_data' && change.difference !== null
  const recent = recentTally(history, now)
  return {
    effect: isKnown ? { verdict: change.verdict, difference: change.difference?.difference ?? 0 } : null,
    positiveShare: recent.positive + recent.negative < minSignals ? null : rateOf(recent),
  }
}

export function recentTally({ hours }: VoteHistory, now: Instant): Tally {
  const since = overviewStart(now)
  const tally = { ...emptyTally }
  for (let i = hours.start.length - 1; i >= 0 && (hours.start[i] as number) >= since; i--) {
    tally.positive += hours.positive[i] as number
    tally.negative += hours.negative[i] as number
  }
  return tally
}
