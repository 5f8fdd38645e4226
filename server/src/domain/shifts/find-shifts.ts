import { type Blocks, blockSizes, cutBlocks, totalOf } from '../impact/blocks.ts'
import { chainWindows } from '../impact/chain.ts'
import { type Life, liveFrom } from '../impact/live-window.ts'
import { seasonOf } from '../impact/season.ts'
import { changeWithin, maxShifts, rangeOfStep, shiftsOf } from '../impact/shifts.ts'
import { withSingleVotes } from '../impact/short-windows.ts'
import { type VoteHistory, voteWindowOf } from '../impact/vote-history.ts'
import type { Wander } from '../impact/wander.ts'
import type { VoteStore } from '../signals/votes.ts'
import { hourStart } from '../time.ts'
import type { FoundShift } from './shift.ts'

/** Blocks of all votes on a prompt, and the number of windows that they were cut from. */
export interface CutVotes {
  blocks: Blocks
  windows: number
}

/** A change that moved the rate, according to its verdict. */
export interface MovingChange {
  life: Life
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

/** Cuts all votes on a prompt into blocks, whatever version they name, also those from before its first change. */
export async function cutVotes(store: VoteStore, history: VoteHistory): Promise<CutVotes> {
  const { prompt, lives } = history
  const windows = chainWindows(history)
  const sizes = blockSizes(windows.map(totalOf))
  const first = Math.max(1, windows.length - maxSingleWindows)
  const single = await withSingleVotes(
    store,
    windows.slice(first).map((sums, i) => ({
      prompt,
      window: { ...voteWindowOf(history, lives[first + i - 1] as Life), versions: [], unversionedOnly: false },
      sums,
      isAfter: true,
      blockSize: sizes[first + i] as number,
    })),
  )
  const season = seasonOf(history.hours)
  return { blocks: cutBlocks([...windows.slice(0, first), ...single], sizes, season), windows: windows.length }
}

/**
 * The shifts of a prompt, in the order of time: one for each change that moved the rate, and those that are found in the votes beyond
 * these. Beyond the limit, the oldest are left out, those of changes last.
 */
export function findShifts(
  history: VoteHistory,
  { blocks }: CutVotes,
  { moving, acquitted }: JudgedCauses,
  wander: Readonly<Wander>,
): FoundShift[] {
  const ofChanges = moving.map((change) => shiftOfChange(history, blocks, change, wander))
  const steps = moving.map(({ life }) => blocks.window.indexOf(windowOf(history, life))).filter((t) => t > 0)
  const candidates = history.lives.filter(({ change }) => !acquitted.has(change.id))
  const found = shiftsOf(blocks, wander, new Set(steps))
    // What is near the step of a change belongs to it: the change reached users gradually, or votes came late.
    .filter(({ between: [from, until] }) => !ofChanges.some(({ at }) => at >= from && at <= until))
    .map(({ at, between, rateBefore, rateAfter }): FoundShift => {
      const life = lifeWithin({ at, between }, candidates)
      const until = life === null ? between[1] : Math.max(between[1], liveFrom(life))
      return { at, between: [between[0], until], rateBefore, rateAfter, entryId: life?.change.id ?? null }
    })
  const newestFirst = (a: FoundShift, b: FoundShift) => b.at - a.at
  const limited = [...ofChanges.sort(newestFirst), ...found.sort(newestFirst)].slice(0, maxShifts)
  return limited.sort((a, b) => a.at - b.at)
}

function shiftOfChange(
  history: VoteHistory,
  blocks: Blocks,
  { life, rateBefore, rateAfter }: MovingChange,
  wander: Readonly<Wander>,
): FoundShift {
  const at = liveFrom(life)
  const earlier = life.earlier === null ? undefined : history.live.lives.get(life.earlier.id)
  const before = earlier === undefined ? -1 : windowOf(history, earlier)
  const [from, until] = rangeOfStep(blocks, before, windowOf(history, life), wander) ?? [hourStart(at), at]
  return {
    at,
    between: [Math.min(from, at), Math.max(until, at)],
    rateBefore,
    rateAfter,
    entryId: life.change.id,
  }
}

function lifeWithin(shift: Pick<FoundShift, 'at' | 'between'>, lives: readonly Life[]): Life | null {
  // Sums by hour show a change at the start of its hour.
  const changes = lives.map(liveFrom).map((from) => (from > shift.between[1] ? hourStart(from) : from))
  const nearest = changeWithin(shift, changes)
  return nearest === null ? null : (lives[nearest] as Life)
}

/** The window of the change, after that of the votes from before the first one. */
function windowOf({ placeOf }: VoteHistory, { change }: Life): number {
  return (placeOf.get(change.id) as number) + 1
}
