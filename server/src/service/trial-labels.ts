import type { Logger } from 'pino'
import type { LabelMessage } from '../domain/alerts/message.ts'
import type { ReportOnPull } from '../domain/alerts/pull-comment.ts'
import type { RepositoryService } from '../domain/repositories/repository-service.ts'
import type { Store } from '../domain/store.ts'
import { type Clock, type Instant, minute } from '../domain/time.ts'
import { applyLabel } from '../domain/trials/apply-label.ts'
import type { HasWriteAccess, PendingLabel } from '../domain/trials/label.ts'
import { createJobs } from './jobs.ts'

/** The dependencies of judging trials. */
export interface TrialsContext {
  store: Store
  clock: Clock
  log: Logger
  /** Shows the figures on pull requests. The notifier, which retries, says what happens to a trial. */
  reportOnPull: ReportOnPull
  repositories: Pick<RepositoryService, 'candidate' | 'texts' | 'deliveredBytes'>
  hasWriteAccess: HasWriteAccess
}

const maxDue = 1_000
const maxAttempts = 5
const retryAfterMs = minute
// A label is not given up half-way, because it may start a trial. Each of its few requests, and git, end by themselves.
const limits = { slots: 4, slotsPerOrganisation: 1, quickMs: 15_000, limitMs: 2 * minute }

/** Acts upon labels of pull requests. */
export function createTrialLabels(context: TrialsContext) {
  const { store, clock, log, repositories, hasWriteAccess, reportOnPull } = context
  const jobs = createJobs(limits)

  async function act(label: PendingLabel): Promise<void> {
    const outcome = await applyLabel(store, repositories, hasWriteAccess, label, clock())
    if (outcome.kind === 'done') return store.trials.finishLabel(label, outcome.trialId, null)
    if (outcome.kind === 'retry' && label.attempts + 1 < maxAttempts) return retryLater(label)
    log.warn(
      { repository: label.repositoryId, pull: label.prNumber, reason: outcome.reason },
      'a label starts no trial',
    )
    await store.trials.finishLabel(label, label.trialId, null)
    await reportOnPull(await refusal(label, outcome.reason, clock()))
  }

  async function actOrRetry(label: PendingLabel): Promise<void> {
    try {
      await act(label)
    } catch (error) {
      log.warn({ err: error, repository: label.repositoryId, pull: label.prNumber }, 'could not act upon a label')
      await retryLater(label).catch(() => {})
    }
  }

  function retryLater(label: PendingLabel): Promise<void> {
    return store.trials.finishLabel(label, label.trialId, clock() + retryAfterMs * 2 ** label.attempts)
  }

  async function refusal(label: PendingLabel, reason: string, at: Instant): Promise<LabelMessage> {
    const { organisationId, repositoryId, prNumber, head: commitSha } = label
    const organisation = await store.organisations.find(organisationId)
    const named = { id: organisationId, name: organisation?.name ?? '' }
    return { event: 'trial.refused', at, organisation: named, repositoryId, prNumber, commitSha, reason }
  }

  return {
    /** Starts with those that are due and have room. Waits for no forge. */
    async start(): Promise<void> {
      for (const label of jobs.order(await store.trials.dueLabels(clock(), maxDue))) {
        if (jobs.hasRoom(label.organisationId)) jobs.start(label.organisationId, () => actOrRetry(label))
      }
    },

    /** Resolves when none is in progress. */
    idle: jobs.idle,
  }
}
