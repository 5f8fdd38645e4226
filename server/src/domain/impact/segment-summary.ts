import type { Prompt } from '../prompt.ts'
import type { Span } from '../signals/interval.ts'
import type { RetentionStore } from '../signals/retention.ts'
import type { IntervalTally } from '../signals/signal.ts'
import { countOf, emptyTally, type Tally, totalOf } from '../signals/tally.ts'
import type { VoteStore } from '../signals/votes.ts'
import type { Instant } from '../time.ts'
import { type SegmentValue, segmentValueOf } from './reading/segment-votes.ts'
import { maxExaminedVotes, maxMetadataBytes, readVotes } from './reading/window-votes.ts'

/** The signals of one segment by interval. */
interface SegmentSummary {
  value: SegmentValue
  total: Tally
  /** In order. Intervals without signals are left out. */
  intervals: IntervalTally[]
}

interface SegmentSummaries {
  /** The largest first. */
  segments: SegmentSummary[]
  /** How many others there are. */
  others: number
  /** Since when signals were counted, if there are too many for the whole time, or older ones are no longer kept; otherwise null. */
  countedFrom: Instant | null
}

// More lines cannot be told apart.
const maxSegments = 5

/**
 * Counts the newest signals of a time by segment and interval. There are no sums of segments, so single votes are read. `starts` has the
 * start of each interval, in order.
 */
export async function segmentSummariesOf(
  store: VoteStore & Pick<RetentionStore, 'retainedSince'>,
  prompt: Prompt,
  key: string,
  span: Span,
  starts: readonly Instant[],
): Promise<SegmentSummaries> {
  const window = { versions: [], spans: [span], unversionedOnly: false, until: span.until }
  const bySegment = new Map<SegmentValue, Map<Instant, IntervalTally>>()
  let [count, bytes, first] = [0, 0, 0]
  // Votes come newest first.
  let place = starts.length - 1
  for await (const batch of readVotes(store, prompt, window, 'newest', maxExaminedVotes, key)) {
    for (const { at, value, metadata } of batch) {
      const segment = segmentValueOf(metadata === null ? {} : (JSON.parse(metadata) as object), key)
      const tallies = bySegment.get(segment) ?? new Map<Instant, IntervalTally>()
      while (place > 0 && (starts[place] as Instant) > at) place--
      const start = starts[place] as Instant
      const tally = tallies.get(start) ?? { start, ...emptyTally }
      tally[value]++
      bySegment.set(segment, tallies.set(start, tally))
      count++
      bytes += metadata?.length ?? 0
      first = at
    }
  }
  const segments = [...bySegment].map(([value, tallies]): SegmentSummary => {
    const intervals = [...tallies.values()].reverse()
    return { value, total: totalOf(intervals), intervals }
  })
  segments.sort((a, b) => countOf(b.total) - countOf(a.total) || ((a.value ?? '') < (b.value ?? '') ? -1 : 1))
  const examinedFrom = count >= maxExaminedVotes || bytes > maxMetadataBytes ? first : span.from
  const countedFrom = Math.max(examinedFrom, await store.retainedSince())
  return {
    segments: segments.slice(0, maxSegments),
    others: Math.max(0, segments.length - maxSegments),
    countedFrom: countedFrom > span.from ? countedFrom : null,
  }
}
