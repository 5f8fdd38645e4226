import type { Logger } from 'pino'
import { composeTrialMessage } from '../domain/alerts/compose.ts'
import { isReportedOnPull, type ReportOnPull } from '../domain/alerts/pull-comment.ts'
import type { Store } from '../domain/store.ts'
import { type Clock, hour, type Instant } from '../domain/time.ts'
import { judgeTrial } from '../domain/trials/judge-trial.ts'
import type { Trial } from '../domain/trials/trial.ts'

export interface TrialsContext {
  store: Store
  clock: Clock
  log: Logger
  /** Shows the figures on pull requests. The notifier, which retries, says what happens to a trial. */
  reportOnPull: ReportOnPull
}

const reportEveryMs = hour

// One that is worse has to stop within 30 seconds, and applications ask every 15.
const roundEveryMs = 5_000
const maxRestMs = 10_000
// As for the judge of changes: requests wait while it computes.
const restFactor = 49

/** Looks at all trials, until it is stopped. */
export function startTrialJudge(context: TrialsContext): { stop(): Promise<void> } {
  const { log } = context
  const judgeTrials = createTrialRounds(context)
  let stopped = false
  let timer: NodeJS.Timeout
  let running: Promise<void> = Promise.resolve()

  function run(): void {
    const startedAt = performance.now()
    running = judgeTrials()
      .catch((error) => log.warn({ err: error }, 'could not judge trials, retrying in a moment'))
      .then(() => schedule(Math.min(maxRestMs, roundEveryMs + restFactor * (performance.now() - startedAt))))
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

/** A function that looks at all trials once. */
export function createTrialRounds({ store, clock, log, reportOnPull }: TrialsContext): () => Promise<void> {
  const reported = new Map<string, { at: Instant; figures: string }>()

  /** Shows new figures on the pull request, at most once an hour. */
  async function report(trial: Trial): Promise<void> {
    const figures = JSON.stringify(trial.findings?.arms)
    const last = reported.get(trial.id) ?? { at: trial.startedAt, figures: '' }
    reported.set(trial.id, last)
    if (trial.prNumber === null || figures === last.figures || clock() - last.at < reportEveryMs) return
    const repository = await store.repositories.find(trial.repositoryId)
    if (repository === null || !isReportedOnPull(repository)) return
    const organisation = await store.organisations.find(trial.organisationId)
    reported.set(trial.id, { at: clock(), figures })
    const named = { id: trial.organisationId, name: organisation?.name ?? '' }
    const event = trial.mismatch ? 'trial.mismatch' : trial.verdict === 'better' ? 'trial.better' : 'trial.started'
    await reportOnPull(composeTrialMessage(event, trial, null, named, clock()))
  }

  return async () => {
    await store.refresh()
    const active = await store.trials.active(null)
    for (const trial of active) {
      try {
        const judged = await judgeTrial(store, trial, clock())
        if (judged !== null && judged.state !== 'ended') await report(judged)
      } catch (error) {
        log.warn({ err: error, trial: trial.id }, 'could not judge a trial')
      }
    }
    const ids = new Set(active.map(({ id }) => id))
    for (const id of reported.keys()) if (!ids.has(id)) reported.delete(id)
  }
}
