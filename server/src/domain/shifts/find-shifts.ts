import { earlierPeriod, type LivePeriod, liveFrom } from '../impact/live/live-window.ts'
import { type Blocks, blockSizes, cutBlocks, minVotes, type Sum } from '../impact/model/blocks.ts'
import { chainWindows } from '../impact/model/chain.ts'
import type { Drift } from '../impact/model/drift.ts'
import { seasonOf } from '../impact/model/season.ts'
import { changesWithin, maxShifts, rangeOfStep, shiftsOf } from '../impact/model/shifts.ts'
import { withSingleVotes } from '../impact/reading/short-windows.ts'
import { type VoteHistory, voteWindowOf } from '../impact/reading/vote-history.ts'
import { countOf, totalOf } from '../signals/tally.ts'
import type { VoteStore } from '../signals/votes.ts'
import { hourStart } from '../time.ts'
import type { Candidates, FoundShift, Range } from './shift.ts'

/** Blocks of all votes on a prompt, and the number of windows that they were cut from. */
interface CutVotes {
  blocks: Blocks
  windows: number
}

/** A change that moved the rate, according to its verdict. */
export interface MovingChange {
  period: LivePeriod
  rateBefore: number
  rateAfter: number
}

/** What the verdicts say about the changes of a prompt. */
export interface JudgedCauses {
  moving: readonly MovingChange[]
  /** IDs of the entries of changes that do not explain a shift, although they are near it. */
  acquitted: ReadonlySet<number>
}

// Of the newest windows, the votes of short ones are read one by one.
const maxSingleWindows = 20
const maxCandidates = 20

/** Cuts all votes on a prompt into blocks, whatever version they name, also those from before its first change. */
export async function cutVotes(store: VoteStore, history: VoteHistory): Promise<CutVotes> {
  const { prompt, periods } = history
  const windows = joinSmall(chainWindows(history))
  const sizes = blockSizes(windows)
  const first = Math.max(1, windows.length - maxSingleWindows)
  const single = await withSingleVotes(
    store,
    windows.slice(first).map((sums, i) => ({
      prompt,
      window: { ...voteWindowOf(history, periods[first + i - 1] as LivePeriod), versions: [], unversionedOnly: false },
      votes: { sums },
      isAfter: true,
      blockSize: sizes[first + i] as number,
    })),
  )
  const season = seasonOf(history.hours)
  return {
    blocks: cutBlocks([...windows.slice(0, first), ...single.map(({ sums }) => sums)], sizes, season),
    windows: windows.length,
  }
}

/**
 * Joins windows in a row that have too few votes for a block, with the last of them. Otherwise the votes of a prompt that changes
 * faster than people vote would show no shift at all.
 */
function joinSmall(windows: readonly Sum[][]): Sum[][] {
  let open: Sum[] = []
  return windows.map((sums) => {
    if (votesIn(sums) >= minVotes) {
      open = []
      return sums
    }
    open = [...open, ...sums]
    if (votesIn(open) < minVotes) return []
    const joined = open
    open = []
    return joined
  })
}

function votesIn(sums: readonly Sum[]): number {
  return countOf(totalOf(sums))
}

/**
 * The shifts of a prompt, in the order of time: one for each change that moved the rate, and those that are found in the votes beyond
 * these. Beyond the limit, the oldest are left out, those of changes last.
 */
export function findShifts(
  history: VoteHistory,
  { blocks }: CutVotes,
  { moving, acquitted }: JudgedCauses,
  drift: Readonly<Drift>,
): FoundShift[] {
  const ofChanges = moving.map((change) => shiftOfChange(history, blocks, change, drift))
  const steps = moving.map(({ period }) => blocks.window.indexOf(windowOf(history, period))).filter((t) => t > 0)
  const suspects = history.periods.filter(({ change }) => !acquitted.has(change.id))
  const found = shiftsOf(blocks, drift, new Set(steps))
    // A shift near the step of a change belongs to it: the change reached users gradually, or votes came late.
    .filter(({ between: [from, until] }) => !ofChanges.some(({ at }) => at >= from && at <= until))
    .map(({ at, between, rateBefore, rateAfter }): FoundShift => {
      const periods = periodsWithin({ at, between }, suspects)
      const range: Range = [between[0], Math.max(between[1], ...periods.map(liveFrom))]
      const entryId = periods[0]?.change.id ?? null
      return { at, between: range, rateBefore, rateAfter, entryId, candidates: candidatesOf(history, periods, range) }
    })
  const newestFirst = (a: FoundShift, b: FoundShift) => b.at - a.at
  const limited = [...ofChanges.sort(newestFirst), ...found.sort(newestFirst)].slice(0, maxShifts)
  return limited.sort((a, b) => a.at - b.at)
}

function shiftOfChange(
  history: VoteHistory,
  blocks: Blocks,
  { period, rateBefore, rateAfter }: MovingChange,
  drift: Readonly<Drift>,
): FoundShift {
  const at = liveFrom(period)
  const earlier = earlierPeriod(history.live, period)
  const before = earlier === undefined ? -1 : windowOf(history, earlier)
  const [from, until] = rangeOfStep(blocks, before, windowOf(history, period), drift) ?? [hourStart(at), at]
  return {
    at,
    between: [Math.min(from, at), Math.max(until, at)],
    rateBefore,
    rateAfter,
    entryId: period.change.id,
    candidates: null,
  }
}

/** The changes that went live within the range of a shift, the nearest first. */
function periodsWithin(shift: Pick<FoundShift, 'at' | 'between'>, periods: readonly LivePeriod[]): LivePeriod[] {
  // Sums by hour show a change at the start of its hour.
  const changes = periods.map(liveFrom).map((from) => (from > shift.between[1] ? hourStart(from) : from))
  return changesWithin(shift, changes).map((place) => periods[place] as LivePeriod)
}

/** How the votes within the range are distributed over the changes that went live in it. */
function candidatesOf(history: VoteHistory, periods: readonly LivePeriod[], [from, until]: Range): Candidates | null {
  if (periods.length === 0) return null
  const windows = chainWindows(history)
  const votesOf = (sums: Sum[]) => votesIn(sums.filter(({ start }) => start >= hourStart(from) && start <= until))
  const all = Math.max(1, votesOf(windows.flat()))
  const changes = periods
    .map((period) => ({ entryId: period.change.id, share: votesOf(windows[windowOf(history, period)] as Sum[]) / all }))
    .sort((a, b) => b.share - a.share || b.entryId - a.entryId)
  return { count: changes.length, changes: changes.slice(0, maxCandidates) }
}

/** The window of the change, after that of the votes from before the first one. */
function windowOf({ placeOf }: VoteHistory, { change }: LivePeriod): number {
  return (placeOf.get(change.id) as number) + 1
}
