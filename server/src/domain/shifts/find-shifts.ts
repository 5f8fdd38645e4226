import { type Blocks, blockSizes, cutBlocks, totalOf } from '../impact/blocks.ts'
import { chainWindows } from '../impact/chain.ts'
import { type Life, liveFrom } from '../impact/live-window.ts'
import { causeOf, type Shift, shiftsOf } from '../impact/shifts.ts'
import { withSingleVotes } from '../impact/short-windows.ts'
import { type VoteHistory, voteWindowOf } from '../impact/vote-history.ts'
import type { Wander } from '../impact/wander.ts'
import type { VoteStore } from '../signals/votes.ts'
import { hourStart } from '../time.ts'
import type { StoredShift } from './shift.ts'

/** Blocks of all votes on a prompt, and the number of windows that they were cut from. */
export interface CutVotes {
  blocks: Blocks
  windows: number
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
  return { blocks: cutBlocks([...windows.slice(0, first), ...single], sizes), windows: windows.length }
}

export function findShifts({ blocks }: CutVotes, wander: Readonly<Wander>): Shift[] {
  return shiftsOf(blocks, wander)
}

/** Adds the cause to each shift. `moved` is how many other prompts moved with each, of `others` that could have. */
export function explainShifts(
  shifts: Shift[],
  lives: readonly Life[],
  moved: readonly number[],
  others: number,
): StoredShift[] {
  return shifts.map((shift, i) => {
    const { at, between, rateBefore, rateAfter } = shift
    // Sums by hour show a change at the start of its hour.
    const changes = lives.map(liveFrom).map((from) => (from > between[1] ? hourStart(from) : from))
    const cause = causeOf(shift, changes, { moved: moved[i] ?? 0, all: others })
    const life = 'change' in cause ? (lives[cause.change] as Life) : null
    return {
      at,
      between: life === null ? between : [between[0], Math.max(between[1], liveFrom(life))],
      rateBefore,
      rateAfter,
      entryId: life?.change.id ?? null,
      sharedWith: 'sharedWith' in cause ? cause.sharedWith : null,
    }
  })
}
