// The names are those of the wire, to the letter: one vocabulary for the interface, its documents and this client, and
// nothing in between that could map one wrongly. Times are ISO 8601, UTC.

/** A time to ask for: ISO 8601 with a zone, or a Date. */
export type Time = string | Date

export interface PageQuery {
  /** 1 unless told. */
  page?: number | undefined
  /** Up to 100. One page has 25 unless told; to iterate over everything, pages of 100 are asked for. */
  limit?: number | undefined
}

export interface Pagination {
  current_page: number
  total_pages: number
  total_count: number
  per_page: number
}

export interface Page<Item> {
  data: Item[]
  pagination: Pagination
}

/** `deployed`: straight to the default branch; `pr_closed`: without a merge. */
export type Action = 'deployed' | 'pr_opened' | 'pr_merged' | 'pr_closed'

/** A change of a prompt that another system made. */
export interface NewHistoryEntry {
  action: Action
  /** Who made the change. */
  user: { name: string; email: string }
  commit_sha: string
  /** Null when no pull request is involved. */
  pr_number: number | null
  /** Null when no pull request is involved. */
  pr_url: string | null
  /** The branch that the change went to. */
  branch_name: string
  /** When it happened. */
  created_at: string
}

/** One recorded change of a prompt. */
export interface HistoryEntry extends NewHistoryEntry {
  id: number
}

