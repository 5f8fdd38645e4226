import type { EngineName } from '../fault.ts'

/** The service as docs/api.md describes it: lists and sums, without an index, a cache or a second copy of anything. */
export interface Model {
  engine: EngineName
  organisations: Organisation[]
  signalIds: Set<number>
  /** Signals from before are deleted, and only counted. */
  retainedSince: number
}

export type Plan = 'free' | 'team' | 'business'
export type Role = 'ingest' | 'standard' | 'admin'

export interface Organisation {
  id: number
  plan: Plan
  keys: Key[]
  prompts: Prompt[]
  /** Signals recorded in each month, by its name. */
  used: Map<string, number>
  idempotency: Map<string, { promptId: string; body: string; response: object; createdAt: number }>
}

export interface Key {
  id: number
  secret: string
  name: string
  role: Role
  createdAt: number
  expiresAt: number | null
  revokedAt: number | null
}

export interface Prompt {
  id: string
  deleted: boolean
  signals: Signal[]
  entries: Entry[]
}

export interface Signal {
  id: number
  value: 'positive' | 'negative'
  metadata: Record<string, unknown> | null
  createdAt: number
}

/** As on the wire. */
export interface Entry {
  id: number
  action: string
  user: { name: string; email: string }
  commit_sha: string
  pr_number: number | null
  pr_url: string | null
  branch_name: string
  created_at: string
}

export const monthlyLimits: Record<Plan, number> = { free: 1_000, team: 10_000, business: 100_000 }

export function createModel(engine: EngineName): Model {
  return { engine, organisations: [], signalIds: new Set(), retainedSince: 0 }
}

export function isActive(key: Key, now: number): boolean {
  return key.revokedAt === null && (key.expiresAt === null || now < key.expiresAt)
}

export function existingPrompts({ prompts }: Organisation): Prompt[] {
  return prompts.filter(({ deleted }) => !deleted)
}

export function usedIn({ used }: Organisation, at: number): number {
  return used.get(monthOf(at)) ?? 0
}

/** Signals left this month; negative after the plan was lowered. */
export function remaining(organisation: Organisation, now: number): number {
  return monthlyLimits[organisation.plan] - usedIn(organisation, now)
}

/** Deletes old signals and their idempotency keys: whole hours on SQLite, whole months on PostgreSQL. */
export function removeBefore(model: Model, cutoff: number): void {
  const start = model.engine === 'sqlite' ? floor(cutoff, hour) : Date.parse(`${monthOf(cutoff)}-01T00:00:00.000Z`)
  model.retainedSince = Math.max(model.retainedSince, start)
  for (const { idempotency } of model.organisations) {
    for (const [key, { createdAt }] of idempotency) if (createdAt < model.retainedSince) idempotency.delete(key)
  }
}

// Calendar arithmetic of the model's own, so that a mistake in the service's is not repeated here.

export const hour = 3_600_000
export const day = 24 * hour

export function floor(at: number, length: number): number {
  return Math.floor(at / length) * length
}

export function iso(at: number): string {
  return new Date(at).toISOString()
}

export function isoOrNull(at: number | null): string | null {
  return at === null ? null : iso(at)
}

/** Such as 2027-08. */
export function monthOf(at: number): string {
  return iso(at).slice(0, 7)
}

export function nextMonth(at: number): number {
  const date = new Date(at)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1)
}
