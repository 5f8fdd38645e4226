import { day, delay, hour, type Instant } from '../time.ts'
import type { TelemetryStore } from './telemetry.ts'

// Longer than a batch takes, so that signal writes are hardly delayed.
const pauseMs = 20
/** How long an evaluation waits for its span. Exporters send spans within seconds, and retry for minutes. */
const maxWaitMs = hour

/** Removes links and IDs of events that are older than `days`, and rejects evaluations whose span has not come. */
export async function removeOldTelemetry(
  telemetry: TelemetryStore,
  days: number,
  now: Instant,
  isStopped: () => boolean = () => false,
): Promise<void> {
  for (const organisationId of await telemetry.senders()) {
    while (!isStopped() && (await telemetry.removeTelemetry(organisationId, now - days * day))) await delay(pauseMs)
    for (let expired = -1; expired !== 0 && !isStopped(); ) {
      expired = await telemetry.expireWaiting(organisationId, now - maxWaitMs)
      if (expired === 0) break
      await telemetry.countOutcomes(
        organisationId,
        [{ kind: 'logs', outcome: 'unknown_span', detail: '', records: expired }],
        now,
      )
    }
  }
}
