import type { Access } from '../access/api-key.ts'
import type { OrganisationStore } from '../access/organisation.ts'
import type { Plan, PlanLimits } from '../access/plan.ts'
import { type Instant, monthStart, nextMonthStart } from '../time.ts'

/** The organisation's signal usage this month and in previous months. */
export interface Usage {
  plan: Plan
  /** Null if there is none, and so is `remaining`. */
  limit: number | null
  used: number
  remaining: number | null
  resetsAt: Instant
  /** Newest first, starting with the current month. */
  months: { month: Instant; used: number }[]
}

const monthsShown = 12

export async function usageOf(
  organisations: OrganisationStore,
  { organisationId, plan }: Pick<Access, 'organisationId' | 'plan'>,
  planLimits: PlanLimits,
  now: Instant,
): Promise<Usage> {
  const starts = [monthStart(now)]
  while (starts.length < monthsShown) starts.push(monthStart((starts.at(-1) as Instant) - 1))
  const usedIn = await organisations.usage(organisationId, starts.at(-1) as Instant)
  const months = starts.map((month) => ({ month, used: usedIn.get(month) ?? 0 }))
  const used = usedIn.get(monthStart(now)) ?? 0
  const limit = planLimits[plan]
  // `used` can exceed the limit after a downgrade.
  const remaining = limit === null ? null : Math.max(limit - used, 0)
  return { plan, limit, used, remaining, resetsAt: nextMonthStart(now), months }
}
