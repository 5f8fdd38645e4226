import { DomainError } from '../errors.ts'
import type { Instant } from '../time.ts'

/** The organisation has used up its signals for the month. The monthly-limit.ts of each engine in store/ enforces the limit. */
export class MonthlyLimitError extends DomainError {
  readonly limit: number
  readonly used: number
  readonly resetsAt: Instant

  constructor(limit: number, used: number, resetsAt: Instant) {
    super(
      'rate_limited',
      `Your plan's limit of ${limit} signals per month is reached. It resets at the start of next month, UTC.`,
    )
    this.limit = limit
    this.used = used
    this.resetsAt = resetsAt
  }
}
