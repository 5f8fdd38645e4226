import type { LimitError } from '../domain/limit-error.ts'
import { type Instant, isoTime } from '../domain/time.ts'

/** What a 429 says about its limit. */
export function toLimitBody({ limit, used, resetsAt }: LimitError): { limit: number; used: number; resets_at: string } {
  return { limit, used, resets_at: isoTime(resetsAt) }
}

/** For `Retry-After` and `RateLimit-Reset`. */
export function secondsUntilReset(resetsAt: Instant, now: Instant): number {
  return Math.max(1, Math.ceil((resetsAt - now) / 1_000))
}