/** A change with all that is known of it; null for what nobody told, as for entries that were not read from git. */
export interface HistoryEntryDetails extends HistoryEntry {
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

/** What was live at a time. */
export interface Live {
  entry: HistoryEntry
  path: string | null
  /** The prompt's text; null where the file was deleted, or git no longer has it. */
  content: string | null
}

export interface LiveQuery {
  /** Now, unless told. */
  at?: Time | undefined
}

export type Verdict = 'better' | 'worse' | 'no_difference_seen' | 'too_little_data'

export interface Tally {
  positive: number
  negative: number
}

/** Of an hour, a day or a week. */
export interface IntervalTally extends Tally {
  start: string
}

/** The thing that changes. */
export interface Prompt {
  /** Begins with `pmt_`. */
  id: string
  name: string
  /** Where its file is in its repository; null for one without. */
  path: string | null
  created_at: string
  /** The newest entry of its history that is `deployed` or `pr_merged`. */
  last_change: HistoryEntry | null
  /** What the last change did to what users think; null where there is none. */
  verdict: Verdict | null
  /** Those of the last 30 days, today included, UTC; and the same by day, the empty ones too. */
  signals: Tally & { days: IntervalTally[] }
}

type PromptField = 'name' | 'last_change' | 'signals' | 'positive_share'

/** Upwards, or downwards with `-`; what has no change or no signals comes last. */
export type PromptSort = PromptField | `-${PromptField}`

export interface PromptQuery extends PageQuery {
  /** A part of the name or the path, in any case. */
  q?: string | undefined
  /** `name`, unless told. */
  sort?: PromptSort | undefined
}

export interface PromptName {
  /** A line of up to 1,000 characters. */
  name: string
}

export type SignalValue = 'positive' | 'negative'

/** What somebody thought of an output of a prompt. */
export interface NewSignal {
  value: SignalValue
  /** Whatever you want to find again with it: up to 16 KiB of JSON, 64 levels deep. */
  metadata?: Record<string, unknown> | null
}

export interface RecordedSignal {
  id: number
  value: SignalValue
  created_at: string
}

export interface Signal extends RecordedSignal {
  /** As it was sent. */
  metadata: Record<string, unknown> | null
}

export interface SignalFilter {
  /** Only these. */
  value?: SignalValue | undefined
  /** From this time on. */
  since?: Time | undefined
  /** Before this time. */
  until?: Time | undefined
}

export interface SignalQuery extends SignalFilter, PageQuery {}

export type ExportFormat = 'ndjson' | 'csv'

export interface ExportQuery extends SignalFilter {
  /** `ndjson`, unless told. */
  format?: ExportFormat | undefined
}

export type Interval = 'hour' | 'day' | 'week'

export interface SummaryQuery {
  /** 30 days before `to`, unless told. */
  from?: Time | undefined
  /** Now, unless told. */
  to?: Time | undefined
  /** `day`, unless told. UTC; weeks begin on Monday. */
  interval?: Interval | undefined
}

export interface Summary {
  /** Every interval that the span touches, whole, in order, empty ones included. */
  data: IntervalTally[]
  interval: Interval
  total: Tally
}

/** Which signals to erase. */
export interface Erasure {
  /** What their metadata must have: one member or several. */
  metadata: Record<string, unknown>
}

export interface Erased {
  /** How many signals. */
  erased: number
}

export interface RatedTally extends Tally {
  /** The share of positive ones; null where there are none. */
  rate: number | null
}

/** What users thought before and after a change went live. */
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

/** A change that went live, and what users thought of it. */
export interface ChangeImpact extends Effect {
  entry: HistoryEntry
}

/** A change with all that is known of it but the texts. */
export interface TimelineEntry extends Pick<HistoryEntryDetails, 'message' | 'actor' | 'path'> {
  entry: HistoryEntry
  /** The commit's page; null where the repository is not known. */
  commit_url: string | null
  /** Null for what did not go live. */
  impact: Effect | null
}

export interface TimelineQuery extends PageQuery {
  /** Only these. */
  action?: Action[] | undefined
  /** From this time on. */
  since?: Time | undefined
  /** Before this time. */
  until?: Time | undefined
}

export type Plan = 'free' | 'team' | 'business'

export interface UsageReport {
  plan: Plan
  /** Signals that the plan allows in a month. */
  limit: number
  used: number
  remaining: number
  resets_at: string
  /** The last twelve, newest first, such as `2026-11`. */
  months: { month: string; used: number }[]
}

/** `ingest`: create signals; `standard`: also read; `admin`: also manage. */
export type Role = 'ingest' | 'standard' | 'admin'

export interface NewKey {
  /** `unnamed`, unless told. */
  name?: string
  /** `standard`, unless told. */
  role?: Role
  /** Null for never. */
  expires_at?: string | null
}

export interface Key {
  id: number
  organisation_id: number
  name: string
  role: Role
  /** The last four characters of the key. */
  hint: string
  created_at: string
  expires_at: string | null
  revoked_at: string | null
  /** A few seconds late at most. */
  last_used_at: string | null
}

export interface IssuedKey extends Pick<Key, 'id' | 'organisation_id' | 'name' | 'role' | 'created_at' | 'expires_at'> {
  /** The key itself. Shown this once. */
  key: string
}

export interface Rotation {
  /** How long the old key works on, 24 unless told. */
  overlap_hours?: number
}

export type Forge = 'github' | 'gitlab' | 'gitea' | 'forgejo' | 'bitbucket'

export interface NewRepository {
  forge: Forge
  /** https://…, ssh://… or git@host:path */
  url: string
  /** Which files are prompts, such as `prompts/**\/*.md`. */
  path: string
  /** To read the repository with, where it is not public. */
  token?: string | null
  /** How much of a file must stay, in per cent, for a move with changes to keep its prompt; 100 unless told. */
  similarity?: number
}

export type RepositoryState = 'connecting' | 'following' | 'failing' | 'disconnected'

/** A git repository whose prompts are followed. */
export interface Repository {
  id: number
  forge: Forge
  url: string
  path: string
  /** Null as long as there is no commit. */
  default_branch: string | null
  state: RepositoryState
  /** It was given to us without its oldest commits. */
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

export interface ConnectedRepository extends Omit<Repository, 'prompt_count' | 'entry_count'> {
  /** Shown this once. */
  webhook_secret: string
  /** What to do on the forge's pages. */
  set_up: string[]
  /** Those found so far. */
  prompts: { id: string; path: string | null }[]
  /** Derived so far. */
  entries: number
}

export interface RotatedSecret {
  webhook_url: string
  /** Shown this once. */
  webhook_secret: string
  /** Until when the old one counts too. */
  old_secret_until: string
}

export type DeliveryState = 'pending' | 'done' | 'ignored' | 'failed'

/** What a forge sent. */
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

/** Something that was done. */
export interface AuditEntry {
  id: number
  at: string
  /** The key that was used, under the name that it had then; null for the command on the server. */
  actor: { key_id: number; name: string } | null
  action: AuditAction
  /** What it was done to, and what people called that then. */
  subject: { id: string; name: string }
  /** What else is worth knowing, depending on the action. */
  details: Record<string, unknown> | null
}

export interface AuditQuery extends PageQuery {
  /** Only these. */
  action?: AuditAction | undefined
  /** From this time on. */
  since?: Time | undefined
  /** Before this time. */
  until?: Time | undefined
}

/** Who is signed in. */
export interface SessionInfo {
  organisation: { id: number; name: string; plan: Plan }
  key: Pick<Key, 'id' | 'name' | 'role' | 'hint' | 'expires_at'>
  /** When one has to sign in again: after 30 days, or when the key expires. Null for a key that never does. */
  expires_at: string | null
}
