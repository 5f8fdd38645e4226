import { day, hour, type Instant, minute, weekStart } from '../time.ts'

// Before people in Europe start to work.
const hourMs = 7 * hour
// A digest that comes later is no longer news.
const maxDelayMs = 2 * day

/** When the digests of this week begin to be sent: on its Monday. */
export function digestTime(now: Instant): Instant {
  return weekStart(now) + hourMs
}

/** How much later an organisation gets its digest, so that those of many organisations do not hold up alerts and requests. */
export function digestDelayMs(organisationId: number): number {
  return (organisationId % 60) * minute
}

/** Whether the digest that was due then may be sent. */
export function isDigestTime(dueAt: Instant, now: Instant): boolean {
  return now >= dueAt && now - dueAt < maxDelayMs
}
