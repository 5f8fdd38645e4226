import type { Tally } from '../../signals/tally.ts'
import { shortTime } from '../../time.ts'
import type { Judgement } from './judgement.ts'
import type { Reason } from './unexplained.ts'
import { rateOf } from './verdict.ts'

export const firstVersion = 'First version, nothing to compare with.'

/** One sentence or two that say what the verdict rests on, for a reader who knows no statistics. */
export function explain(judgement: Judgement, before: Tally, after: Tally): string {
  const { verdict, reason, difference, effectiveSignals } = judgement
  const from = rateOf(before)
  const to = rateOf(after)
  if (from === null || to === null || difference === null) {
    return `There are ${votes(before)} before this change and ${votes(after)} after it. A comparison needs 20 on each side.`
  }
  const rates = ratesOf(before, after)
  const reach = Math.max(-difference.interval[0], difference.interval[1])
  switch (verdict) {
    case 'better':
    case 'worse':
      return `${rates}. ${verdict === 'better' ? 'A rise' : 'A fall'} of this size at this moment is at least 20 times more likely with an effect of the change than without one.`
    case 'no_difference_seen':
      return `${rates}. A difference of more than ${points(reach)} is unlikely.`
    case 'too_little_data':
      return `${rates}. That is too little to tell: a difference of ${points(reach)} is still possible.`
    case 'unexplained':
      return `${rates}, but ${why(reason, effectiveSignals)}.`
  }
}

function why(reason: Reason | null, effectiveSignals: number): string {
  switch (reason?.kind) {
    case 'elsewhere':
      return `the rate moved around ${shortTime(reason.at)} UTC, not with this change`
    case 'audience':
      return `the votes are distributed differently over "${reason.key}", which makes ${points(Math.abs(reason.mix.audience))} of the difference. For the same "${reason.key}", the rates do not show an effect of the change`
    case 'shared':
      return `${grouped(reason.prompts)} other prompts moved at the same time, so the cause is probably outside of this prompt`
    case 'model': {
      const { at, from, to, source } = reason.change
      // Links for people without a key show explanations, but no metadata.
      const names =
        source === 'signals' ? 'that the metadata of votes names changed' : `changed from "${from}" to "${to}"`
      const changed = `the model ${names}`
      if (reason.together) return `${changed} in the same hour, so the votes cannot tell which of the two it was`
      return `${changed} around ${shortTime(at)} UTC, which explains the votes better than this change`
    }
    default:
      return `votes on this prompt may drift this far without any change: together they say as much as ${grouped(effectiveSignals)} independent votes`
  }
}

/** For a segment that would be called better or worse on its own. */
export function explainMultiple(before: Tally, after: Tally, segments: number): string {
  return `${ratesOf(before, after)}. Among ${segments} segments, one that differs this much is not rare without any effect, so it needs more votes.`
}

function ratesOf(before: Tally, after: Tally): string {
  const [from, to] = [rateOf(before) ?? 0, rateOf(after) ?? 0]
  return `${percent(to)} of ${votes(after)} are positive after this change, ${percent(from)} of ${votes(before)} before it`
}

function votes({ positive, negative }: Tally): string {
  const count = positive + negative
  return `${grouped(count)} ${count === 1 ? 'vote' : 'votes'}`
}

/** With commas. `toLocaleString` loads the data of all locales first, which takes 100 ms. */
function grouped(count: number): string {
  return String(count).replaceAll(/\B(?=(\d{3})+$)/g, ',')
}

export function percent(rate: number): string {
  const value = 100 * rate
  // One digit more near 0% and 100%, where a point is a lot.
  return `${value > 5 && value < 95 ? Math.round(value) : Number(value.toFixed(1))}%`
}

function points(difference: number): string {
  const value = Math.max(1, Math.round(100 * difference))
  return `${value} ${value === 1 ? 'point' : 'points'}`
}
