import type { Access } from '../access/api-key.ts'
import type { OrganisationStore } from '../access/organisation.ts'
import { monthlySignalLimit, type Plan } from '../access/plan.ts'
import { type Instant, monthStart, nextMonthStart } from '../time.ts'

/** The organisation's signal usage this month and in previous months. */
export interface Usage {
  plan: Plan
  limit: number
  used: number
  remaining: number
  resetsAt: Instant
  /** Newest first, starting with the current month. */
  months: { month: Instant; used: number }[]
}

const monthsShown = 12

export async function usageOf(
  organisations: OrganisationStore,
  { organisationId, plan }: Access,
  now: Instant,
): Promise<Usage> {
  const starts = [monthStart(now)]
  while (starts.length < monthsShown) starts.push(monthStart((starts.at(-1) as Instant) - 1))
  const usedIn = await organisations.usage(organisationId, starts.at(-1) as Instant)
  const months = starts.map((month) => ({ month, used: usedIn.get(month) ?? 0 }))
  const used = usedIn.get(monthStart(now)) ?? 0
  const limit = monthlySignalLimit[plan]
  // `used` can exceed the limit after a downgrade.
  return { plan, limit, used, remaining: Math.max(limit - used, 0), resetsAt: nextMonthStart(now), months }
}
