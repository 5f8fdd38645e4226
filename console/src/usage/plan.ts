import type { UsageReport } from '@promptledger/client'

type Plan = UsageReport['plan']

export const planLabels: Record<Plan, string> = { free: 'Free', team: 'Team', business: 'Business' }

/** The command with which an operator changes the plan to a larger one. */
export function planCommand(organisationId: number, plan: Plan): string {
  return `promptledger org set-plan ${organisationId} ${plan === 'free' ? 'team' : 'business'}`
}
