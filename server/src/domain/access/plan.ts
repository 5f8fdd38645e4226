export const plans = ['free', 'team', 'business'] as const

export type Plan = (typeof plans)[number]

/** Signals an organisation may record in a calendar month, UTC. */
export const monthlySignalLimit: Record<Plan, number> = {
  free: 1_000,
  team: 10_000,
  business: 100_000,
}
