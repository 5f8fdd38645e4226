import type { Logger } from 'pino'
import type { PollContext } from '../adapters/poll-langfuse.ts'
import type { Plan } from '../domain/access/plan.ts'
import { createBoundedMap } from '../domain/bounded-map.ts'
import { DomainError } from '../domain/errors.ts'
import type { Source } from '../domain/sources/source.ts'
import type { Store } from '../domain/store.ts'
import { hour, minute } from '../domain/time.ts'
import { createJobs, type JobOptions } from './jobs.ts'
import { type Loop, startLoop } from './loop.ts'

interface PollerContext extends Omit<PollContext, 'store' | 'signal' | 'seen'> {
  store: Pick<Store, 'signals' | 'prompts' | 'history' | 'sources' | 'refresh'>
  log: Logger
  /** Called when a poll has ended. */
  onEnd?: () => void
}

type DueSource = Source & { plan: Plan }

const maxSeen = 10_000
const roundEveryMs = 10_000
const pollEveryMs = minute
// What an admin has to correct does not change by the minute.
const retryAfterMs = 10 * minute
const maxRetryAfterMs = hour
// One organisation each. Identifiers only, so that thousands cost little.
const maxDue = 1_000
const defaultLimits = { slots: 4, slotsPerOrganisation: 1, quickMs: 10_000, limitMs: 30_000 }
// A source that responds slowly is polled less often.
const restFactor = 4
const stopTimeoutMs = 5_000

/** Reads from the sources that are polled, until it is stopped. */
export function startSourcePoller(context: PollerContext): Pick<Loop, 'stop'> {
  const polls = createSourcePolls({ ...context, onEnd: () => loop.wake() })
  const loop = startLoop({
    tasks: [{ run: polls.start }],
    restMs: roundEveryMs,
    log: context.log,
    failure: 'could not poll sources, retrying in a moment',
  })
  return {
    async stop() {
      await Promise.all([polls.stop(), loop.stop()])
    },
  }
}

/** Polls the sources that are due, a few at a time and one of each organisation. */
export function createSourcePolls(context: PollerContext, limits: Omit<JobOptions, 'onEnd'> = defaultLimits) {
  const { store, clock, log } = context
  const seen = createBoundedMap<true>(maxSeen)
  // How often in a row each source has failed.
  const failures = createBoundedMap<number>(maxSeen)
  const jobs = createJobs({ ...limits, onEnd: context.onEnd })
  let isStopped = false

  async function read(source: DueSource, signal: AbortSignal): Promise<void> {
    // Most services poll nothing.
    const { pollLangfuse, PollError } = await import('../adapters/poll-langfuse.ts')
    const now = clock()
    try {
      const { readUntil, received, recorded, rejected, errors } = await pollLangfuse(
        { ...context, signal, seen },
        source,
      )
      failures.set(source.publicId, 0)
      // More than one poll may read is waiting.
      const isBehind = readUntil === null || readUntil < now
      const restMs = Math.max(isBehind ? 0 : pollEveryMs, restFactor * (clock() - now))
      await store.sources.continueAt(source, { readUntil, pollAt: clock() + restMs })
      if (received === 0) return
      await store.sources.count(source, {
        ...{ received, recorded, rejected, lastReceivedAt: now, lastRecordedAt: recorded > 0 ? now : null },
        ...{ lastRejectedAt: rejected > 0 ? now : null, lastRejection: errors.at(-1)?.message ?? null },
      })
    } catch (error) {
      if (isStopped) return store.sources.continueAt(source, { readUntil: source.readUntil, pollAt: now })
      const isExplained = error instanceof PollError || error instanceof DomainError
      if (!isExplained) log.warn({ err: error, source: source.publicId }, 'could not poll a source')
      const lastRejection = isExplained ? error.message : 'an internal error. The operator finds it in the log'
      await store.sources.continueAt(source, { readUntil: source.readUntil, pollAt: clock() + retryMs(source) })
      const none = { received: 0, recorded: 0, rejected: 0, lastReceivedAt: null, lastRecordedAt: null }
      await store.sources.count(source, { ...none, lastRejectedAt: now, lastRejection })
    }
  }

  function retryMs({ publicId }: Source): number {
    const failed = failures.get(publicId) ?? 0
    failures.set(publicId, failed + 1)
    return Math.min(retryAfterMs * 2 ** failed, maxRetryAfterMs)
  }

  return {
    /** Starts the polls that are due and have room. Waits for no server. */
    async start(): Promise<void> {
      const due = await store.sources.duePolls(clock(), maxDue)
      if (due.length === 0) return
      await store.refresh()
      for (const next of jobs.order(due)) {
        if (isStopped) return
        if (!jobs.hasRoom(next.organisationId)) continue
        const source = await store.sources.claimPoll(next, clock(), clock() + retryAfterMs)
        if (source === null) continue
        jobs.start(next.organisationId, (signal) =>
          read(source, signal).catch((error) => log.warn({ err: error }, 'could not store how far a source was read')),
        )
      }
    },

    /** Resolves when no source is being read. */
    idle: jobs.idle,
    running: jobs.running,

    /** Interrupts the polls. What they have read so far is read again after the next start. */
    stop(): Promise<void> {
      isStopped = true
      return jobs.stop(stopTimeoutMs)
    },
  }
}
