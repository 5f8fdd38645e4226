import { hourStart } from '../time.ts'
import { type Blocks, blockSizes, cutBlocks, type Sum, totalOf } from './blocks.ts'
import { type Credit, liveFrom } from './live-window.ts'
import { type Season, seasonOf } from './season.ts'
import type { VoteHistory } from './vote-history.ts'

/** All votes of a prompt in a row: how they wandered, with a step of its own for each change. */
export interface Chain {
  blocks: Blocks
  /** The votes from before the first change, and one window for each of the history's lives. */
  windows: number
  /** How many votes a block of each window has at least. */
  sizes: number[]
  /** How the votes follow the days of the week, which the blocks are without. */
  season: Season | null
}

/** `votesPerVoice`: how many votes are worth one voice, if voters vote more than once. */
export function chainOf(history: VoteHistory, votesPerVoice = 1): Chain {
  const windows = chainWindows(history)
  if (votesPerVoice > 1) {
    for (const sum of windows.flat()) sum.squares = (sum.positive + sum.negative) * votesPerVoice
  }
  const sizes = blockSizes(windows.map(totalOf))
  const season = seasonOf(history.hours)
  return { blocks: cutBlocks(windows, sizes, season), windows: windows.length, sizes, season }
}

/**
 * The hours before the first change, and those in which each change was live. Credits whole hours to the change, whatever version
 * their votes name. That is all it takes to see how votes wander; the votes that are compared are read exactly.
 */
export function chainWindows({ lives, hours }: VoteHistory): Sum[][] {
  const windows = [[], ...lives].map((): Sum[] => [])
  const credits: { window: number; credit: Omit<Credit, 'shared' | 'source'> }[] = []
  for (const [place, life] of lives.entries()) {
    for (const credit of life.credits) credits.push({ window: place + 1, credit })
  }
  credits.sort((a, b) => a.credit.from - b.credit.from)
  const first = lives.reduce((earliest, life) => Math.min(earliest, liveFrom(life)), Number.POSITIVE_INFINITY)
  const { start, positive, negative } = hours
  let i = 0
  for (const { window, credit } of [{ window: 0, credit: { from: 0, until: first } }, ...credits]) {
    const from = hourStart(credit.from)
    const end =
      credit.until === null || credit.until === Number.POSITIVE_INFINITY
        ? Number.POSITIVE_INFINITY
        : hourStart(credit.until)
    const sums = windows[window] as Sum[]
    while (i < start.length && (start[i] as number) < from) i++
    for (; i < start.length && (start[i] as number) < end; i++) {
      sums.push({ start: start[i] as number, positive: positive[i] as number, negative: negative[i] as number })
    }
  }
  return windows
}
