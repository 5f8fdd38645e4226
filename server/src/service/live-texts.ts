import type { Logger } from 'pino'
import { storeLiveTexts } from '../domain/delivery/live-text.ts'
import type { RepositoryService } from '../domain/repositories/repository-service.ts'
import type { Store } from '../domain/store.ts'
import { type Clock, minute } from '../domain/time.ts'

export interface LiveTextsContext {
  store: Store
  repositories: Pick<RepositoryService, 'texts'>
  clock: Clock
  log: Logger
}

// A merge has to reach applications within 30 seconds: up to 10 until it is known to be one (docs/decisions/0012), and 15 until they ask.
const roundEveryMs = 1_000
// Comparing a thousand prompts takes some 50 ms. A backfill, which changes something every second, must not cost more than 5% of the time.
const restFactor = 19
const retryAfterMs = minute

/** Keeps the stored texts of what is live up to date, until it is stopped. */
export function startLiveTexts(context: LiveTextsContext): { stop(): Promise<void> } {
  const { store, log } = context
  const round = createLiveTextRounds(context)
  let stopped = false
  let timer: NodeJS.Timeout
  let running: Promise<void> = Promise.resolve()

  function run(): void {
    const startedAt = performance.now()
    running = store
      .refresh()
      .then(round)
      .catch((error) => log.warn({ err: error }, 'could not store the texts that are live, retrying in a moment'))
      .then(() => schedule(Math.max(roundEveryMs, restFactor * (performance.now() - startedAt))))
  }

  function schedule(ms: number): void {
    if (!stopped) timer = setTimeout(run, ms).unref()
  }

  schedule(roundEveryMs)
  return {
    async stop() {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}

/** A function that stores what went live since its last call. Does nothing while nothing has changed in the database. */
export function createLiveTextRounds({ store, repositories, clock, log }: LiveTextsContext): () => Promise<void> {
  let seen = -1
  let missingSince: number | null = null

  return async () => {
    const isRetryDue = missingSince !== null && performance.now() - missingSince > retryAfterMs
    const generation = store.cacheGeneration()
    if (generation === seen && !isRetryDue) return
    let missing = 0
    for (const organisationId of await store.liveTexts.delivering()) {
      const left = await storeLiveTexts(store, repositories, organisationId, clock())
      if (left > 0) log.warn({ organisation: organisationId, prompts: left }, 'git does not have texts that are live')
      missing += left
    }
    missingSince = missing > 0 ? performance.now() : null
    // What this round stored is seen again in the next, which then finds nothing to do.
    seen = generation
  }
}
