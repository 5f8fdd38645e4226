export const plans = ['free', 'team', 'business'] as const

export type Plan = (typeof plans)[number]

/** How many signals an organisation on each plan may record per calendar month, UTC. Null for any number. */
export type PlanLimits = Readonly<Record<Plan, number | null>>
