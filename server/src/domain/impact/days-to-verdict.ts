import { countOf, type Tally } from '../signals/tally.ts'
import { day } from '../time.ts'
import type { JudgedChange } from './judged-changes.ts'
import { rateOf, verdictOf } from './model/verdict.ts'

const maxDays = 90
// The rate of a handful of votes says little, so it counts together with as many votes as a comparison needs at the rate from before.
const priorVotes = 20

/**
 * About how many more days of votes a change with too little data needs at least, if they come as often and are about as positive as
 * since it went live. Null without votes on it, and if 90 days are not enough, such as with too few votes before the change. Votes that
 * drift count for less the longer one waits, so it can take longer.
 */
export function daysToVerdict(
  { before, after, effectiveSignals }: Pick<JudgedChange, 'before' | 'after' | 'effectiveSignals'>,
  liveForMs: number,
): number | null {
  const votes = countOf(after)
  const rateBefore = rateOf(before)
  if (votes === 0 || rateBefore === null) return null
  const share = effectiveSignals / (countOf(before) + votes)
  const rate = (after.positive + priorVotes * rateBefore) / (votes + priorVotes)
  const perDay = (votes * day) / Math.max(day, liveForMs)
  for (let days = 1; days <= maxDays; days++) {
    const later = {
      positive: after.positive + rate * perDay * days,
      negative: after.negative + (1 - rate) * perDay * days,
    }
    if (verdictOf(scaled(before, share), scaled(later, share)) !== 'too_little_data') return days
  }
  return null
}

function scaled({ positive, negative }: Tally, by: number): Tally {
  return { positive: positive * by, negative: negative * by }
}
