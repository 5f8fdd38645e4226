import { type BoundedMap, createBoundedMap } from '../bounded-map.ts'
import { DomainError } from '../errors.ts'
import { type Clock, type Instant, minute } from '../time.ts'

/** More votes in a minute than one token or one address may send. */
export class VoteLimitError extends DomainError {
  readonly limit: number
  readonly used: number
  readonly resetsAt: Instant

  constructor(limit: number, resetsAt: Instant, sender: string) {
    super('rate_limited', `At most ${limit} votes per minute are accepted from one ${sender}. Try again later.`)
    this.limit = limit
    // Votes beyond the limit are not counted.
    this.used = limit
    this.resetsAt = resetsAt
  }
}

/** Limits the votes of each sender. A minute starts with its first vote. */
export interface VoteLimit {
  /** Counts a vote, or throws a `VoteLimitError`. */
  count(sender: string): void
}

interface Minute {
  startedAt: Instant
  votes: number
}

// About 10 MB. Beyond it, the sender that has been silent for longest starts a new minute.
const maxSenders = 50_000

export function createVoteLimit(limit: number, kind: string, clock: Clock): VoteLimit {
  const minutes: BoundedMap<Minute> = createBoundedMap(maxSenders)
  return {
    count(sender) {
      const now = clock()
      const current = minutes.get(sender)
      // One that starts in the future is from before the clock was set back.
      if (current === undefined || now >= current.startedAt + minute || now < current.startedAt) {
        minutes.set(sender, { startedAt: now, votes: 1 })
        return
      }
      if (current.votes >= limit) throw new VoteLimitError(limit, current.startedAt + minute, kind)
      current.votes++
    },
  }
}
