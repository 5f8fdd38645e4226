import type { Summary, Tally } from '@promptledger/client'
import { fewSignals } from './chart-steps.ts'

/** A time with enough signals of a segment to draw their share. */
export interface SegmentStep {
  start: number
  end: number
  share: number
}

/** The line of one segment. */
interface SegmentLine {
  /** Null for signals without the member. */
  value: string | null
  total: Tally
  /** Of each version, in order. */
  runs: SegmentStep[][]
}

export interface SegmentLines {
  key: string
  lines: SegmentLine[]
  /** How many segments have no line. */
  others: number
  /** Earlier signals are not counted; null if all are. */
  countedFrom: string | null
}

/** The largest segments of a summary that is split at changes. */
export function segmentLinesOf({ segments, data: intervals }: Summary): SegmentLines | null {
  if (segments === undefined) return null
  const { key, data, others, counted_from: countedFrom } = segments
  const lines = data.map(({ value, total, data: tallies }) => ({ value, total, runs: runsOf(tallies, intervals) }))
  return { key, lines, others, countedFrom }
}

/**
 * For each version, its intervals joined until they have enough signals. No step mixes two versions: a slope would fall before its
 * cause. A version with too few signals of the segment has no line.
 */
function runsOf(tallies: ({ start: string } & Tally)[], intervals: Summary['data']): SegmentStep[][] {
  const tallyAt = new Map(tallies.map((tally) => [tally.start, tally]))
  const runs: SegmentStep[][] = []
  let open: (Tally & { start: number; end: number }) | null = null
  let version: number | null | undefined
  for (const { start, end, entry_id: entryId } of intervals) {
    const { positive, negative } = tallyAt.get(start) ?? { positive: 0, negative: 0 }
    const [from, to] = [Date.parse(start), Date.parse(end ?? start)]
    if (entryId !== version || runs.length === 0) {
      runs.push([])
      open = null
      version = entryId
    }
    open = open === null ? { positive, negative, start: from, end: to } : joined(open, { positive, negative }, to)
    if (open.positive + open.negative < fewSignals) continue
    runs.at(-1)?.push({ start: open.start, end: open.end, share: open.positive / (open.positive + open.negative) })
    open = null
  }
  return runs.filter((run) => run.length > 0)
}

function joined({ start, ...sum }: Tally & { start: number }, { positive, negative }: Tally, end: number) {
  return { start, end, positive: sum.positive + positive, negative: sum.negative + negative }
}
