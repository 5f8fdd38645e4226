import { InboxFullError } from '../domain/repositories/delivery.ts'
import type { Instant } from '../domain/time.ts'
import { createSharedCalls } from './shared-calls.ts'
import type { SyncContext } from './sync-context.ts'

/** Limits the deliveries that one organisation may have waiting. */
interface Inbox {
  /** Counts a delivery of this many bytes. Rejects if it does not fit. */
  admit(organisationId: number, bytes: number): Promise<void>
}

// What a delivery costs beside its body: its row and index entries.
const deliveryOverheadBytes = 1_024
const recountIntervalMs = 5_000

interface Count {
  /** Deliveries that were processed since then are still included. */
  bytes: number
  countedAt: Instant
  isReported: boolean
}

/**
 * Counts in memory what this process receives, and recounts from the database at most every 5 s, so that a delivery normally
 * costs no extra query. Processes that share a database see each other's deliveries at the next recount.
 */
export function createInbox(context: SyncContext): Inbox {
  const { store, clock, log } = context
  const counts = new Map<number, Count>()
  const shareRecount = createSharedCalls<number, Count>()

  async function count(organisationId: number): Promise<Count> {
    const { count, bytes } = await store.deliveries.pendingSize(organisationId)
    const counted = { bytes: bytes + count * deliveryOverheadBytes, countedAt: clock(), isReported: false }
    counts.set(organisationId, counted)
    return counted
  }

  return {
    async admit(organisationId, bytes) {
      const known = counts.get(organisationId)
      // In either direction, because the clock may have gone back.
      const isRecent = known !== undefined && Math.abs(clock() - known.countedAt) < recountIntervalMs
      const waiting = isRecent ? known : await shareRecount(organisationId, () => count(organisationId))
      const size = bytes + deliveryOverheadBytes
      const { inboxBytes } = context.limits
      if (waiting.bytes + size > inboxBytes) {
        // Once per recount, so that a flood of deliveries does not flood the log.
        if (!waiting.isReported) log.warn({ organisation: organisationId }, 'the inbox is full: rejecting deliveries')
        waiting.isReported = true
        throw new InboxFullError(inboxBytes)
      }
      waiting.bytes += size
    },
  }
}
