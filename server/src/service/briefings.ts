import type { Logger } from 'pino'
import { isBriefed, type ReportOnPull } from '../domain/alerts/pull-comment.ts'
import type { BriefingContext } from '../domain/briefings/brief-pull.ts'
import type { DueBriefing } from '../domain/briefings/briefing.ts'
import { stateOf } from '../domain/history/pull.ts'
import { createLearnedDrift } from '../domain/impact/model/learned-drift.ts'
import { createMinuteLimit } from '../domain/minute-limit.ts'
import type { RepositoryService } from '../domain/repositories/repository-service.ts'
import type { Store } from '../domain/store.ts'
import { type Clock, hour, minute } from '../domain/time.ts'
import { createJobs, whenAborted } from './jobs.ts'
import { type Loop, startLoop } from './loop.ts'

interface BriefingsContext {
  store: Store
  clock: Clock
  log: Logger
  repositories: Pick<RepositoryService, 'candidate' | 'texts' | 'blame'>
  reportOnPull: ReportOnPull
}

const roundEveryMs = 5_000
const stopTimeoutMs = 5_000
const maxDue = 1_000
// Strangers who open pull requests in public repositories cause no more.
const maxPerHour = 60
const maxAttempts = 5
const retryAfterMs = minute
// Longer than ten texts and a comment take.
const claimMs = 5 * minute
// Shorter than the claim.
const limits = { slots: 4, slotsPerOrganisation: 1, quickMs: 15_000, limitMs: minute }

export function startBriefings(context: BriefingsContext): Pick<Loop, 'stop'> {
  const briefings = createBriefings(context)
  const loop = startLoop({
    tasks: [{ run: briefings.start }],
    restMs: roundEveryMs,
    log: context.log,
    failure: 'could not read which reviewers to brief, retrying in a moment',
  })
  return {
    async stop() {
      await loop.stop()
      await briefings.settle(stopTimeoutMs)
    },
  }
}

/** Briefs the reviewers of pull requests. */
export function createBriefings({ store, clock, log, repositories, reportOnPull }: BriefingsContext) {
  const jobs = createJobs(limits)
  const limit = createMinuteLimit(maxPerHour, 'too many briefings', 1_000, clock, hour)
  const context: BriefingContext = { stores: store, repositories, learned: createLearnedDrift(store.drift, clock) }

  /** Returns whether it has to be retried. */
  async function brief({ organisationId, repositoryId, prNumber }: DueBriefing): Promise<boolean> {
    const repository = await store.repositories.find(repositoryId)
    if (repository === null || !isBriefed(repository)) return false
    const [pull] = await store.facts.pulls(repository, [prNumber])
    if (pull === undefined || stateOf(pull) !== 'open') return false
    // Imported with the first of them: most processes brief on none.
    const { briefPull } = await import('../domain/briefings/brief-pull.ts')
    const at = clock()
    const briefing = await briefPull(context, repository, pull, at)
    if (briefing === null) return true
    const organisation = await store.organisations.find(organisationId)
    const named = { id: organisationId, name: organisation?.name ?? '' }
    const told = await reportOnPull({ event: 'pull.briefed', at, organisation: named, repositoryId, ...briefing })
    return told.outcome === 'retry'
  }

  async function act(due: DueBriefing, signal: AbortSignal): Promise<void> {
    const failed = await Promise.race([brief(due), whenAborted(signal, true)]).catch((error) => {
      log.warn({ err: error, repository: due.repositoryId, pull: due.prNumber }, 'could not brief reviewers')
      return true
    })
    const isLater = failed && due.attempts + 1 < maxAttempts
    await store.briefings.finish(due, isLater ? clock() + retryAfterMs * 2 ** due.attempts : null)
  }

  function isWithinLimit({ organisationId }: DueBriefing): boolean {
    try {
      limit.count(String(organisationId))
      return true
    } catch {
      return false
    }
  }

  return {
    /** Starts with those that are due and have room. Waits for no forge. */
    async start(): Promise<void> {
      await store.refresh()
      for (const due of jobs.order(await store.briefings.due(clock(), maxDue))) {
        const { organisationId } = due
        if (!jobs.hasRoom(organisationId) || !isWithinLimit(due)) continue
        if (!(await store.briefings.claim(due, clock(), clock() + claimMs))) continue
        // The process ended with each attempt before.
        if (due.attempts >= maxAttempts) {
          await store.briefings.finish(due, null)
          continue
        }
        jobs.start(organisationId, (signal) =>
          act(due, signal).catch((error) => log.warn({ err: error }, 'could not store a briefing')),
        )
      }
    },

    /** Resolves when none is in progress. */
    idle: jobs.idle,
    settle: jobs.settle,
  }
}
