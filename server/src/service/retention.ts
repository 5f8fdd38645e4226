import type { Logger } from 'pino'
import { type RetentionStore, removeOldSignals } from '../domain/signals/retention.ts'
import { removeOldTelemetry } from '../domain/telemetry/retention.ts'
import type { TelemetryStore } from '../domain/telemetry/telemetry.ts'
import { type Clock, hour, minute } from '../domain/time.ts'
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

/** Removes what is kept of spans for some days only. Does nothing for organisations that send none. */
export function startTelemetryRetention(telemetry: TelemetryStore, days: number, clock: Clock, log: Logger): Loop {
  return startLoop({
    tasks: [{ run: (isStopped) => removeOldTelemetry(telemetry, days, clock(), isStopped) }],
    firstRestMs: 5_000,
    restMs: 10 * minute,
    log,
    failure: 'could not remove old links of traces, retrying in ten minutes',
  })
}
