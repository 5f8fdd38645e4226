import { hourStart } from '../time.ts'
import { type Blocks, blockSizes, cutBlocks, type Sum, totalOf } from './blocks.ts'
import type { Credit } from './live-window.ts'
import type { VoteHistory } from './vote-history.ts'
import { firstFrom } from './window-sums.ts'

/** All votes of a prompt in a row: how they wandered, with a step of its own for each change. */
export interface Chain {
  blocks: Blocks
  /** One for each of the history's lives. */
  windows: number
  /** How many votes a block of each window has at least. */
  sizes: number[]
}

/**
 * Credits whole hours to the change that was live, whatever version their votes name. That is all it takes to see how votes
 * wander; the votes that are compared are read exactly.
 */
export function chainOf({ lives, hours }: VoteHistory): Chain {
  const windows = lives.map((): Sum[] => [])
  const credits: { place: number; credit: Credit }[] = []
  for (const [place, life] of lives.entries()) for (const credit of life.credits) credits.push({ place, credit })
  credits.sort((a, b) => a.credit.from - b.credit.from)
  const { start, positive, negative } = hours
  let i = firstFrom(start, hourStart(credits[0]?.credit.from ?? 0))
  for (const { place, credit } of credits) {
    const first = hourStart(credit.from)
    const end = credit.until === null ? Number.POSITIVE_INFINITY : hourStart(credit.until)
    const sums = windows[place] as Sum[]
    while (i < start.length && (start[i] as number) < first) i++
    for (; i < start.length && (start[i] as number) < end; i++) {
      sums.push({ start: start[i] as number, positive: positive[i] as number, negative: negative[i] as number })
    }
  }
  const sizes = blockSizes(windows.map(totalOf))
  return { blocks: cutBlocks(windows, sizes), windows: windows.length, sizes }
}
