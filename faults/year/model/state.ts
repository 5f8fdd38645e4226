import type { EngineName } from '../../fault.ts'
import { monthOf } from './time.ts'

/** What the service ought to be, as docs/interface.md tells it: lists and sums, nothing kept in two places, nothing fast. */
export interface Model {
  engine: EngineName
  organisations: Organisation[]
  /** By their tokens. */
  sessions: Map<string, Session>
  signalIds: Set<number>
  /** Signals from before are removed and only counted. */
  keptSince: number
}

export interface Organisation {
  id: number
  name: string
  plan: Plan
  keys: Key[]
  prompts: Prompt[]
  /** How many signals were recorded in each month, by its name. */
  used: Map<string, number>
  idempotency: Map<string, { promptId: string; body: string; answer: object; createdAt: number }>
  /** Oldest first. */
  audit: AuditEntry[]
}

export type Plan = 'free' | 'team' | 'business'
export type Role = 'ingest' | 'standard' | 'admin'

export interface Key {
  id: number
  secret: string
  name: string
  role: Role
  createdAt: number
  expiresAt: number | null
  revokedAt: number | null
  lastUsedAt: number | null
  /** Used then, which is not stored yet. */
  notedAt: number | null
}

export interface Prompt {
  id: string
  name: string
  createdAt: number
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

interface AuditEntry {
  at: number
  actor: { key_id: number; name: string } | null
  action: string
  subject: { id: string; name: string }
  details: object | null
}

interface Session {
  organisation: Organisation
  key: Key
  expiresAt: number
}

export interface Caller {
  organisation: Organisation
  key: Key
  session: Session | null
}

export const limits: Record<Plan, number> = { free: 1_000, team: 10_000, business: 100_000 }

export function newModel(engine: EngineName): Model {
  return { engine, organisations: [], sessions: new Map(), signalIds: new Set(), keptSince: 0 }
}

export function works(key: Key, now: number): boolean {
  return key.revokedAt === null && (key.expiresAt === null || now < key.expiresAt)
}

export function usedIn({ used }: Organisation, at: number): number {
  return used.get(monthOf(at)) ?? 0
}

export function roomOf(organisation: Organisation, now: number): number {
  return limits[organisation.plan] - usedIn(organisation, now)
}

export function audit(
  organisation: Organisation,
  by: Key | null,
  at: number,
  action: string,
  id: string | number,
  name: string,
  details: object | null = null,
): void {
  const actor = by && { key_id: by.id, name: by.name }
  organisation.audit.push({ at, actor, action, subject: { id: String(id), name }, details })
}
