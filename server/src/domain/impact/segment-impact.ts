import { createBoundedMap } from '../bounded-map.ts'
import { countOf, type Tally, totalOf } from '../signals/tally.ts'
import type { VoteStore } from '../signals/votes.ts'
import { derivedFrom } from './cache.ts'
import type { JudgedChange } from './judged-changes.ts'
import { earlierPeriod } from './live/live-window.ts'
import { cutBlocks, type Sum } from './model/blocks.ts'
import { type Drift, learnDrift } from './model/drift.ts'
import { discoveries } from './model/e-values.ts'
import { evidenceOfChanges, likelihoodOfDrift } from './model/evidence.ts'
import { explain, explainMultiple } from './model/explanation.ts'
import { createFingerprint } from './model/fingerprint.ts'
import { type Judgement, judge } from './model/judgement.ts'
import type { Mix } from './model/segments.ts'
import { type ComparedSegment, designEffectOf, findingOf, readSegments } from './reading/compared-segments.ts'
import type { VoteHistory } from './reading/vote-history.ts'

/** A change in one segment. */
interface SegmentImpact extends Omit<Judgement, 'reason'>, Pick<ComparedSegment, 'value' | 'isOther'> {
  before: Tally
  after: Tally
  explanation: string
}

/** A change with the votes that count for it and for the change before it. */
type SegmentedChange = Pick<JudgedChange, 'period' | 'before' | 'after'>

/** A change by the values of one key of the metadata. */
export interface SegmentedImpact {
  key: string
  mix: Mix | null
  segments: SegmentImpact[]
  /** Whether all votes of both sides were examined. */
  isComplete: boolean
}

interface Remembered {
  /** Of the votes and of what was expected of them. */
  fingerprint: string
  segmented: SegmentedImpact
}

// About 400 bytes for each segment.
const maxRememberedSegments = 20_000

const newMemory = () => createBoundedMap<Remembered>(maxRememberedSegments)

/** The changes in each segment, by the values of a key. Null for a change without one before it. */
export async function segmentsOfChanges(
  store: VoteStore,
  history: VoteHistory,
  changes: readonly SegmentedChange[],
  key: string,
  drift: Readonly<Drift>,
): Promise<(SegmentedImpact | null)[]> {
  const memory = derivedFrom(store, newMemory)
  const segmented: (SegmentedImpact | null)[] = []
  for (const change of changes) {
    const { period } = change
    const earlier = earlierPeriod(history.live, period)
    if (earlier === undefined) {
      segmented.push(null)
      continue
    }
    const memoryKey = JSON.stringify([history.prompt.id, earlier.change.id, period.change.id, key])
    const fingerprint = fingerprintOf(change, drift)
    const known = history.moment.isPast ? undefined : memory.get(memoryKey)
    if (known?.fingerprint === fingerprint) {
      segmented.push(known.segmented)
      continue
    }
    const sides = (await readSegments(store, history, { before: earlier, after: period }, [key])).get(key) ?? []
    const found = segmentedImpact(change, key, sides, drift)
    if (!history.moment.isPast) memory.set(memoryKey, { fingerprint, segmented: found }, found.segments.length + 1)
    segmented.push(found)
  }
  return segmented
}

function segmentedImpact(
  { before, after }: SegmentedChange,
  key: string,
  sides: readonly ComparedSegment[],
  drift: Readonly<Drift>,
): SegmentedImpact {
  const { mix } = findingOf(key, sides, drift)
  const segments = judgeSegments(sides, drift)
  const examined = totalOf(segments.flatMap((segment) => [segment.before, segment.after]))
  return { key, mix, segments, isComplete: countOf(examined) >= countOf(before) + countOf(after) }
}

function fingerprintOf({ before, after }: SegmentedChange, drift: Readonly<Drift>): string {
  const { add, text } = createFingerprint()
  for (const { positive, negative } of [before, after]) {
    add(positive)
    add(negative)
  }
  for (const log of drift) add(log)
  return text()
}

/**
 * How the votes of each segment are expected to drift, by those of the others before the change. Alone, a segment rarely has the
 * votes that it takes to tell.
 */
export function driftOfSegments(before: readonly (readonly Sum[])[], drift: Readonly<Drift>): Drift[] {
  const logLikelihoods = before.map((sums) => likelihoodOfDrift(cutBlocks([sums]), 1))
  return before.map((_, i) => learnDrift(logLikelihoods.toSpliced(i, 1), drift))
}

/** Judges each segment. At most 5% of those that are called better or worse are wrong on average, at any time. */
export function judgeSegments(sides: readonly ComparedSegment[], drift: Readonly<Drift>): SegmentImpact[] {
  const drifts = driftOfSegments(
    sides.map(({ before }) => before),
    drift,
  )
  const found = sides.map(({ before, after }, i) => {
    return evidenceOfChanges(cutBlocks([before, after]), 2, drifts[i])[1] ?? null
  })
  const isDiscovered = discoveries(found.map((evidence) => evidence?.logBayesFactor ?? 0))
  return sides.map(({ value, isOther, ...votes }, i) => {
    const [before, after] = [totalOf(votes.before), totalOf(votes.after)]
    const designEffect = { before: designEffectOf(votes.before), after: designEffectOf(votes.after) }
    const judgement = judge({ before, after, evidence: found[i] ?? null, designEffect })
    const isDecided = judgement.verdict === 'better' || judgement.verdict === 'worse'
    const { reason: _, ...result } = judgement
    if (!isDecided || isDiscovered[i]) {
      return { value, isOther, before, after, ...result, explanation: explain(judgement, before, after) }
    }
    const explanation = explainMultiple(before, after, sides.length)
    return { value, isOther, before, after, ...result, verdict: 'too_little_data', explanation }
  })
}
