import { setTimeout as pause } from 'node:timers/promises'

export interface EventuallyOptions {
  timeoutMs?: number
  intervalMs?: number
}

/**
 * Repeats `check` until it succeeds, and returns its result. A check that throws or returns false has not succeeded yet. After
 * `timeoutMs` this fails with the reason of the last attempt, also when that attempt hangs.
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  { timeoutMs = 90_000, intervalMs = 20 }: EventuallyOptions = {},
): Promise<T> {
  const deadline = performance.now() + timeoutMs
  let reason: unknown = new Error('the check did not finish')
  for (;;) {
    const attempt = await attemptWithin(check, deadline - performance.now())
    if (attempt.state === 'succeeded') return attempt.result
    if (attempt.state === 'failed') reason = attempt.reason
    if (performance.now() + intervalMs >= deadline) {
      const { message } = reason as Error
      throw new Error(`still failing after ${timeoutMs} ms: ${message}`, { cause: reason })
    }
    await pause(intervalMs)
  }
}

type Attempt<T> = { state: 'succeeded'; result: T } | { state: 'failed'; reason: unknown } | { state: 'hung' }

async function attemptWithin<T>(check: () => T | Promise<T>, timeoutMs: number): Promise<Attempt<T>> {
  const finished = new AbortController()
  const timeout = pause(Math.max(timeoutMs, 0), { state: 'hung' } as const, { signal: finished.signal })
  timeout.catch(() => {})
  try {
    return await Promise.race([attempt(check), timeout])
  } finally {
    finished.abort()
  }
}

async function attempt<T>(check: () => T | Promise<T>): Promise<Attempt<T>> {
  try {
    const result = await check()
    return result === false
      ? { state: 'failed', reason: new Error('the check returned false') }
      : { state: 'succeeded', result }
  } catch (reason) {
    return { state: 'failed', reason }
  }
}
