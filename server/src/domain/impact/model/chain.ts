import { emptyTally, totalOf } from '../../signals/tally.ts'
import { hourStart, type Instant } from '../../time.ts'
import { derivedFrom } from '../cache.ts'
import { type LivePeriod, liveFrom } from '../live/live-window.ts'
import type { VoteHistory } from '../reading/vote-history.ts'
import { type Blocks, blockSize, cutBlocks, type Sum } from './blocks.ts'
import { type Season, seasonOf } from './season.ts'

/** All votes of a prompt in a row: how they drifted, with a step of its own for each change. */
export interface Chain {
  blocks: Blocks
  /** The windows with votes, and the last one, in order. The others have no blocks. `blocks` counts among these. */
  windows: number[]
  /** How many votes a block of each of them has at least. */
  sizes: number[]
  /** The same for a window without votes. */
  sizeOfEmpty: number
  /** How the votes follow the days of the week, which the blocks are without. */
  season: Season | null
}

/** `designEffect`: how many votes are worth an independent one, if voters vote more than once. */
export function chainOf(history: VoteHistory, designEffect = 1): Chain {
  const last = history.periods.length
  const voted = votedWindows(history)
  if (voted.at(-1)?.window !== last) voted.push({ window: last, sums: [] })
  if (designEffect > 1) {
    for (const { sums } of voted) {
      for (const sum of sums) sum.squares = (sum.positive + sum.negative) * designEffect
    }
  }
  const windows = voted.map(({ sums }) => sums)
  const totals = windows.map(totalOf)
  const sizeOf = blockSize(totals, last + 1)
  const sizes = totals.map(sizeOf)
  const season = seasonOf(history.hours)
  return {
    blocks: cutBlocks(windows, sizes, season),
    windows: voted.map(({ window }) => window),
    sizes,
    sizeOfEmpty: sizeOf(emptyTally),
    season,
  }
}

/** The votes from before the first change, and one window for each of the history's periods. */
export function chainWindows(history: VoteHistory): Sum[][] {
  const windows = new Array<Sum[]>(history.periods.length + 1).fill([])
  for (const { window, sums } of votedWindows(history)) windows[window] = sums
  return windows
}

/**
 * The hours before the first change, window 0, and those in which each change was live, as far as they have votes. Credits whole
 * hours to the change, whatever version their votes name. That is all it takes to see how votes drift; the votes that are compared
 * are read exactly.
 */
function votedWindows({ periods, hours }: VoteHistory): { window: number; sums: Sum[] }[] {
  const windows = new Map<number, Sum[]>()
  const { start, positive, negative } = hours
  let i = 0
  for (const { window, from, until } of derivedFrom(periods, turnsOf)) {
    while (i < start.length && (start[i] as number) < from) i++
    if (i === start.length) break
    if ((start[i] as number) >= until) continue
    const sums = windows.get(window) ?? []
    windows.set(window, sums)
    for (; i < start.length && (start[i] as number) < until; i++) {
      sums.push({ start: start[i] as number, positive: positive[i] as number, negative: negative[i] as number })
    }
  }
  return [...windows].map(([window, sums]) => ({ window, sums })).sort((a, b) => a.window - b.window)
}

/** The whole hours that are credited to a window. */
interface Turn {
  window: number
  from: Instant
  until: Instant
}

/** In the order of time. Credits within one hour, which no whole hour belongs to, are left out. */
function turnsOf(periods: readonly LivePeriod[]): Turn[] {
  let first = Number.POSITIVE_INFINITY
  const credits: Turn[] = []
  for (const [place, period] of periods.entries()) {
    first = Math.min(first, liveFrom(period))
    for (const { from, until } of period.credits) {
      if (until !== null && hourStart(until) <= hourStart(from)) continue
      credits.push({ window: place + 1, from, until: until === null ? Number.POSITIVE_INFINITY : hourStart(until) })
    }
  }
  credits.sort((a, b) => a.from - b.from)
  for (const credit of credits) credit.from = hourStart(credit.from)
  const beforeFirst = { window: 0, from: 0, until: periods.length === 0 ? first : hourStart(first) }
  return [beforeFirst, ...credits]
}
