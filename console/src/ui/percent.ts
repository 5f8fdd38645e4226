/** A share between 0 and 1 as a whole percentage. */
export function formatPercent(share: number): string {
  return `${Math.round(share * 100)}%`
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
