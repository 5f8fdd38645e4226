import type { Tally } from '@promptledger/client'

/** The share of positive signals, in whole per cent. */
export function Share({ tally }: { tally: Tally }) {
  const share = shareOf(tally)
  return <span className="share">{share === null ? '–' : formatShare(share)}</span>
}

/** Null where there are none. */
export function shareOf({ positive, negative }: Tally): number | null {
  return positive + negative === 0 ? null : positive / (positive + negative)
}

export function formatShare(share: number): string {
  return `${Math.round(share * 100)} %`
}
