import type { Tally } from '../signals/tally.ts'
import type { Vote, VoteStore } from '../signals/votes.ts'
import { hour, hourStart, type Instant } from '../time.ts'
import { blockSizes, type Sum } from './blocks.ts'
import type { Life } from './live-window.ts'
import type { VoteHistory } from './vote-history.ts'
import type { WindowSums } from './window-sums.ts'
import { maxShortWindowVotes, sumsOfVotes, type VoteOrder, votesOf } from './window-votes.ts'

// With fewer hours than this, sums by hour hide how the votes of a window wander.
const minHours = 10
// An hour may have this many times as many votes as a block needs.
const maxVotesPerHour = 1.5
// Bounds the time of one request.
const maxVotes = 20_000

/** A side of a comparison: the votes before a change, or those after it. */
export interface Side {
  /** Of the window. */
  place: number
  isAfter: boolean
}

/**
 * Replaces the hourly sums of windows that lasted only a few hours by their single votes: the last ones before a change, and the
 * first ones after it. The other votes stay in their hours. Null for sides that are not short.
 */
export async function singleVotesOf(
  store: VoteStore,
  history: VoteHistory,
  windows: readonly WindowSums[],
  sides: readonly Side[],
): Promise<(Sum[] | null)[]> {
  const sizes = blockSizes(windows.map(({ tally }) => tally))
  const found: (Sum[] | null)[] = []
  let left = maxVotes
  for (const { place, isAfter } of sides) {
    const window = windows[place] as WindowSums
    const max = Math.min(left, maxShortWindowVotes)
    const votes =
      max > 0 && isShort(window, sizes[place] as number)
        ? await readSide(store, history, place, isAfter ? 'oldest' : 'newest', max)
        : []
    left -= votes.length
    found.push(votes.length === 0 ? null : splitHours(window.sums, votes, isAfter))
  }
  return found
}

function isShort({ sums, tally }: WindowSums, blockSize: number): boolean {
  const hours = new Set(sums.map(({ start }) => hourStart(start))).size
  return hours > 0 && hours < minHours && countOf(tally) > maxVotesPerHour * blockSize * hours
}

function readSide(
  store: VoteStore,
  { prompt, moment, lives, series, versionsOf }: VoteHistory,
  place: number,
  order: VoteOrder,
  max: number,
): Promise<Vote[]> {
  const life = lives[place] as Life
  const end = moment.isPast ? moment.at + 1 : Number.MAX_SAFE_INTEGER
  const window = {
    versions: versionsOf(life),
    spans: life.credits.map(({ from, until }) => ({ from, until: Math.max(until ?? end, from) })),
    unversionedOnly: series.versions.length > 0,
    until: end,
  }
  return votesOf(store, prompt, window, order, max)
}

/** Takes the votes, oldest first, out of their hours. What is left of an hour follows the first votes, or precedes the last. */
function splitHours(sums: readonly Sum[], votes: readonly Vote[], areFirst: boolean): Sum[] {
  const taken = new Map<Instant, { positive: number; negative: number }>()
  for (const { at, value } of votes) {
    const start = hourStart(at)
    const tally = taken.get(start) ?? { positive: 0, negative: 0 }
    tally[value]++
    taken.set(start, tally)
  }
  const rest = sums.map((sum) => {
    const tally = taken.get(hourStart(sum.start))
    if (tally === undefined) return sum
    const [positive, negative] = [take(sum, tally, 'positive'), take(sum, tally, 'negative')]
    return { start: areFirst ? hourStart(sum.start) + hour - 1 : sum.start, positive, negative }
  })
  return [...rest.filter((sum) => countOf(sum) > 0), ...sumsOfVotes(votes)].sort((a, b) => a.start - b.start)
}

/** An hour can have several sums, one for each version. */
function take(sum: Sum, taken: { positive: number; negative: number }, value: 'positive' | 'negative'): number {
  const count = Math.min(sum[value], taken[value])
  taken[value] -= count
  return sum[value] - count
}

function countOf({ positive, negative }: Tally): number {
  return positive + negative
}
