import type { IntervalTally } from '../../signals/signal.ts'
import { type Tally, totalOf } from '../../signals/tally.ts'
import type { Instant } from '../../time.ts'
import { effectiveSampleSize } from './effective-sample-size.ts'
import type { Season } from './season.ts'

/** The tally of an hour, or of any other short span that starts at `start`. */
export interface Sum extends IntervalTally {
  /** The sum of the squared numbers of votes per voter. Without it, each signal counts as a voter of its own. */
  squares?: number
}

/**
 * Blocks of votes in the order of time. `y` is the rate of a block on a scale where its sampling variance does not depend on the
 * rate, so that one model fits every rate.
 */
export interface Blocks {
  count: number
  y: Float64Array
  variance: Float64Array
  /** The window that each block belongs to. A block never spans two windows. */
  window: Int32Array
  start: Float64Array
}

// Below 20 votes, or with hardly any vote of one value, the normal approximation of a block is poor: at a rate of 95%, blocks of
// 20 vary by a quarter less than they should, which hides both drift and effects.
export const minVotes = 20
const minVotesOfRarerValue = 2
const maxMinVotes = 160
const minVotesOfLast = 10

// Bounds the time of one verdict. With more votes, blocks get larger, but each window keeps a few of its own.
const maxBlocks = 512
const minBlocksPerWindow = 2
const maxBlocksPerSmallWindow = 8

/**
 * Cuts the sums of each window into blocks of at least 20 votes. A window lasts from one change to the next, or holds the votes
 * of one version. Windows may overlap in time: votes of an earlier version arrive late, or two versions are live at once. What the
 * season makes of each block is taken out.
 */
export function cutBlocks(
  windows: readonly (readonly Sum[])[],
  sizes: readonly number[] = blockSizes(windows),
  season: Season | null = null,
): Blocks {
  return inOrder(windows.map((sums, i) => cutWindow(sums, sizes[i] as number, i === windows.length - 1, season)))
}

/** How many votes a block of each window has at least. */
export function blockSizes(windows: readonly (readonly Sum[])[]): number[] {
  const totals = windows.map(totalOf)
  return totals.map(blockSize(totals))
}

/**
 * How many votes a block of a window with this total has at least. `totals` may leave out windows without votes, except for the last
 * window; `count` is the number of all.
 */
export function blockSize(totals: readonly Tally[], count = totals.length): (total: Tally) => number {
  const all = totalOf(totals)
  const smallest = smallestFor(totalOf(totals.slice(0, -1)))
  const common = sizeFor(all.positive + all.negative, maxBlocks, smallest)
  const own = Math.max(minBlocksPerWindow, Math.min(maxBlocksPerSmallWindow, Math.floor(maxBlocks / count)))
  return ({ positive, negative }) => Math.min(common, sizeFor(positive + negative, own, smallest))
}

// By the windows that no longer grow, so that more votes do not change the size.
function smallestFor({ positive, negative }: Tally): number {
  const votes = positive + negative
  let size = minVotes
  while (size < maxMinVotes && size * Math.min(positive, negative) < minVotesOfRarerValue * votes) size *= 2
  return size
}

// Sizes double, so that a window that grows is rarely cut again in another way.
function sizeFor(votes: number, blocks: number, smallest: number): number {
  let size = smallest
  while (size * blocks < votes) size *= 2
  return size
}

interface Block {
  start: Instant
  positive: number
  negative: number
  squares: number
  /** The sum of the season over its votes. */
  season: number
}

// The last window still grows: its incomplete block counts once it has a few votes, and complete blocks never change. In the other
// windows the rest joins the block before it.
function cutWindow(sums: readonly Sum[], size: number, grows: boolean, season: Season | null): Block[] {
  const blocks: Block[] = []
  let open: Block | null = null
  for (const { start, positive, negative, squares = positive + negative } of sums) {
    if (positive + negative === 0) continue
    open ??= { start, positive: 0, negative: 0, squares: 0, season: 0 }
    open.positive += positive
    open.negative += negative
    open.squares += squares
    if (season !== null) open.season += (positive + negative) * season(start)
    if (sizeOf(open) < size) continue
    blocks.push(open)
    open = null
  }
  const last = blocks.at(-1)
  if (open === null) return blocks
  if (last === undefined) {
    if (sizeOf(open) >= minVotes) blocks.push(open)
  } else if (grows) {
    if (sizeOf(open) >= minVotesOfLast) blocks.push(open)
  } else {
    last.positive += open.positive
    last.negative += open.negative
    last.squares += open.squares
    last.season += open.season
  }
  return blocks
}

function sizeOf({ positive, negative, squares }: Block): number {
  return effectiveSampleSize({ positive, negative }, squares)
}

function inOrder(windows: Block[][]): Blocks {
  const count = windows.reduce((sum, blocks) => sum + blocks.length, 0)
  const y = new Float64Array(count)
  const variance = new Float64Array(count)
  const window = new Int32Array(count)
  const start = new Float64Array(count)
  const ordered = windows.flatMap((blocks, i) => blocks.map((block) => ({ block, i })))
  ordered.sort((a, b) => a.block.start - b.block.start || a.i - b.i)
  for (const [t, { block, i }] of ordered.entries()) {
    const n = sizeOf(block)
    const votes = block.positive + block.negative
    const positive = (block.positive / votes) * n
    // The variance-stabilising transformation of Anscombe, with his corrections for small counts.
    y[t] = 2 * Math.asin(Math.sqrt((positive + 3 / 8) / (n + 3 / 4))) - block.season / votes
    variance[t] = 1 / (n + 1 / 2)
    window[t] = i
    start[t] = block.start
  }
  return { count, y, variance, window, start }
}

/** The rate that `y` stands for. */
export function rateAt(y: number): number {
  return Math.sin(Math.min(Math.PI, Math.max(0, y)) / 2) ** 2
}
