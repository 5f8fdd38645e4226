// Generated from docs/openapi.json by `npm run client-types`. Do not edit.
import type { Time } from '../time.ts'

export type Action = 'deployed' | 'pr_opened' | 'pr_merged' | 'pr_closed'

export type AuditAction =
  | 'key.created'
  | 'key.rotated'
  | 'key.revoked'
  | 'prompt.created'
  | 'prompt.renamed'
  | 'prompt.deleted'
  | 'repository.connected'
  | 'repository.disconnected'
  | 'repository.secret_rotated'
  | 'signal.retracted'
  | 'signals.erased'
  | 'organisation.plan_changed'

export interface AuditEntry {
  id: number
  at: string
  /** The key that was used, under the name that it had then; null for the command on the server. */
  actor: {
    key_id: number
    name: string
  } | null
  /** What was done. */
  action: AuditAction
  /** What it was done to, and what people called that then. */
  subject: {
    /** As it stands in paths. */
    id: string
    name: string
  }
  /** What else is worth knowing, depending on the action. */
  details: Record<string, unknown> | null
}

export interface AuditQuery {
  /** Only these. */
  action?: AuditAction | undefined
  /** From this time on. */
  since?: Time | undefined
  /** Before this time. */
  until?: Time | undefined
  /** Page number. Defaults to `1`. */
  page?: number | undefined
  /** Results per page. Defaults to `25`. */
  limit?: number | undefined
}

export interface ChangeImpact {
  entry: HistoryEntry
  live_from: string
  /** Null for what is live now. */
  live_until: string | null
  /** Signals while the change before was live. */
  before: RatedTally
  /** Signals while this change was live. */
  after: RatedTally
  /** The rate after less the rate before. */
  difference: number | null
  /** Where the true difference lies, with 95 % confidence. */
  interval: [number, number] | null
  verdict: Verdict
}

export interface ConnectedRepository {
  id: number
  forge: Forge
  url: string
  path: string
  /** Null as long as there is no commit. */
  default_branch: string | null
  state: RepositoryState
  /** The repository was given to us without its oldest commits. */
  incomplete: boolean
  /** Where the forge is to send its deliveries. */
  webhook_url: string
  last_delivery_at: string | null
  last_sync_at: string | null
  /** Why the last sync failed. */
  last_error: string | null
  created_at: string
  /** Shown this once. */
  webhook_secret: string
  /** What to do on the forge's pages. */
  set_up: string[]
  /** Those found so far. */
  prompts: {
    id: string
    path: string | null
  }[]
  /** Entries derived so far. */
  entries: number
}

export interface Delivery {
  id: number
  event: string
  state: DeliveryState
  attempts: number
  /** Why it failed, or is tried again. */
  error: string | null
  received_at: string
  next_attempt_at: string | null
  finished_at: string | null
}

export type DeliveryState = 'pending' | 'done' | 'ignored' | 'failed'

export interface Effect {
  live_from: string
  /** Null for what is live now. */
  live_until: string | null
  /** Signals while the change before was live. */
  before: RatedTally
  /** Signals while this change was live. */
  after: RatedTally
  /** The rate after less the rate before. */
  difference: number | null
  /** Where the true difference lies, with 95 % confidence. */
  interval: [number, number] | null
  verdict: Verdict
}

export interface Erased {
  /** How many signals. */
  erased: number
}

export interface Erasure {
  /** What the metadata of signals must have: one member or several. */
  metadata: Record<string, unknown>
}

export type ExportFormat = 'ndjson' | 'csv'

export interface ExportQuery {
  /** One JSON object a line, or CSV. Defaults to `ndjson`. */
  format?: ExportFormat | undefined
  /** Only these. */
  value?: SignalValue | undefined
  /** From this time on. */
  since?: Time | undefined
  /** Before this time. */
  until?: Time | undefined
}

export type Forge = 'github' | 'gitlab' | 'gitea' | 'forgejo' | 'bitbucket'

export interface HistoryEntry {
  /** Identifier of the history entry. */
  id: number
  action: Action
  /** Who made the change. */
  user: {
    name: string
    email: string
  }
  /** Commit hash of the change. */
  commit_sha: string
  /** Null when no pull request is involved. */
  pr_number: number | null
  /** Null when no pull request is involved. */
  pr_url: string | null
  /** Name of the branch the change went to. */
  branch_name: string
  /** ISO 8601 UTC timestamp. */
  created_at: string
}

