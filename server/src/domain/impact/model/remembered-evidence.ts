import { createBoundedMap } from '../../bounded-map.ts'
import { derivedFrom } from '../cache.ts'
import type { LivePeriod } from '../live/live-window.ts'
import type { Sums } from '../reading/window-sums.ts'
import { cutBlocks, type Sum } from './blocks.ts'
import type { Drift } from './drift.ts'
import { type Elsewhere, type Evidence, evidenceOfChanges } from './evidence.ts'
import { createFingerprint } from './fingerprint.ts'
import type { Past } from './past.ts'
import type { StepEvidence } from './step.ts'

/** The votes on a change and on the one before it, with the past of their prompt. */
interface ComparedVotes {
  past: Past
  earlier: LivePeriod
  period: LivePeriod
  before: Sums
  after: Sums
  drift: Readonly<Drift>
  /** Whether all sums but the first and the last of each side are those of the past's hours. */
  areWholeHours: boolean
}

interface Remembered {
  /** Null if there are too few votes. */
  step: StepEvidence | null
  /** Not known before it was asked for. */
  elsewhere?: Elsewhere | null
}

// About 300 bytes each.
const remembered = createBoundedMap<Remembered>(10_000)

/** What the votes say about the change. Computed once for the same votes. */
export function evidenceOf(votes: ComparedVotes): Evidence | null {
  const key = keyOf(votes)
  const known = remembered.get(key)
  if (known === undefined) {
    const found = compute(votes)
    const entry: Remembered = { step: found && stepOf(found) }
    remembered.set(key, entry)
    return found && withMemory(entry, found, () => found)
  }
  // Nothing to compare stays so.
  return known.step && withMemory(known, known.step, () => compute(votes))
}

function withMemory(entry: Remembered, step: StepEvidence, evidence: () => Evidence | null): Evidence {
  return {
    ...stepOf(step),
    findElsewhere() {
      if (entry.elsewhere === undefined) entry.elsewhere = evidence()?.findElsewhere() ?? null
      return entry.elsewhere
    },
    // Hardly ever asked for: only if the model changed while votes came in.
    compareWith: (at) => evidence()?.compareWith(at) ?? null,
  }
}

// Without the blocks, which the evidence keeps to look elsewhere.
function stepOf({ logBayesFactor, mean, deviation, information }: StepEvidence): StepEvidence {
  return { logBayesFactor, mean, deviation, information }
}

function compute({ past, earlier, period, before, after, drift }: ComparedVotes): Evidence | null {
  const blocks = cutBlocks([before.sums, after.sums], [past.sizeOf(earlier), past.sizeOf(period)], past.season())
  return evidenceOfChanges(blocks, 2, drift, (window) => window === 1, past.levelsBefore(earlier))[1] ?? null
}

/** The other sums are those of the past, whose fingerprint is known. */
function endsOf(side: Sums): readonly Sum[] {
  if (side.hourly !== undefined) return side.hourly.ends
  const { sums } = side
  return sums.length < 3 ? sums : [sums[0] as Sum, sums.at(-1) as Sum]
}

function keyOf({ past, earlier, period, before, after, drift, areWholeHours }: ComparedVotes): string {
  const { add, text } = createFingerprint()
  for (const side of [before, after]) {
    add(side.hourly?.size ?? side.sums.length)
    add(side.designEffect ?? 1)
    for (const { start, positive, negative, squares = -1 } of areWholeHours ? endsOf(side) : side.sums) {
      add(start)
      add(positive)
      add(negative)
      add(squares)
    }
  }
  return `${past.fingerprint} ${earlier.change.id} ${period.change.id} ${derivedFrom(drift, fingerprintOfDrift)} ${text()}`
}

function fingerprintOfDrift(drift: Readonly<Drift>): string {
  const { add, text } = createFingerprint()
  for (let g = 0; g < drift.length; g++) add(drift[g] as number)
  return text()
}
