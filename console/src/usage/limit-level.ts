import type { UsageReport } from '@promptledger/client'

export type LimitLevel = 'ok' | 'near' | 'reached'

const nearShare = 0.8

export function limitLevel({ used, limit, remaining }: UsageReport): LimitLevel {
  if (limit === null) return 'ok'
  if (remaining === 0) return 'reached'
  return used >= limit * nearShare ? 'near' : 'ok'
}
