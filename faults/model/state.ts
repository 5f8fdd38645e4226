import type { Entry } from '../../testing/scenario.ts'
import type { EngineName } from '../fault.ts'

/** The service as docs/api.md describes it: lists and sums, without an index, a cache or a second copy of anything. */
export interface Model {
  engine: EngineName
  organisations: Organisation[]
  signalIds: Set<number>
  /** How many idempotency keys and subjects were drawn that must not be drawn again. */
  batchKeys: number
  /** Signals from before are deleted, and only counted. */
  retainedSince: number
  sessions: Session[]
  repeated: Map<string, RepeatedEvent>
}

export type Plan = 'free' | 'team' | 'business'
export type Role = 'ingest' | 'recorder' | 'reader' | 'standard' | 'admin'

export interface Organisation {
  id: number
  name: string
  plan: Plan
  keys: Key[]
  prompts: Prompt[]
  /** Signals recorded in each month, by its name. */
  used: Map<string, number>
  idempotency: Map<string, RememberedRequest>
  audit: AuditEntry[]
}

export interface RememberedRequest {
  promptId: string
  body: string
  status: number
  response: object
  createdAt: number
}

export interface Key {
  id: number
  secret: string
  name: string
  role: Role
  /** A glob, or null for every prompt. */
  prompts: string | null
  createdAt: number
  expiresAt: number | null
  revokedAt: number | null
}

/** A key in a browser. */
export interface Session {
  /** As the browser sends it: name=token. */
  cookie: string
  organisation: Organisation
  key: Key
  expiresAt: number
  ended: boolean
}

export interface Prompt {
  id: string
  name: string
  createdAt: number
  deleted: boolean
  signals: Signal[]
  /** By subject. */
  votes: Map<string, Vote>
  deployments: Deployment[]
  entries: Entry[]
  /** The key that recorded an entry, by the entry's id; null for the operator. */
  recordedBy: Map<number, number | null>
}

export interface Signal {
  id: number
  value: 'positive' | 'negative'
  metadata: Record<string, unknown> | null
  /** When it arrived. */
  createdAt: number
  /** The time that it counts for. */
  occurredAt: number
  /** An integer is a history entry. */
  version: string | number | null
  subject: string | null
  voter: string | null
  comment: string | null
}

/** The vote on a subject. Without a signal, it was withdrawn. */
export interface Vote {
  id: number
  signal: Signal | null
  createdAt: number
  occurredAt: number
  version: string | number | null
}

/** As on the wire. */
export interface Deployment {
  id: number
  environment: string
  production: boolean
  commit_sha: string
  state: string
  share: number
  at: string
  received_at: string
}

/** As on the wire, without the id. */
export interface AuditEntry {
  at: string
  actor: { key_id: number; name: string } | null
  action: string
  subject: { id: string; name: string }
  details: Details
  seq: number
  hash: string
}

type Details = Record<string, string | number> | null

export interface NewAuditEntry {
  organisation: Organisation
  /** Null for the operator. */
  key: Key | null
  action: string
  subject: { id: string | number; name: string }
  details?: Details
}

/** An event whose repetitions have one entry with their number. */
export interface RepeatedEvent {
  entry: NewAuditEntry
  periodMs: number
  /** When the first one without an entry happened. */
  since: number
  unwritten: number
  endsAt: number
}

export const monthlyLimits: Record<Plan, number> = { free: 1_000, team: 10_000, business: 100_000 }

export function createModel(engine: EngineName): Model {
  const nothing = { organisations: [], sessions: [], signalIds: new Set<number>(), repeated: new Map() }
  return { engine, ...nothing, batchKeys: 0, retainedSince: 0 }
}

export function isActive(key: Key, now: number): boolean {
  return key.revokedAt === null && (key.expiresAt === null || now < key.expiresAt)
}

/** What a key sees: the prompts that its glob matches. */
export function visiblePrompts(organisation: Organisation, { prompts: glob }: Key): Prompt[] {
  return existingPrompts(organisation).filter(({ name }) => glob === null || globPattern(glob).test(name))
}

const wildcards: Record<string, string> = { '**/': '(?:.*/)?', '**': '.*', '*': '[^/]*', '?': '[^/]' }

function globPattern(glob: string): RegExp {
  const parts = glob.match(/\*\*\/?|./g) ?? []
  return new RegExp(`^${parts.map((part) => wildcards[part] ?? RegExp.escape(part)).join('')}$`)
}

export function createPrompt(id: string, name: string, createdAt: number): Prompt {
  const nothing = { signals: [], votes: new Map(), deployments: [], entries: [], recordedBy: new Map() }
  return { id, name, createdAt, deleted: false, ...nothing }
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
