import type { UsageReport } from '@promptledger/client'

type Plan = UsageReport['plan']

export const planLabels: Record<Plan, string> = { free: 'Free', team: 'Team', business: 'Business' }

/** The command with which an operator changes the plan to a larger one. */
export function planCommand(organisationId: number, plan: Plan): string {
  return `promptledger org set-plan ${organisationId} ${plan === 'free' ? 'team' : 'business'}`
}

export type LimitLevel = 'ok' | 'near' | 'reached'

const nearShare = 0.8

/** Of a meter. */
export const levelTones = { ok: 'accent', near: 'caution', reached: 'bad' } as const

export function limitLevel({ used, limit }: Pick<UsageReport, 'used' | 'limit'>): LimitLevel {
  if (limit === null) return 'ok'
  if (used >= limit) return 'reached'
  return used >= limit * nearShare ? 'near' : 'ok'
}
