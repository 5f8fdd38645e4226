import type { Logger } from 'pino'
import { type RetentionStore, removeOldSignals } from '../domain/signals/retention.ts'
import type { Clock } from '../domain/time.ts'

export interface Retention {
  /** Resolves when the step in progress has finished. The next start continues from there. */
  stop(): Promise<void>
}

const firstRunDelayMs = 1_000
const intervalMs = 3_600_000

/** Removes signals older than `days`, shortly after the start and then every hour. */
export function startRetention(signals: RetentionStore, days: number, clock: Clock, log: Logger): Retention {
  let stopped = false
  let running: Promise<void> = Promise.resolve()
  let timer = setTimeout(run, firstRunDelayMs)

  function run(): void {
    running = removeOldSignals(signals, days, clock(), () => stopped).catch((error) =>
      log.warn({ err: error }, 'could not remove old signals, retrying in an hour'),
    )
    timer = setTimeout(run, intervalMs)
  }

  return {
    async stop() {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}
