import type { Logger } from 'pino'
import { type RetentionStore, removeOldSignals } from '../domain/signals/retention.ts'
import { type Clock, hour } from '../domain/time.ts'
import { type Loop, startLoop } from './loop.ts'

/** Removes signals older than `days`, shortly after the start and then every hour. After a stop, the next start continues. */
export function startRetention(signals: RetentionStore, days: number, clock: Clock, log: Logger): Loop {
  return startLoop({
    tasks: [{ run: (isStopped) => removeOldSignals(signals, days, clock(), isStopped) }],
    firstRestMs: 1_000,
    restMs: hour,
    log,
    failure: 'could not remove old signals, retrying in an hour',
  })
}
