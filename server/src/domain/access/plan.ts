export const plans = ['free', 'team', 'business'] as const

export type Plan = (typeof plans)[number]

/** How many signals an organisation may record per calendar month, UTC. */
export const monthlySignalLimit: Record<Plan, number> = {
  free: 1_000,
  team: 10_000,
  business: 100_000,
}