export interface HistoryEntryDetails {
  /** Identifier of the history entry. */
  id: number
  action: Action
  /** Who made the change. */
  user: {
    name: string
    email: string
  }
  /** Commit hash of the change. */
  commit_sha: string
  /** Null when no pull request is involved. */
  pr_number: number | null
  /** Null when no pull request is involved. */
  pr_url: string | null
  /** Name of the branch the change went to. */
  branch_name: string
  /** ISO 8601 UTC timestamp. */
  created_at: string
  /** The commit's message, or the title of the pull request. */
  message: string | null
  /** Who pushed, opened, merged or closed it, by the name that the forge knows. */
  actor: string | null
  /** Where the prompt's file was. */
  path: string | null
  /** The prompt's text before; null where there was none or git no longer has it. */
  before: string | null
  /** The prompt's text after; null where it is gone or git no longer has it. */
  after: string | null
  /** The unified diff between the two. */
  patch: string | null
}

export type Interval = 'hour' | 'day' | 'week'

export interface IntervalTally {
  start: string
  positive: number
  negative: number
}

export interface IssuedKey {
  id: number
  organisation_id: number
  /** To tell it from others. */
  name: string
  /** What it may do. */
  role: Role
  /** When it stops working by itself; null for never. */
  expires_at: string | null
  created_at: string
  /** The key itself. Shown this once. */
  key: string
}

export interface Key {
  id: number
  organisation_id: number
  /** To tell it from others. */
  name: string
  /** What it may do. */
  role: Role
  /** When it stops working by itself; null for never. */
  expires_at: string | null
  created_at: string
  /** The last four characters of the key. */
  hint: string
  /** Since when it is refused. */
  revoked_at: string | null
  /** When it was last used, a few seconds late at most. */
  last_used_at: string | null
}

export interface Live {
  entry: HistoryEntry
  /** Where the prompt's file was. */
  path: string | null
  /** The prompt's text at that time. */
  content: string | null
}

export interface LiveQuery {
  /** When; now, where it is not given. */
  at?: Time | undefined
}

export interface NewHistoryEntry {
  action: Action
  /** Who made the change. */
  user: {
    name: string
    email: string
  }
  /** Commit hash of the change. */
  commit_sha: string
  /** Null when no pull request is involved. */
  pr_number: number | null
  /** Null when no pull request is involved. */
  pr_url: string | null
  /** Name of the branch the change went to. */
  branch_name: string
  /** ISO 8601 UTC timestamp. */
  created_at: string
}

export interface NewKey {
  /** To tell it from others. Defaults to `unnamed`. */
  name?: string
  /** What it may do. Defaults to `standard`. */
  role?: Role
  /** When it stops working by itself; null for never. Defaults to `null`. */
  expires_at?: string | null
}

export interface NewRepository {
  forge: Forge
  /** https://…, ssh://… or git@host:path. */
  url: string
  /** Which files are prompts, such as prompts/**\/*.md. */
  path: string
  /** To read the repository with, where it is not public. */
  token?: string | null
  /** How much of a file must stay, in per cent, for a move with changes to keep its prompt. Defaults to `100`. */
  similarity?: number
}

export interface NewSignal {
  value: SignalValue
  /** Arbitrary JSON object for the caller's own tracking, up to 16 KiB and 64 levels deep. */
  metadata?: Record<string, unknown> | null
}

export interface PageQuery {
  /** Page number. Defaults to `1`. */
  page?: number | undefined
  /** Results per page. Defaults to `25`. */
  limit?: number | undefined
}

export interface Pagination {
  /** The page returned. */
  current_page: number
  /** Number of pages at the current per_page. */
  total_pages: number
  /** Total number of entries. */
  total_count: number
  /** Page size used. */
  per_page: number
}

export type Plan = 'free' | 'team' | 'business'

export interface Prompt {
  /** The public ID (prefix pmt_). */
  id: string
  /** A line of up to 1,000 characters. */
  name: string
  /** Where the prompt's file is; null where it has none. */
  path: string | null
  created_at: string
  /** The newest entry of the history that is deployed or pr_merged. */
  last_change: HistoryEntry | null
  /** What the last change did to what users think; null where there is none. */
  verdict: Verdict | null
  /** Those of the last 30 days, today included, UTC. */
  signals: {
    positive: number
    negative: number
    /** The same by day, the empty ones too. */
    days: IntervalTally[]
  }
}

export interface PromptName {
  /** A line of up to 1,000 characters. */
  name: string
}

export interface PromptQuery {
  /** A part of the name or the path, in any case. */
  q?: string | undefined
  /** Upwards, or downwards with `-`; what has no change or no signals of the last 30 days comes last. Defaults to `name`. */
  sort?: PromptSort | undefined
  /** Page number. Defaults to `1`. */
  page?: number | undefined
  /** Results per page. Defaults to `25`. */
  limit?: number | undefined
}

