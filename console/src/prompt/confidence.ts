import type { Tally } from '@promptledger/client'

const z = 1.959964

/** The 95% confidence range of the share of positive signals (Wilson score interval); null without signals. */
export function confidenceRange({ positive, negative }: Tally): { low: number; high: number } | null {
  const n = positive + negative
  if (n === 0) return null
  const share = positive / n
  const centre = (share + z ** 2 / (2 * n)) / (1 + z ** 2 / n)
  const margin = (z / (1 + z ** 2 / n)) * Math.sqrt((share * (1 - share)) / n + z ** 2 / (4 * n ** 2))
  return { low: Math.max(0, centre - margin), high: Math.min(1, centre + margin) }
}
