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

export interface Organisation {
  id: number
  plan: Plan
  keys: Key[]
  prompts: Prompt[]
  /** Signals recorded in each month, by its name. */
  used: Map<string, number>
  /** The requests with a key that were answered. */
  idempotency: Map<string, { promptId: string; body: string; status: number; response: object; createdAt: number }>
}

/** All have the role admin, and see every prompt. */
export interface Key {
  id: number
  secret: string
  createdAt: number
  expiresAt: number | null
  revokedAt: number | null
}

export interface Prompt {
  id: string
  signals: Signal[]
}

export interface Signal {
  /** 0 until the response is known. */
  id: number
  /** Null for a withdrawn vote, which is neither listed nor counted. */
  value: 'positive' | 'negative' | null
  metadata: Record<string, unknown> | null
  /** When it arrived. */
  createdAt: number
  /** The time that it counts for. */
  occurredAt: number
  /** An integer is a history entry. */
  version: string | number | null
  /** With a subject, it is a vote, and the next one on the subject replaces it. */
  subject: string | null
  voter: string | null
}

export const monthlyLimits: Record<Plan, number> = { free: 1_000, team: 10_000, business: 100_000 }

export function isActive(key: Key, now: number): boolean {
  return key.revokedAt === null && (key.expiresAt === null || now < key.expiresAt)
}

export function usedIn({ used }: Organisation, at: number): number {
  return used.get(monthOf(at)) ?? 0
}

/** Signals left this month, also after the plan was lowered. */
export function remaining(organisation: Organisation, now: number): number {
  return Math.max(0, monthlyLimits[organisation.plan] - usedIn(organisation, now))
}

export function isRetained({ retainedSince }: Model, { occurredAt }: Signal): boolean {
  return occurredAt >= retainedSince
}

/** Deletes old signals and their idempotency keys: whole hours on SQLite, whole months on PostgreSQL. */
export function removeBefore(model: Model, cutoff: number): void {
  const start = model.engine === 'sqlite' ? floor(cutoff, hour) : monthStart(cutoff)
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

/** Such as 2027-08. */
export function monthOf(at: number): string {
  return iso(at).slice(0, 7)
}

export function monthStart(at: number): number {
  return Date.parse(`${monthOf(at)}-01T00:00:00.000Z`)
}

export function nextMonth(at: number): number {
  const date = new Date(at)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1)
}
