import { composeTrialMessage } from '../domain/alerts/compose.ts'
import { isReportedOnPull } from '../domain/alerts/pull-comment.ts'
import { hour, type Instant } from '../domain/time.ts'
import type { Trial } from '../domain/trials/trial.ts'
import type { TrialsContext } from './trial-labels.ts'

const reportEveryMs = hour
// An attempt takes up to 45 s. The forge of one organisation, which may hang, leaves room for others.
const maxInFlight = 4

/** Shows new figures of trials on their pull requests, at most once an hour. */
export function createTrialReports({ store, clock, log, reportOnPull }: TrialsContext) {
  const reported = new Map<string, { at: Instant; figures: string }>()
  // By organisation, each with one at a time.
  const inFlight = new Map<number, Promise<void>>()
  const servedAt = new Map<number, number>()
  let turn = 0

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
      const due = Map.groupBy(trials.filter(isDue), ({ organisationId }) => organisationId)
      for (const id of servedAt.keys()) if (!due.has(id)) servedAt.delete(id)
      // Those that waited longest come first.
      const order = [...due].sort(([a], [b]) => (servedAt.get(a) ?? 0) - (servedAt.get(b) ?? 0))
      for (const [organisationId, candidates] of order) {
        if (inFlight.size >= maxInFlight) return
        if (inFlight.has(organisationId)) continue
        const shown = await Promise.all(candidates.map(isShown))
        const trial = candidates.find((_, i) => shown[i])
        if (trial === undefined) continue
        servedAt.set(organisationId, ++turn)
        const sending = report(trial)
          .catch((error) => log.warn({ err: error, trial: trial.id }, 'could not report on a trial'))
          .finally(() => inFlight.delete(organisationId))
        inFlight.set(organisationId, sending)
      }
    },

    /** Resolves when nothing is being sent. */
    async idle(): Promise<void> {
      while (inFlight.size > 0) await Promise.all(inFlight.values())
    },
  }
}

function figuresOf({ findings }: Trial): string {
  return JSON.stringify(findings?.arms)
}
