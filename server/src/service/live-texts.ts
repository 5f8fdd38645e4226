import type { Logger } from 'pino'
import { type LiveVersionOfPrompt, staleTexts, storeLiveTexts } from '../domain/delivery/live-text.ts'
import type { RepositoryService } from '../domain/repositories/repository-service.ts'
import type { Store } from '../domain/store.ts'
import { type Clock, hour, minute } from '../domain/time.ts'
import { createReadPool } from '../http/history/read-pool.ts'
import { type Loop, startLoop } from './loop.ts'

interface LiveTextsContext {
  store: Store
  repositories: Pick<RepositoryService, 'texts' | 'deliveredBytes' | 'fetchLiveTexts'>
  clock: Clock
  log: Pick<Logger, 'warn'>
}

// A merge has to reach applications within 30 seconds: up to 10 until it is known to be one (docs/decisions/0012), and 15 until they ask.
const roundEveryMs = 1_000
// Comparing a thousand prompts takes some 50 ms. A backfill, which changes something every second, must not cost more than 5% of the time.
const restFactor = 19
// On a busy machine, a round takes longer than its work.
const maxRestMs = 5_000
// Creating the mirror of a large repository takes longer. That is left to its sync.
const fetchTimeoutMs = minute
const retryAfterMs = minute
const maxRetryAfterMs = hour

/** Keeps the stored texts of what is live up to date, until it is stopped. */
export function startLiveTexts(context: LiveTextsContext & { log: Logger }): Loop {
  const rounds = createLiveTextRounds(context)
  const loop = startLoop({
    tasks: [{ run: () => context.store.refresh().then(rounds.round) }],
    restMs: roundEveryMs,
    restFactor,
    maxRestMs,
    log: context.log,
    failure: 'could not store the texts that are live, retrying in a moment',
  })
  return {
    wake: loop.wake,
    async stop() {
      rounds.stop()
      await loop.stop()
    },
  }
}

interface Failing {
  failures: number
  retryAt: number
}

/**
 * Stores what went live. A round compares what is stored with what is live, in the database, and does nothing while nothing has changed
 * there. It waits for no repository: each is read on its own, and no more than a few at a time, so that a remote that does not respond
 * delays no other organisation.
 */
export function createLiveTextRounds({ store, repositories, clock, log }: LiveTextsContext) {
  const reads = createReadPool({ reads: 4, readsPerOrganisation: 1 })
  const fetches = createReadPool({ reads: 16, readsPerOrganisation: 2 })
  // Remotes that failed before wait for each other, not in the way of those that respond.
  const repeatedFetches = createReadPool({ reads: 2, readsPerOrganisation: 1 })
  const working = new Map<number, Promise<void>>()
  // Those that changed again while they are being read.
  const changedAgain = new Set<number>()
  const failing = new Map<number, Failing>()
  let seen = -1
  let isDue = false
  let isStopped = false

  /** Fetches what the mirror lacks, so that the next round finds it. */
  async function fetchMissing(organisationId: number, repositoryId: number, missing: number): Promise<void> {
    const now = clock()
    const { failures, retryAt } = failing.get(repositoryId) ?? { failures: 0, retryAt: 0 }
    if (now < retryAt) return
    log.warn(
      { organisation: organisationId, repository: repositoryId, prompts: missing },
      'git lacks texts that are live',
    )
    // Until a later round finds everything: a fetch that succeeds may not bring what is missing.
    const waitMs = Math.min(retryAfterMs * 2 ** failures, maxRetryAfterMs)
    failing.set(repositoryId, { failures: failures + 1, retryAt: now + waitMs })
    const pool = failures === 0 ? fetches : repeatedFetches
    await pool.run(organisationId, () => repositories.fetchLiveTexts(repositoryId, fetchTimeoutMs))
    isDue = true
  }

  async function work(organisationId: number, repositoryId: number, versions: LiveVersionOfPrompt[]): Promise<void> {
    try {
      const missing = await reads.run(organisationId, () =>
        storeLiveTexts(store.liveTexts, repositories, organisationId, repositoryId, versions),
      )
      if (missing === 0) failing.delete(repositoryId)
      else if (!isStopped) await fetchMissing(organisationId, repositoryId, missing)
    } catch (error) {
      if (isStopped) return
      log.warn({ err: error, repository: repositoryId }, 'could not store live texts, retrying in a moment')
      isDue = true
    } finally {
      working.delete(repositoryId)
      isDue ||= changedAgain.delete(repositoryId)
    }
  }

  return {
    async round(): Promise<void> {
      const now = clock()
      const isRetryDue = [...failing.values()].some(({ retryAt }) => now >= retryAt)
      const generation = store.cacheGeneration()
      if (generation === seen && !isDue && !isRetryDue) return
      isDue = false
      // Until the round is complete.
      seen = -1
      const stale = new Set<number>()
      for (const organisationId of await store.liveTexts.delivering()) {
        if (isStopped) return
        const { changed, removed, recovered } = await staleTexts(store, organisationId, now)
        if (removed.length > 0) await store.liveTexts.remove(organisationId, removed)
        for (const repositoryId of recovered) await store.liveTexts.recordError(organisationId, repositoryId, null)
        for (const [repositoryId, versions] of changed) {
          stale.add(repositoryId)
          if (working.has(repositoryId)) changedAgain.add(repositoryId)
          else working.set(repositoryId, work(organisationId, repositoryId, versions))
        }
      }
      // Those that were disconnected, or whose texts another process has stored.
      for (const id of failing.keys()) if (!stale.has(id)) failing.delete(id)
      seen = generation
    },

    /** Resolves when no repository is being read. */
    async settled(): Promise<void> {
      while (working.size > 0) await Promise.all(working.values())
    },

    stop(): void {
      isStopped = true
    },
  }
}
