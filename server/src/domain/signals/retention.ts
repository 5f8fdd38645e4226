import { day, delay, type Instant } from '../time.ts'

export interface RetentionStore {
  /** Signals before this instant are removed or about to be. Always the start of an hour. */
  retainedSince(): Promise<Instant>
  /**
   * Removes a batch of signals from before the cutoff, rounded down to the engine's granularity (hour or month). Hourly sums
   * stay, idempotency keys go. False once none are left.
   */
  removeBatch(cutoff: Instant): Promise<boolean>
}

// Longer than a batch takes, so signal writes are hardly delayed.
const pauseMs = 20

/** Removes signals older than `days` in batches, until none are left or `isStopped` returns true. */
export async function removeOldSignals(
  signals: RetentionStore,
  days: number,
  now: Instant,
  isStopped: () => boolean = () => false,
): Promise<void> {
  const cutoff = Math.max(0, now - days * day)
  while (!isStopped() && (await signals.removeBatch(cutoff))) await delay(pauseMs)
}
