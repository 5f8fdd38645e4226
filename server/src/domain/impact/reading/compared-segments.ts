import { type Tally, totalOf } from '../../signals/tally.ts'
import type { Vote, VoteStore } from '../../signals/votes.ts'
import { type ModelChange, modelChangesOfVotes } from '../../telemetry/model-changes.ts'
import type { LivePeriod } from '../live/live-window.ts'
import type { Sum } from '../model/blocks.ts'
import type { Drift } from '../model/drift.ts'
import { evidenceAcrossSegments, mixOf, type SegmentFinding } from '../model/segments.ts'
import { type SegmentValue, segmentVotesOf } from './segment-votes.ts'
import { type VoteHistory, voteWindowOf } from './vote-history.ts'
import { sumsOfVotes } from './window-votes.ts'

/** The changes whose votes are compared. */
interface ComparedPeriods {
  before: LivePeriod
  after: LivePeriod
}

/** The votes of one segment on both sides of a change. */
export interface ComparedSegment {
  /** Null for signals without a value, and for `other`. */
  value: SegmentValue
  /** All values beyond the first 20. */
  isOther: boolean
  before: Sum[]
  after: Sum[]
}

const maxSegments = 20

/** Reads the last votes before the change and the first ones after it, by the values of each key. */
export async function readSegments(
  store: VoteStore,
  history: VoteHistory,
  { before, after }: ComparedPeriods,
  keys: readonly string[],
): Promise<Map<string, ComparedSegment[]>> {
  const { prompt } = history
  const earlier = await segmentVotesOf(store, prompt, voteWindowOf(history, before), 'newest', keys)
  const later = await segmentVotesOf(store, prompt, voteWindowOf(history, after), 'oldest', keys)
  return new Map(keys.map((key) => [key, sidesOf(earlier.get(key) ?? new Map(), later.get(key) ?? new Map())]))
}

type VotesByValue = ReadonlyMap<SegmentValue, readonly Vote[]>

/**
 * The segments with the most votes before the change, then those that are new after it, in the order in which they came. Which
 * ones these are does not depend on how the votes after the change turn out, so looking at any time stays valid.
 */
function sidesOf(before: VotesByValue, after: VotesByValue): ComparedSegment[] {
  const known = [...before.keys()].filter((value) => value !== null)
  known.sort((a, b) => (before.get(b)?.length ?? 0) - (before.get(a)?.length ?? 0) || (a < b ? -1 : 1))
  const added = [...after.keys()].filter((value) => value !== null && !before.has(value))
  const values = [...known, ...added]
  const [shown, rest] = [values.slice(0, maxSegments), values.slice(maxSegments)]
  const side = (value: SegmentValue, isOther: boolean, of: readonly SegmentValue[]): ComparedSegment => ({
    value,
    isOther,
    before: sumsOf(before, of),
    after: sumsOf(after, of),
  })
  return [
    ...shown.map((value) => side(value, false, [value])),
    ...(rest.length > 0 ? [side(null, true, rest)] : []),
    ...(before.has(null) || after.has(null) ? [side(null, false, [null])] : []),
  ]
}

function sumsOf(byValue: VotesByValue, values: readonly SegmentValue[]): Sum[] {
  const votes = values.flatMap((value) => byValue.get(value) ?? [])
  if (values.length > 1) votes.sort((a, b) => a.at - b.at || a.id - b.id)
  return sumsOfVotes(votes)
}

export function findingOf(key: string, sides: readonly ComparedSegment[], drift: Readonly<Drift>): SegmentFinding {
  return {
    key,
    evidence: evidenceAcrossSegments(
      sides.map(({ before, after }) => [before, after]),
      drift,
    ),
    mix: mixOf(sides.map(({ before, after }) => ({ before: totalOf(before), after: totalOf(after) }))),
  }
}

// What is remembered of a change. A sender could alternate models.
const maxModelChanges = 100

/** When most votes began to name another value, of a key that names the model. Values beyond the first 20 are no models. */
export function modelChangesIn(sides: readonly ComparedSegment[]): ModelChange[] {
  const votes = sides.flatMap(({ value, before, after }) =>
    value === null ? [] : [...before, ...after].map(({ start }) => ({ at: start, model: value })),
  )
  return modelChangesOfVotes(votes).slice(-maxModelChanges)
}

/** How many of its votes are worth an independent one. */
export function designEffectOf(sums: readonly Sum[]): number {
  const { positive, negative }: Tally = totalOf(sums)
  const squares = sums.reduce((sum, each) => sum + (each.squares ?? each.positive + each.negative), 0)
  return positive + negative === 0 ? 1 : squares / (positive + negative)
}
