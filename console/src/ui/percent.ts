/** A share between 0 and 1 as a whole percentage. */
export function formatPercent(share: number): string {
  return `${Math.round(share * 100)}%`
}
