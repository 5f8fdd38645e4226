import type { Logger } from 'pino'
import { type IdempotencyKeyStore, removeExpiredKeys } from '../domain/signals/idempotency-window.ts'
import { type RetentionStore, removeOldSignals } from '../domain/signals/retention.ts'
import { type Clock, hour } from '../domain/time.ts'
import { type Loop, startLoop, type Task } from './loop.ts'

/**
 * Removes expired idempotency keys, and signals older than `days`, shortly after the start and then every hour. After a stop, the next
 * start continues.
 */
export function startRetention(
  signals: RetentionStore & IdempotencyKeyStore,
  days: number | null,
  clock: Clock,
  log: Logger,
): Loop {
  const oldSignals: Task[] =
    days === null ? [] : [{ run: (isStopped) => removeOldSignals(signals, days, clock(), isStopped) }]
  return startLoop({
    tasks: [...oldSignals, { run: (isStopped) => removeExpiredKeys(signals, clock(), isStopped) }],
    firstRestMs: 1_000,
    restMs: hour,
    log,
    failure: 'could not remove old signals or idempotency keys, retrying in an hour',
  })
}
