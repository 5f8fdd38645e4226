import type { Logger } from 'pino'
import type { Store } from '../domain/store.ts'
import type { Clock } from '../domain/time.ts'
import { judgeTrial } from '../domain/trials/judge-trial.ts'

export interface TrialsContext {
  store: Store
  clock: Clock
  log: Logger
}

// One that is worse has to stop within 30 seconds, and applications ask every 15.
const roundEveryMs = 5_000
const maxRestMs = 10_000
// As for the judge of changes: requests wait while it computes.
const restFactor = 49

/** Looks at all trials, until it is stopped. */
export function startTrialJudge(context: TrialsContext): { stop(): Promise<void> } {
  const { log } = context
  let stopped = false
  let timer: NodeJS.Timeout
  let running: Promise<void> = Promise.resolve()

  function run(): void {
    const startedAt = performance.now()
    running = judgeTrials(context)
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

/** Looks at all trials once. */
export async function judgeTrials({ store, clock, log }: TrialsContext): Promise<void> {
  await store.refresh()
  for (const trial of await store.trials.active(null)) {
    await judgeTrial(store, trial, clock()).catch((error) =>
      log.warn({ err: error, trial: trial.id }, 'could not judge a trial'),
    )
  }
}
