import type { Regression } from '@promptledger/client'
import { formatDuration } from '../ui/duration.ts'

/**
 * How long users have had the worse version: from the moment it went live, which is earlier than the votes could show it,
 * until the regression was repaired, withdrawn or dismissed, or until now.
 */
export function openTimeOf(regression: Regression): string {
  const { repaired_at: repaired, withdrawn_at: withdrawn, dismissed_at: dismissed } = regression
  const until = regression.state === 'open' ? null : (dismissed ?? withdrawn ?? repaired)
  return formatDuration((until === null ? Date.now() : Date.parse(until)) - Date.parse(liveSince(regression)))
}

/** When the change went live, or was made if that is unknown. */
export function liveSince({ live_from: liveFrom, change }: Regression): string {
  return liveFrom ?? change.created_at
}
