/** A share between 0 and 1 as a whole percentage. */
export function formatPercent(share: number): string {
  return `${Math.round(share * 100)}%`
}

// With fewer, one vote moves the share by more than 5 points, and there is no verdict.
const thin = 20

/** The share of positive votes, such as `85%`; of few votes their numbers, such as `1 of 1`, which do not read as a rate. */
export function formatTally({ positive, negative }: { positive: number; negative: number }): string {
  const total = positive + negative
  if (total === 0) return '–'
  return total < thin ? `${positive} of ${total}` : formatPercent(positive / total)
}

/** Such as `85% → 60%`; without a share before, such as `60%`. */
export function formatShares(before: number | null, after: number): string {
  return before === null ? formatPercent(after) : `${formatPercent(before)} → ${formatPercent(after)}`
}

/** A difference of two shares in percentage points, with its sign. */
export function formatPoints(difference: number): string {
  const rounded = Math.round(difference * 1_000) / 10
  const sign = rounded > 0 ? '+' : rounded < 0 ? '−' : ''
  return `${sign}${Math.abs(rounded)}`
}
