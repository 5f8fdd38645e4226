import { DomainError } from './errors.ts'
import type { Instant } from './time.ts'

/** A limit is reached: a 429 that says when it resets. */
export class LimitError extends DomainError {
  readonly limit: number
  readonly used: number
  readonly resetsAt: Instant

  constructor(message: string, limit: number, used: number, resetsAt: Instant) {
    super('rate_limited', message)
    this.limit = limit
    this.used = used
    this.resetsAt = resetsAt
  }
}

/** The organisation has used up its signals for the month. store/sql/signal-changes.ts enforces the limit. */
export function monthlyLimitError(limit: number, used: number, resetsAt: Instant): LimitError {
  const message = `Your plan's limit of ${limit} signals per month is reached. It resets at the start of next month, UTC.`
  return new LimitError(message, limit, used, resetsAt)
}
