import type { UsageReport } from '@promptledger/client'

export type Level = 'room' | 'near' | 'reached'

const nearShare = 0.8

/** How close to its limit the month is. */
export function levelOf({ used, limit, remaining }: UsageReport): Level {
  if (remaining === 0) return 'reached'
  return used >= limit * nearShare ? 'near' : 'room'
}
