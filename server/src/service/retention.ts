import type { Logger } from 'pino'
import { type RetentionStore, removeOldSignals } from '../domain/signals/retention.ts'
import type { Clock } from '../domain/time.ts'

export interface Retention {
  /** Resolves once the step under way is done: the rest is for the next start. */
  stop(): Promise<void>
}

const firstAfter = 1_000
const every = 3_600_000

/** Removes signals that are older than so many days, soon after the start and then every hour. */
export function startRetention(signals: RetentionStore, days: number, clock: Clock, log: Logger): Retention {
  let stopped = false
  let running: Promise<void> = Promise.resolve()
  let timer = setTimeout(run, firstAfter)

  function run(): void {
    running = removeOldSignals(signals, days, clock(), () => stopped).catch((error) =>
      log.warn({ err: error }, 'could not remove old signals, and tries again in an hour'),
    )
    timer = setTimeout(run, every)
  }

  return {
    async stop() {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}
