import { testLimitError } from '../domain/alerts/alert-service.ts'
import { type Clock, day, type Instant, minute } from '../domain/time.ts'

const testsPerMinute = 10
// An email test goes to addresses that an admin chooses: without a limit, to as many strangers as they like.
const testsPerDay = 100
// A test takes at most 10 s.
const maxDurationMs = 10_000
const maxAtOnce = 8
const maxAtOncePerOrganisation = 2

/** Limits how many test messages an organisation sends, per minute, per day and at the same time. */
export function createTestLimit(clock: Clock) {
  /** When the tests of the last day were sent, oldest first. */
  const sent = new Map<number, Instant[]>()
  const running = new Map<number, number>()
  let runningInAll = 0

  function count(organisationId: number): void {
    const now = clock()
    for (const [id, times] of sent) if ((times.at(-1) ?? 0) <= now - day) sent.delete(id)
    const today = (sent.get(organisationId) ?? []).filter((at) => at > now - day)
    const recent = today.filter((at) => at > now - minute)
    if (recent.length >= testsPerMinute) {
      throw testLimitError(testsPerMinute, recent.length, (recent[0] as number) + minute)
    }
    if (today.length >= testsPerDay) {
      throw testLimitError(testsPerDay, today.length, (today[0] as number) + day, 'per day')
    }
    sent.set(organisationId, [...today, now])
  }

  return {
    async run<T>(organisationId: number, send: () => Promise<T>): Promise<T> {
      const own = running.get(organisationId) ?? 0
      if (own >= maxAtOncePerOrganisation || runningInAll >= maxAtOnce) {
        throw testLimitError(maxAtOncePerOrganisation, own, clock() + maxDurationMs, 'at the same time')
      }
      count(organisationId)
      running.set(organisationId, own + 1)
      runningInAll++
      try {
        return await send()
      } finally {
        runningInAll--
        const left = (running.get(organisationId) ?? 1) - 1
        if (left === 0) running.delete(organisationId)
        else running.set(organisationId, left)
      }
    },
  }
}
