import type { Prompt } from '../../prompt.ts'
import type { VoteWindow } from '../../signals/signal.ts'
import { countOf, totalOf } from '../../signals/tally.ts'
import type { Vote, VoteStore } from '../../signals/votes.ts'
import { hour, hourStart, type Instant } from '../../time.ts'
import type { Sum } from '../model/blocks.ts'
import type { Sums } from './window-sums.ts'
import { maxShortWindowVotes, sumsOfVotes, votesOf } from './window-votes.ts'

// With fewer hours than this, sums by hour hide how the votes of a window drift.
const minHours = 10
// An hour may have this many times as many votes as a block needs.
const maxVotesPerHour = 1.5
// Bounds the time of one request.
const maxVotes = 20_000
// An hour has a sum for each version.
const maxSumsPerHour = 50

/** The votes before a change, or those after it. */
export interface Side {
  prompt: Prompt
  window: VoteWindow
  votes: Sums
  isAfter: boolean
  /** How many votes a block of the window has at least. */
  blockSize: number
}

/**
 * The sums of each side, in the order of time. The hourly sums of windows that lasted only a few hours are replaced by their
 * single votes: the last ones before a change, and the first ones after it. The other votes stay in their hours.
 */
export async function withSingleVotes(store: VoteStore, sides: readonly Side[]): Promise<Sums[]> {
  let left = maxVotes
  return Promise.all(
    sides.map(async ({ prompt, window, votes: hourly, isAfter, blockSize }) => {
      if (!isShort(hourly, blockSize)) return hourly
      const { sums } = hourly
      const max = Math.min(countOf(totalOf(sums)), maxShortWindowVotes)
      if (max > left) return hourly
      left -= max
      const votes = await votesOf(store, prompt, window, isAfter ? 'oldest' : 'newest', maxShortWindowVotes)
      return votes.length === 0 ? hourly : { sums: splitHours(sums, votes, isAfter) }
    }),
  )
}

function isShort(votes: Sums, blockSize: number): boolean {
  if (votes.hourly !== undefined && votes.hourly.size >= minHours) return false
  const { sums } = votes
  let [hours, last] = [0, Number.NaN]
  // In the order of time, so that most windows are known to be long after a few sums.
  for (let i = 0; i < sums.length && i < minHours * maxSumsPerHour && hours < minHours; i++) {
    const start = hourStart((sums[i] as Sum).start)
    if (start === last) continue
    hours++
    last = start
  }
  return hours > 0 && hours < minHours && countOf(totalOf(sums)) > maxVotesPerHour * blockSize * hours
}

/** Takes the votes, oldest first, out of their hours. The rest of an hour follows the first votes, or precedes the last. */
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
    const squares = sum.squares === undefined ? {} : { squares: (sum.squares * (positive + negative)) / countOf(sum) }
    return { start: areFirst ? hourStart(sum.start) + hour - 1 : sum.start, positive, negative, ...squares }
  })
  return [...rest.filter((sum) => countOf(sum) > 0), ...sumsOfVotes(votes)].sort((a, b) => a.start - b.start)
}

/** An hour can have several sums, one for each version. */
function take(sum: Sum, taken: { positive: number; negative: number }, value: 'positive' | 'negative'): number {
  const count = Math.min(sum[value], taken[value])
  taken[value] -= count
  return sum[value] - count
}
