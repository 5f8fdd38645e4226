import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { type Arm, positionOf } from '../../domain/trials/assignment.ts'
import type { Exposures, ServedTrial, TrialStore } from '../../domain/trials/trial.ts'

const flushAfterMs = 10_000
// Further units of a trial are served, but not counted.
const maxUnits = 100_000
const maxTrials = 1_000

interface Counted {
  organisationId: number
  /** Where the counted units lie: these numbers tell them apart as well as their names do, and take less memory. */
  units: Set<number>
  byShare: Map<number, Exposures>
  isChanged: boolean
}

/** Counts the units that this process chose a text for, and reports them like a client. */
export function createExposureCounter(trials: Pick<TrialStore, 'recordExposures'>, log: Pick<Logger, 'warn'>) {
  const source = randomUUID()
  const counted = new Map<string, Counted>()
  let timer: NodeJS.Timeout | undefined

  async function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    for (const each of counted.values()) {
      if (!each.isChanged) continue
      each.isChanged = false
      await trials
        .recordExposures(each.organisationId, source, [...each.byShare.values()])
        .catch((error) => log.warn({ err: error }, 'could not store exposures, retrying with the next ones'))
    }
  }

  return {
    flush,
    count(organisationId: number, { id, share }: ServedTrial, unit: string, arm: Arm): void {
      let ofTrial = counted.get(id)
      if (ofTrial === undefined) {
        // Trials that ended long ago go first.
        if (counted.size >= maxTrials) counted.delete(counted.keys().next().value as string)
        ofTrial = { organisationId, units: new Set(), byShare: new Map(), isChanged: false }
        counted.set(id, ofTrial)
      }
      const position = positionOf(id, unit)
      if (ofTrial.units.has(position) || ofTrial.units.size >= maxUnits) return
      ofTrial.units.add(position)
      const exposures = ofTrial.byShare.get(share) ?? { trial: id, share, control: 0, candidate: 0 }
      exposures[arm]++
      ofTrial.byShare.set(share, exposures)
      ofTrial.isChanged = true
      timer ??= setTimeout(flush, flushAfterMs).unref()
    },
  }
}
