import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import type { Access } from '../../domain/access/api-key.ts'
import { hour } from '../../domain/time.ts'
import { type Arm, positionOf } from '../../domain/trials/assignment.ts'
import type { Exposures, ServedTrial, TrialStore } from '../../domain/trials/trial.ts'

const flushAfterMs = 10_000
// Further units are served, but not counted. Each takes about 40 bytes.
const maxUnits = { ofTrial: 100_000, ofOrganisation: 200_000, ofAll: 1_000_000 }
// What a trial takes before its first unit, in units.
const unitsForTrial = 25
const maxShares = 100
// A trial that no unit asked for since has probably ended.
const forgetAfterMs = hour

interface Counted {
  organisationId: number
  keyId: number
  /** Where the counted units lie: these numbers tell them apart as well as their names do, and take less memory. */
  units: Set<number>
  byShare: Map<number, Exposures>
  isChanged: boolean
  usedAt: number
}

/** Counts the units that this process chose a text for, and reports them like a client. */
export function createExposureCounter(
  trials: Pick<TrialStore, 'recordExposures'>,
  log: Pick<Logger, 'warn'>,
  limits = maxUnits,
) {
  const process = randomUUID()
  /** By key and trial. */
  const counted = new Map<string, Counted>()
  const unitsOf = new Map<number, number>()
  let unitsOfAll = 0
  let timer: NodeJS.Timeout | undefined
  let flushing = Promise.resolve()

  function scheduleFlush(): void {
    timer ??= setTimeout(flush, flushAfterMs).unref()
  }

  function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    flushing = flushing.then(flushChanged)
    return flushing
  }

  async function flushChanged(): Promise<void> {
    forgetUnused()
    const changed = [...counted.values()].filter(({ isChanged }) => isChanged)
    for (const [keyId, ofKey] of Map.groupBy(changed, (each) => each.keyId)) {
      for (const each of ofKey) each.isChanged = false
      const exposures = ofKey.flatMap(({ byShare }) => [...byShare.values()])
      const { organisationId } = ofKey[0] as Counted
      try {
        await trials.recordExposures(organisationId, keyId, `${process}/${keyId}`, exposures)
      } catch (error) {
        log.warn({ err: error }, 'could not store exposures, retrying in a moment')
        for (const each of ofKey) each.isChanged = true
        scheduleFlush()
      }
    }
  }

  function occupy(organisationId: number, units: number): void {
    unitsOfAll += units
    const left = (unitsOf.get(organisationId) ?? 0) + units
    if (left === 0) unitsOf.delete(organisationId)
    else unitsOf.set(organisationId, left)
  }

  function forgetUnused(): void {
    const now = performance.now()
    for (const [id, { organisationId, units, isChanged, usedAt }] of counted) {
      if (isChanged || now - usedAt < forgetAfterMs) continue
      counted.delete(id)
      occupy(organisationId, -units.size - unitsForTrial)
    }
  }

  return {
    flush,
    count(
      { organisationId, keyId }: Pick<Access, 'organisationId' | 'keyId'>,
      { id, share }: ServedTrial,
      unit: string,
      arm: Arm,
    ): void {
      const now = performance.now()
      const counter = `${keyId} ${id}`
      const known = counted.get(counter)
      const position = positionOf(id, unit)
      if (known !== undefined) {
        known.usedAt = now
        if (known.units.has(position) || known.units.size >= limits.ofTrial) return
        if (known.byShare.size >= maxShares && !known.byShare.has(share)) return
      }
      const hasRoom = unitsOfAll < limits.ofAll && (unitsOf.get(organisationId) ?? 0) < limits.ofOrganisation
      // Also where nothing is counted, because that forgets trials.
      scheduleFlush()
      if (!hasRoom) return
      const ofTrial: Counted = known ?? {
        organisationId,
        keyId,
        units: new Set(),
        byShare: new Map(),
        isChanged: false,
        usedAt: now,
      }
      if (known === undefined) occupy(organisationId, unitsForTrial)
      counted.set(counter, ofTrial)
      occupy(organisationId, 1)
      ofTrial.units.add(position)
      const exposures = ofTrial.byShare.get(share) ?? { trial: id, share, control: 0, candidate: 0 }
      exposures[arm]++
      ofTrial.byShare.set(share, exposures)
      ofTrial.isChanged = true
    },
  }
}
