import { composeTrialMessage } from '../domain/alerts/compose.ts'
import { isReportedOnPull } from '../domain/alerts/pull-comment.ts'
import { hour, type Instant, minute } from '../domain/time.ts'
import type { Trial } from '../domain/trials/trial.ts'
import { createJobs } from './jobs.ts'
import type { TrialsContext } from './trial-labels.ts'

const reportEveryMs = hour
// An attempt ends after 45 s by itself.
const limits = { slots: 4, slotsPerOrganisation: 1, quickMs: 15_000, limitMs: minute }

/** Shows new figures of trials on their pull requests, at most once an hour. */
export function createTrialReports({ store, clock, log, reportOnPull }: TrialsContext) {
  const reported = new Map<string, { at: Instant; figures: string }>()
  const jobs = createJobs(limits)

  function isDue(trial: Trial): boolean {
    const last = reported.get(trial.id) ?? { at: trial.startedAt, figures: '' }
    return trial.prNumber !== null && figuresOf(trial) !== last.figures && clock() - last.at >= reportEveryMs
  }

  async function isShown({ repositoryId }: Trial): Promise<boolean> {
    const repository = await store.repositories.find(repositoryId)
    return repository !== null && isReportedOnPull(repository)
  }

  async function report(trial: Trial): Promise<void> {
    const organisation = await store.organisations.find(trial.organisationId)
    reported.set(trial.id, { at: clock(), figures: figuresOf(trial) })
    const named = { id: trial.organisationId, name: organisation?.name ?? '' }
    const event = trial.mismatch ? 'trial.mismatch' : trial.verdict === 'better' ? 'trial.better' : 'trial.started'
    await reportOnPull(composeTrialMessage(event, trial, null, named, clock()))
  }

  return {
    /** Starts the reports that are due and have room. Waits for no forge. */
    async start(trials: readonly Trial[]): Promise<void> {
      const ids = new Set(trials.map(({ id }) => id))
      for (const id of reported.keys()) if (!ids.has(id)) reported.delete(id)
      for (const trial of jobs.order(trials.filter(isDue))) {
        const { organisationId } = trial
        if (!jobs.hasRoom(organisationId) || !(await isShown(trial))) continue
        jobs.start(organisationId, () =>
          report(trial).catch((error) => log.warn({ err: error, trial: trial.id }, 'could not report on a trial')),
        )
      }
    },

    /** Resolves when nothing is being sent. */
    idle: jobs.idle,
  }
}

function figuresOf({ findings }: Trial): string {
  return JSON.stringify(findings?.arms)
}
