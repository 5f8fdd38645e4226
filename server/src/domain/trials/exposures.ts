import type { ArmCounts } from './share-check.ts'
import { hasShareMismatch } from './share-check.ts'
import type { KeyExposures } from './trial.ts'

interface JudgedExposures {
  /** The keys whose units do not come in the promised share. Null stands for reports without a key. */
  disagreeing: (number | null)[]
  /** Whether the trial cannot be judged because of them. */
  isMismatch: boolean
  /** Those that count for the figures of the trial. */
  counted: KeyExposures[]
}

/**
 * Checks what each key reports for itself, because a key can report anything. A single key that disagrees is left out if the others
 * served at least as many units as there are voters: then the votes are explained without it. docs/decisions/0109.
 */
export function judgeExposures(exposures: readonly KeyExposures[], voters: number): JudgedExposures {
  const byKey = Map.groupBy(exposures, ({ keyId }) => keyId)
  const disagreeing = [...byKey]
    .filter(([, ofKey]) => hasShareMismatch(ofKey.map(countedOnce), byKey.size))
    .map(([keyId]) => keyId)
  const others = exposures.filter(({ keyId }) => !disagreeing.includes(keyId))
  const units = others.reduce((sum, { control, candidate }) => sum + control + candidate, 0)
  const isOutlier = disagreeing.length === 1 && units > 0 && units >= voters
  return {
    disagreeing,
    isMismatch: disagreeing.length > 0 && !isOutlier,
    counted: isOutlier ? others : [...exposures],
  }
}

/**
 * Each process counts a unit once, so several may count the same one. Divided by the number of processes no unit weighs more than one,
 * and the check raises no more false alarms than promised: docs/decisions/0109.
 */
function countedOnce({ share, control, candidate, sources }: KeyExposures): ArmCounts {
  return { share, control: control / sources, candidate: candidate / sources }
}
