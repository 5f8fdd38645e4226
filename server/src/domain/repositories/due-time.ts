import { hour, type Instant } from '../time.ts'
import type { Repository } from './repository.ts'

const minute = 60_000

/**
 * How far ahead each kind of due time is ever set. A time further ahead was set before the clock went back and counts as due,
 * so work is not put off until the clock catches up.
 */
export const maxFuture = { lease: minute, sync: 2 * hour, attempt: 24 * hour }

/** Whether the repository is due for a sync. */
export function isDue({ dueAt }: Pick<Repository, 'dueAt'>, now: Instant): boolean {
  return dueAt <= now || dueAt > now + maxFuture.sync
}
