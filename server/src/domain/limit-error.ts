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
