import type { Logger } from 'pino'
import type { PollContext } from '../adapters/poll-langfuse.ts'
import type { Plan } from '../domain/access/plan.ts'
import { createBoundedMap } from '../domain/bounded-map.ts'
import { DomainError } from '../domain/errors.ts'
import type { Source } from '../domain/sources/source.ts'
import type { Store } from '../domain/store.ts'
import { type Instant, minute } from '../domain/time.ts'
import { type Loop, startLoop } from './loop.ts'

interface PollerContext extends Omit<PollContext, 'store' | 'isStopped' | 'seen'> {
  store: Pick<Store, 'signals' | 'prompts' | 'history' | 'sources' | 'refresh'>
  log: Logger
}

const maxSeen = 10_000
const roundEveryMs = 10_000
const pollEveryMs = minute
// What an admin has to correct does not change by the minute.
const retryAfterMs = 10 * minute

/** Reads from the sources that are polled, one after the other, until it is stopped. */
export function startSourcePoller(context: PollerContext): Loop {
  return startLoop({
    tasks: [{ run: createPollRounds(context) }],
    restMs: roundEveryMs,
    log: context.log,
    failure: 'could not poll sources, retrying in a moment',
  })
}

/** A function that polls the sources that are due. */
export function createPollRounds(context: PollerContext): (isStopped?: () => boolean) => Promise<void> {
  const { store, clock, log } = context
  const seen = createBoundedMap<true>(maxSeen)

  async function poll(source: Source & { plan: Plan }, now: Instant, isStopped: () => boolean): Promise<void> {
    // Most services poll nothing.
    const { pollLangfuse, PollError } = await import('../adapters/poll-langfuse.ts')
    try {
      const { readUntil, received, recorded, rejected, errors } = await pollLangfuse(
        { ...context, isStopped, seen },
        source,
      )
      // More than one poll may read is waiting.
      const pollAt = clock() + (readUntil === null || readUntil < now ? 0 : pollEveryMs)
      await store.sources.continueAt(source, { readUntil, pollAt })
      if (received === 0) return
      await store.sources.count(source, {
        ...{ received, recorded, rejected, lastReceivedAt: now, lastRecordedAt: recorded > 0 ? now : null },
        ...{ lastRejectedAt: rejected > 0 ? now : null, lastRejection: errors.at(-1)?.message ?? null },
      })
    } catch (error) {
      if (isStopped()) return store.sources.continueAt(source, { readUntil: source.readUntil, pollAt: now })
      const isExplained = error instanceof PollError || error instanceof DomainError
      if (!isExplained) log.warn({ err: error, source: source.publicId }, 'could not poll a source')
      const lastRejection = isExplained ? error.message : 'an internal error. The operator finds it in the log'
      await store.sources.continueAt(source, { readUntil: source.readUntil, pollAt: clock() + retryAfterMs })
      const none = { received: 0, recorded: 0, rejected: 0, lastReceivedAt: null, lastRecordedAt: null }
      await store.sources.count(source, { ...none, lastRejectedAt: now, lastRejection })
    }
  }

  return async (isStopped = () => false) => {
    const now = clock()
    const due = await store.sources.claimPolls(now, now + retryAfterMs)
    if (due.length === 0) return
    await store.refresh()
    for (const source of due) {
      if (isStopped()) await store.sources.continueAt(source, { readUntil: source.readUntil, pollAt: now })
      else await poll(source, now, isStopped)
    }
  }
}
