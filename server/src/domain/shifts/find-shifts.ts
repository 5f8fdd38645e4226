import { type Blocks, cutBlocks, type Sum } from '../impact/blocks.ts'
import { type Life, liveFrom } from '../impact/live-window.ts'
import { causeOf, type Shift, shiftsOf } from '../impact/shifts.ts'
import { singleVotesOf } from '../impact/short-windows.ts'
import type { VoteHistory } from '../impact/vote-history.ts'
import type { Wander } from '../impact/wander.ts'
import type { WindowSums } from '../impact/window-sums.ts'
import type { VoteStore } from '../signals/votes.ts'
import { hourStart, type Instant } from '../time.ts'
import type { StoredShift } from './shift.ts'

/** Blocks of all votes on a prompt, and the number of windows that they were cut from. */
export interface CutVotes {
  blocks: Blocks
  windows: number
}

// Of the newest windows, the votes of short ones are read one by one.
const maxSingleWindows = 20

/** Cuts all votes on a prompt into blocks, also those from before its first change. */
export async function cutVotes(
  store: VoteStore,
  history: VoteHistory,
  windows: readonly WindowSums[],
): Promise<CutVotes> {
  const first = Math.max(0, windows.length - maxSingleWindows)
  const sides = windows.slice(first).map((_, i) => ({ place: first + i, isAfter: true }))
  const single = await singleVotesOf(store, history, windows, sides)
  const sums = windows.map((window, i) => single[i - first] ?? window.sums)
  const earlier = votesBeforeFirst(history)
  const all = earlier.length === 0 ? sums : [earlier, ...sums]
  return { blocks: cutBlocks(all), windows: all.length }
}

/** The votes from before the first change went live. They count for no change, but tell how votes wander. */
function votesBeforeFirst({ lives, series, unversioned }: VoteHistory): Sum[] {
  const until = lives.length === 0 ? Number.POSITIVE_INFINITY : hourStart(Math.min(...lives.map(liveFrom)))
  const hours = lives.length === 0 ? series.hours : unversioned
  const sums: Sum[] = []
  for (let at = 0; at < hours.length && (hours[at] as Instant) < until; at += 3) {
    sums.push({ start: hours[at] as Instant, positive: hours[at + 1] as number, negative: hours[at + 2] as number })
  }
  return sums
}

export function findShifts({ blocks }: CutVotes, wander: Readonly<Wander>): Shift[] {
  return shiftsOf(blocks, wander)
}

/**
 * Adds the cause to each shift. `others` has the shifts of the other prompts, and how many prompts there are that could have
 * moved too.
 */
export function explainShifts(
  shifts: Shift[],
  lives: readonly Life[],
  others: { shifts: { promptId: number; between: [Instant, Instant] }[]; prompts: number },
): StoredShift[] {
  const moved = [...Map.groupBy(others.shifts, ({ promptId }) => promptId).values()]
  const still = Array.from({ length: Math.max(0, others.prompts - moved.length) }, () => [])
  const changes = lives.map(liveFrom)
  return shifts.map((shift) => {
    const cause = causeOf(shift, changes, [...moved, ...still])
    const { at, between, rateBefore, rateAfter } = shift
    return {
      at,
      between,
      rateBefore,
      rateAfter,
      entryId: 'change' in cause ? (lives[cause.change]?.change.id ?? null) : null,
      sharedWith: 'sharedWith' in cause ? cause.sharedWith : null,
    }
  })
}
