import { day, delay, type Instant } from '../time.ts'

/**
 * For how long a repeated request with the same idempotency key gets the first response, unless retention removes its signal earlier.
 * Clients retry for minutes, and a spool sends again when the service is back.
 */
export const idempotencyWindowMs = 90 * day

export interface IdempotencyKeyStore {
  /** Removes a batch of the idempotency keys from before this instant. False once none are left. */
  removeKeysBefore(at: Instant): Promise<boolean>
}

// Longer than a batch takes, so signal writes are hardly delayed.
const pauseMs = 20

/** Removes expired idempotency keys in batches, until none are left or `isStopped` returns true. */
export async function removeExpiredKeys(
  signals: IdempotencyKeyStore,
  now: Instant,
  isStopped: () => boolean = () => false,
): Promise<void> {
  while (!isStopped() && (await signals.removeKeysBefore(now - idempotencyWindowMs))) await delay(pauseMs)
}
