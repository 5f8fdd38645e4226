import { day, type Instant } from '../time.ts'

export interface RetentionStore {
  /** From when on signals are kept: those from before are removed or about to be. Always the beginning of an hour. */
  keptSince(): Promise<Instant>
  /**
   * Removes some of the signals from before the cutoff, as finely as the engine does it: by hours or by months. Their sums
   * stay, their idempotency keys go. False where none is left.
   */
  removeSome(cutoff: Instant): Promise<boolean>
}

/** Removes signals that are older than so many days, step by step, until none is left or `stopped` says so. */
export async function removeOldSignals(
  signals: RetentionStore,
  days: number,
  now: Instant,
  stopped: () => boolean = () => false,
): Promise<void> {
  const cutoff = Math.max(0, now - days * day)
  while (!stopped() && (await signals.removeSome(cutoff))) await pause()
}

// Longer than a step takes, so that those who record are hardly held up.
const pauseBetweenSteps = 20

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, pauseBetweenSteps))
}
