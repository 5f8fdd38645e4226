import type { Tally } from '../../signals/tally.ts'

/**
 * How many independent votes the signals are worth if each voter counts once, however often they voted. `squares` is the sum over voters of
 * the squared number of their votes: 100 voters with 5 votes each have 100 × 25, and 500 votes are worth 500² / 2,500 = 100
 * votes. This is Kish's effective sample size for votes of one voter that always agree.
 */
export function effectiveSampleSize({ positive, negative }: Tally, squares: number): number {
  const votes = positive + negative
  // Never more than there are votes, and never less than one.
  return votes === 0 ? 0 : Math.min(votes, Math.max(1, (votes * votes) / squares))
}

/**
 * What the vote of a voter adds to `squares`, who has voted `earlier` times in the same window. The sum of what n votes add is n²,
 * so that each hour can keep the sum of its own votes, and the hours of a window add up.
 */
export function squaresAdded(earlier: number): number {
  return 2 * earlier + 1
}
