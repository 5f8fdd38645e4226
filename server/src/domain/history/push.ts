import type { Instant } from '../time.ts'

/** A push to the default branch, as the forge reported it. */
export interface Push {
  /** Null if the push created the branch. */
  before: string | null
  after: string
  pusher: string | null
  receivedAt: Instant
}

/** Who brought a commit to the default branch. */
export interface Pusher {
  name: string
  /** The number of commits in the push. */
  pushSize: number
}

/**
 * The pusher of a commit that several pushes contain, as after a forced push: the one of the smallest push, then the first
 * by name. The result does not depend on the order in which the pushes become known.
 */
export function closestPusher<T extends Pusher>(a: T | null, b: T | null): T | null {
  if (a === null || b === null) return a ?? b
  if (a.pushSize !== b.pushSize) return a.pushSize < b.pushSize ? a : b
  return a.name <= b.name ? a : b
}