export type PromptSort =
  | 'name'
  | '-name'
  | 'last_change'
  | '-last_change'
  | 'signals'
  | '-signals'
  | 'positive_share'
  | '-positive_share'

export interface RatedTally {
  positive: number
  negative: number
  /** The share of positive ones. */
  rate: number | null
}

export interface RecordedSignal {
  id: number
  value: SignalValue
  /** ISO 8601 UTC timestamp. */
  created_at: string
}

export interface Repository {
  id: number
  forge: Forge
  url: string
  path: string
  /** Null as long as there is no commit. */
  default_branch: string | null
  state: RepositoryState
  /** The repository was given to us without its oldest commits. */
  incomplete: boolean
  /** Where the forge is to send its deliveries. */
  webhook_url: string
  last_delivery_at: string | null
  last_sync_at: string | null
  /** Why the last sync failed. */
  last_error: string | null
  created_at: string
  /** How many prompts have their file in it. */
  prompt_count: number
  /** How many entries the history of these prompts has. */
  entry_count: number
}

export type RepositoryState = 'connecting' | 'following' | 'failing' | 'disconnected'

export type Role = 'ingest' | 'standard' | 'admin'

export interface RotatedSecret {
  webhook_url: string
  /** Shown this once. */
  webhook_secret: string
  /** Until when the old one counts too. */
  old_secret_until: string
}

export interface Rotation {
  /** How long the old key works on. Defaults to `24`. */
  overlap_hours?: number
}

export interface SessionInfo {
  organisation: {
    id: number
    name: string
    plan: Plan
  }
  key: {
    id: number
    name: string
    role: Role
    /** The last four characters of the key. */
    hint: string
    /** When the key stops working by itself; null for never. */
    expires_at: string | null
  }
  /** When one has to sign in again: after 30 days, or when the key expires. For a key, its own expiry. */
  expires_at: string | null
}

export interface Signal {
  id: number
  value: SignalValue
  /** Arbitrary JSON object for the caller's own tracking, up to 16 KiB and 64 levels deep. */
  metadata: Record<string, unknown> | null
  /** ISO 8601 UTC timestamp. */
  created_at: string
}

export interface SignalQuery {
  /** Only these. */
  value?: SignalValue | undefined
  /** From this time on. */
  since?: Time | undefined
  /** Before this time. */
  until?: Time | undefined
  /** Page number. Defaults to `1`. */
  page?: number | undefined
  /** Results per page. Defaults to `25`. */
  limit?: number | undefined
}

export type SignalValue = 'positive' | 'negative'

export interface Summary {
  /** Every interval that the span touches, whole, in order. */
  data: IntervalTally[]
  interval: Interval
  total: Tally
}

export interface SummaryQuery {
  /** 30 days before `to`, where it is not given. */
  from?: Time | undefined
  /** Now, where it is not given. */
  to?: Time | undefined
  /** UTC; weeks begin on Monday. Defaults to `day`. */
  interval?: Interval | undefined
}

export interface Tally {
  positive: number
  negative: number
}

export interface TimelineEntry {
  entry: HistoryEntry
  /** The commit's message, or the title of the pull request. */
  message: string | null
  /** Who pushed, opened, merged or closed it, by the name that the forge knows. */
  actor: string | null
  /** Where the prompt's file was. */
  path: string | null
  /** The commit's page; null where the repository is not known. */
  commit_url: string | null
  /** What it did to what users think; null for what did not go live. */
  impact: Effect | null
}

export interface TimelineQuery {
  /** Only these: one or several of deployed, pr_opened, pr_merged, pr_closed, with commas between. */
  action?: string | undefined
  /** From this time on. */
  since?: Time | undefined
  /** Before this time. */
  until?: Time | undefined
  /** Page number. Defaults to `1`. */
  page?: number | undefined
  /** Results per page. Defaults to `25`. */
  limit?: number | undefined
}

export interface UsageReport {
  plan: Plan
  /** The plan's monthly signal limit. */
  limit: number
  /** Signals recorded in the current month. */
  used: number
  /** Signals that can still be recorded in it. */
  remaining: number
  /** When the counter resets. */
  resets_at: string
  /** The last twelve, newest first. */
  months: {
    /** Such as 2026-11. */
    month: string
    used: number
  }[]
}

export type Verdict = 'better' | 'worse' | 'no_difference_seen' | 'too_little_data'

export type WireErrorCode =
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'validation_error'
  | 'rate_limited'
  | 'internal_error'
