import { LimitError } from '../limit-error.ts'
import type { Instant } from '../time.ts'

/** The organisation has used up its signals for the month. store/sql/signal-changes.ts enforces the limit. */
export function monthlyLimitError(limit: number, used: number, resetsAt: Instant): LimitError {
  const message = `Your plan's limit of ${limit} signals per month is reached. It resets at the start of next month, UTC.`
  return new LimitError(message, limit, used, resetsAt)
}
