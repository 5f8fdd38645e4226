import type { Action, Effect, HistoryEntry, RatedTally, Tally, Verdict } from '../../../../client/src/index.ts'
import { formatNumber } from '../output.ts'
import { styled, type Text } from './text.ts'

const labels: Record<Verdict, string> = {
  better: 'Better',
  worse: 'Worse',
  unexplained: 'Unexplained',
  no_difference_seen: 'No clear difference',
  too_little_data: 'Not enough data yet',
}

const styles = { better: 'green', worse: 'red', unexplained: 'yellow' } as const

/** As the console labels it, in its colour. */
export function verdictText({ verdict, first_version }: { verdict: Verdict; first_version?: boolean }): Text {
  // An older service does not say.
  if (first_version) return 'First version'
  // A newer service may know further verdicts.
  const label = labels[verdict] ?? verdict
  const style = styles[verdict as keyof typeof styles]
  return style === undefined ? label : styled(style, label)
}

export function formatShare(share: number | null): string {
  return share === null ? '–' : `${Math.round(share * 100)}%`
}

export function shareOf({ positive, negative }: Tally): number | null {
  return positive + negative === 0 ? null : positive / (positive + negative)
}

/** Such as `85% → 60%`. */
export function formatShares(before: number | null, after: number | null): string {
  return `${formatShare(before)} → ${formatShare(after)}`
}

/** Such as `85% of 1,000 → 60% of 240 signals positive`. */
export function formatEffect({ before, after }: Pick<Effect, 'before' | 'after'>): string {
  const side = (tally: RatedTally) => `${formatShare(tally.rate)} of ${formatNumber(tally.positive + tally.negative)}`
  if (before.rate === null && after.rate === null) return 'no signals'
  if (before.rate === null) return `no signals → ${side(after)} signals positive`
  if (after.rate === null) return `${side(before)} signals positive → no signals`
  return `${side(before)} → ${side(after)} signals positive`
}

/** How many answers were rated, such as `8% of 12,150 answers are rated, 16% of 12,400 before it.` Empty if that is not known. */
export function formatRated({ before, after, exposures }: Pick<Effect, 'before' | 'after' | 'exposures'>): string {
  // An older service does not say.
  if (exposures == null || exposures.after === 0) return ''
  const side = (tally: RatedTally, calls: number) =>
    `${formatShare(Math.min(1, (tally.positive + tally.negative) / calls))} of ${formatNumber(calls)} answers`
  const earlier = exposures.before ? `, ${side(before, exposures.before)} before it` : ''
  return `${side(after, exposures.after)} are rated${earlier}.`
}

/** Scores of judges, such as `Judges: Relevance 87% → 91% of 1,200.` Empty without any. */
export function formatJudges({ evaluations }: Pick<Effect, 'evaluations'>): string {
  // An older service does not say.
  if (evaluations === undefined || evaluations.length === 0) return ''
  const parts = evaluations.map(
    ({ name, before, after }) =>
      `${name} ${formatShares(before.rate, after.rate)} of ${formatNumber(after.positive + after.negative)}`,
  )
  return `Judges: ${parts.join(', ')}.`
}

/** A difference in percentage points with its 95% range, such as `-25 points (-31 to -19)`. */
export function formatDifference({ difference, interval }: Pick<Effect, 'difference' | 'interval'>): string {
  if (difference === null) return ''
  const range = interval === null ? '' : ` (${points(interval[0])} to ${points(interval[1])})`
  const rounded = points(difference)
  return `${rounded} ${/^[+-]1$/.test(rounded) ? 'point' : 'points'}${range}`
}

function points(share: number): string {
  const rounded = Math.round(share * 100)
  return rounded > 0 ? `+${rounded}` : String(rounded)
}

/** The day and time in UTC, such as `2026-11-15 01:05`. */
export function formatTime(iso: string): string {
  return iso.slice(0, 16).replace('T', ' ')
}

export function formatDay(iso: string): string {
  return iso.slice(0, 10)
}

const actions: Record<Action, string> = {
  deployed: 'deployed',
  pr_opened: 'opened',
  pr_merged: 'merged',
  pr_closed: 'closed',
}

/** Such as `merged #27` or `deployed`. */
export function formatAction({ action, pr_number: pull }: Pick<HistoryEntry, 'action' | 'pr_number'>): string {
  const verb = actions[action] ?? action
  return pull === null ? verb : `${verb} #${pull}`
}

export function shortCommit({ commit_sha: sha }: Pick<HistoryEntry, 'commit_sha'>): string {
  return sha.slice(0, 10)
}

/** The first line of a commit message, or of the pull request that it merges. */
export function titleOf(message: string | null): string {
  const [first = '', ...rest] = (message ?? '').split('\n').filter((line) => line.trim() !== '')
  return /^Merge (pull request|branch) /.test(first) ? (rest[0] ?? first) : first
}
