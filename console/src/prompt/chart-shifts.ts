import type { Shift, Summary, Tally, TimelineEntry } from '@promptledger/client'
import { shortDate } from '../ui/locale.ts'
import { countOf } from '../ui/number.ts'

const hourMs = 3_600_000

/** A time in which the rate moved for another reason than a change of the prompt. */
export interface ShiftBand {
  /** When it most likely moved. */
  at: number
  from: number
  to: number
  label: string
  rates: [before: number, after: number]
}

/** The shifts that the averages of versions do not show. One that a change explains is the step at that change. */
export function shiftBands(shifts: Shift[]): ShiftBand[] {
  return shifts
    .filter(({ cause }) => cause.change === undefined)
    .map((shift): ShiftBand => {
      const { at, between, rate_before: before, rate_after: after } = shift
      const [from, to] = between.map((time) => Date.parse(time)) as [number, number]
      return {
        at: Date.parse(at),
        from,
        to,
        label: `${causeLabel(shift)}, ${daysOf(from, to)}`,
        rates: [before, after],
      }
    })
    .toSorted((a, b) => a.at - b.at)
}

function causeLabel({ cause: { shared_with: others }, candidates }: Shift): string {
  if (others !== undefined) return `shift shared with ${countOf(others, 'other prompt')}`
  if (candidates === null) return 'unexplained shift'
  return candidates.count === 1
    ? 'shift, perhaps by one change'
    : `shift by one of ${countOf(candidates.count, 'change')}`
}

function daysOf(from: number, to: number): string {
  const [first, last] = [shortDate(new Date(from)), shortDate(new Date(to))]
  return first === last ? first : `${first} to ${last}`
}

/** The part of a version's life before, between or after shifts. */
interface LifePart {
  id: number
  start: number
  end: number
}

/** A part with its signals. */
export type TalliedPart = LifePart & Tally

/** The parts of each time in which a version was live that shifts divide, in whole hours: sums are by the hour. */
export function dividedLives(changes: TimelineEntry[], bands: ShiftBand[], now: number): LifePart[] {
  return changes.flatMap(({ entry: { id }, impact }) =>
    (impact?.live_windows ?? []).flatMap(({ from, until }) => {
      const [start, end] = [Date.parse(from), until === null ? now : Date.parse(until)]
      const within = bands
        .map(({ at }) => Math.floor(at / hourMs) * hourMs)
        .filter((at) => at - start >= hourMs && end - at >= hourMs)
      if (within.length === 0) return []
      const edges = [start, ...new Set(within), end]
      return edges.slice(1).map((edge, i) => ({ id, start: edges[i] as number, end: edge }))
    }),
  )
}

/** The signals of a part, from a summary of its time. */
export function tallyOf(part: LifePart, { data }: Summary): TalliedPart {
  const own = data.filter(({ entry_id: entryId }) => entryId === part.id)
  const sum = (value: 'positive' | 'negative') => own.reduce((total, interval) => total + interval[value], 0)
  return { ...part, positive: sum('positive'), negative: sum('negative') }
}
