import type { Logger } from 'pino'
import { removeOldTelemetry } from '../domain/telemetry/retention.ts'
import type { TelemetryStore } from '../domain/telemetry/telemetry.ts'
import { type Clock, minute } from '../domain/time.ts'
import { type Loop, startLoop } from './loop.ts'

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
