// Generated from docs/openapi.json by `npm run client-types`. Do not edit.
import type { Time } from '../time.ts'

export type Action = 'deployed' | 'pr_opened' | 'pr_merged' | 'pr_closed'

/** A new alert, with its signing secret. */
export interface AddedAlert {
  /** Starts with alr_. */
  id: string
  /** A label that identifies the alert. */
  name: string
  channel: Channel
  /** What of the target can be shown: the host of a URL, the addresses, the end of a routing key. */
  target_hint: string
  /** A glob: only prompts whose name or path matches. `*` stands for anything within a folder, `**` for any number of folders. Limits and repositories concern the whole organisation, so the glob does not apply to them. */
  prompts: string
  /** What to tell. At least one. */
  events: AlertEvent[]
  /** How long a regression, a shift or a failure has to last before it is told. */
  hold_minutes: number
  /** How many signals a change needs before its regression is told. */
  min_signals: number
  /** How long a recovery has to last before it is told. */
  recovery_hold_minutes: number
  /** Tells again after this time while a regression stays open; null to tell once. */
  repeat_hours: number | null
  /** `disabled` by an administrator, or because the receiver responded with 410. */
  state: AlertState
  disabled_at: string | null
  /** Why it is disabled. */
  disabled_reason: string | null
  /** Until when requests are also signed with the previous secret; null without a rotation. */
  old_secret_until: string | null
  created_at: string
  /** The newest delivery; null if nothing was sent yet. */
  last_delivery: AlertDelivery | null
  /** Signs the requests of a webhook, as defined by Standard Webhooks. Shown only once; null for other channels. */
  secret: string | null
}

/** Where people are told about regressions. */
export interface Alert {
  /** Starts with alr_. */
  id: string
  /** A label that identifies the alert. */
  name: string
  channel: Channel
  /** What of the target can be shown: the host of a URL, the addresses, the end of a routing key. */
  target_hint: string
  /** A glob: only prompts whose name or path matches. `*` stands for anything within a folder, `**` for any number of folders. Limits and repositories concern the whole organisation, so the glob does not apply to them. */
  prompts: string
  /** What to tell. At least one. */
  events: AlertEvent[]
  /** How long a regression, a shift or a failure has to last before it is told. */
  hold_minutes: number
  /** How many signals a change needs before its regression is told. */
  min_signals: number
  /** How long a recovery has to last before it is told. */
  recovery_hold_minutes: number
  /** Tells again after this time while a regression stays open; null to tell once. */
  repeat_hours: number | null
  /** `disabled` by an administrator, or because the receiver responded with 410. */
  state: AlertState
  disabled_at: string | null
  /** Why it is disabled. */
  disabled_reason: string | null
  /** Until when requests are also signed with the previous secret; null without a rotation. */
  old_secret_until: string | null
  created_at: string
  /** The newest delivery; null if nothing was sent yet. */
  last_delivery: AlertDelivery | null
}

/** One message to one alert, or to a pull request. */
export interface AlertDelivery {
  /** Starts with msg_. The same in every attempt, so that receivers recognise it. */
  id: string
  destination: 'alert' | 'pull_request'
  /** Null for a comment on a pull request, and if the alert was removed. */
  alert: {
    id: string
    name: string
    channel: Channel
  } | null
  /** `regression.dismissed` only resolves incidents of PagerDuty and updates comments on pull requests. */
  event: DeliveryEvent
  /** The prompts that it is about, at most ten. */
  prompts: {
    /** The public ID (prefix pmt_). */
    id: string
    name: string
    /** Null if the rate moved without a change. */
    regression_id: number | null
  }[]
  /** `pending` while attempts are left, `failed` after 3 days, `cancelled` if the alert was removed or the message is no longer true. */
  state: AlertDeliveryState
  attempts: number
  /** The HTTP status of the last response, or the reply code of the mail server. */
  status: number | null
  /** The beginning of the last response, as one line. */
  response: string | null
  /** Why the last attempt failed. */
  error: string | null
  created_at: string
  next_attempt_at: string | null
  finished_at: string | null
}

export type AlertDeliveryState = 'pending' | 'sent' | 'failed' | 'cancelled'

export type AlertEvent =
  | 'regression.opened'
  | 'regression.repaired'
  | 'regression.withdrawn'
  | 'shift.unexplained'
  | 'limit.near'
  | 'limit.reached'
  | 'repository.failing'
  | 'repository.recovered'

export type AlertState = 'active' | 'disabled'

/** A test message. */
export interface AlertTestEvent {
  type: 'alert.test'
  /** When it happened. */
  timestamp: string
  data: AlertTestEventData
}

/** A test. */
export interface AlertTestEventData {
  /** The name of the organisation. */
  organisation: string
  /** What happened, in one line. */
  summary: string
  /** The name of the alert. */
  alert: string
}

/** What to change; everything else stays. */
export interface AlertUpdate {
  /** A label that identifies the alert. */
  name?: string
  /** A glob: only prompts whose name or path matches. `*` stands for anything within a folder, `**` for any number of folders. Limits and repositories concern the whole organisation, so the glob does not apply to them. */
  prompts?: string
  /** What to tell. At least one. */
  events?: AlertEvent[]
  /** How long a regression, a shift or a failure has to last before it is told. */
  hold_minutes?: number
  /** How many signals a change needs before its regression is told. */
  min_signals?: number
  /** How long a recovery has to last before it is told. */
  recovery_hold_minutes?: number
  /** Tells again after this time while a regression stays open; null to tell once. */
  repeat_hours?: number | null
  /** Where messages go: the URL of a webhook or of a Slack incoming webhook, email addresses separated by commas, or the routing key of PagerDuty. Stored encrypted, and never returned. */
  target?: string
  /** Disables the alert, or enables it again. */
  state?: AlertState
}

export type AuditAction =
  | 'key.created'
  | 'key.rotated'
  | 'key.revoked'
  | 'key.rejected'
  | 'session.started'
  | 'share.created'
  | 'share.revoked'
  | 'prompt.created'
  | 'prompt.renamed'
  | 'prompt.deleted'
  | 'prompt.segments_changed'
  | 'repository.connected'
  | 'repository.updated'
  | 'repository.disconnected'
  | 'repository.secret_rotated'
  | 'secrets.reencrypted'
  | 'history.recorded'
  | 'history.imported'
  | 'history.exported'
  | 'deployment.recorded'
  | 'regression.dismissed'
  | 'alert.added'
  | 'alert.updated'
  | 'alert.removed'
  | 'alert.secret_rotated'
  | 'alert.tested'
  | 'alert.delivery_retried'
  | 'signal.retracted'
  | 'signals.erased'
  | 'signals.exported'
  | 'signals.imported'
  | 'organisation.renamed'
  | 'organisation.plan_changed'
  | 'organisation.segments_changed'
  | 'organisation.exported'
  | 'organisation.imported'
  | 'audit.chained'

/** One action in the audit log. */
export interface AuditEntry {
  id: number
  at: string
  /** The key that was used, with its name at that time; null for the CLI. */
  actor: {
    key_id: number
    name: string
  } | null
  /** What happened. */
  action: AuditAction
  /** The resource that was changed, with its name at that time. */
  subject: {
    /** The ID as used in paths. */
    id: string
    name: string
  }
  /** More information, depending on the action. */
  details: Record<string, unknown> | null
  /** The entry's place in the chain of the organisation, from 1 on. */
  seq: number | null
  /** SHA-256 of this entry and the hash of the one before it, so that a changed or missing entry is noticed. */
  hash: string | null
}

export interface AuditQuery {
  /** Only this action. */
  action?: AuditAction | undefined
  /** Only what was done with this key, by its ID, or `operator` for the CLI. */
  actor?: string | undefined
  /** From this time, inclusive. */
  since?: Time | undefined
  /** Until this time, exclusive. */
  until?: Time | undefined
  /** Page number. Defaults to `1`. */
  page?: number | undefined
  /** Results per page. Defaults to `25`. */
  limit?: number | undefined
}

/** What a request with this signal alone would have returned: `data` if it is stored, and otherwise `error`. */
export interface BatchResult {
  /** The HTTP status, such as 201. */
  status: number
  data?: RecordedSignal
  error?: {
    code: string
    message: string
  }
}

/** One signal of a batch. */
export interface BatchSignal {
  /** The ID of the prompt, or its name or path. */
  prompt: string
  /** Null withdraws the vote on `subject`. */
  value: SignalValue | null
  /** Arbitrary JSON object for the caller's own tracking, up to 16 KiB and 64 levels deep. */
  metadata?: Record<string, unknown> | null
  /** The version of the prompt that produced the output: a commit SHA of 7 to 40 hexadecimal digits, or the ID of a history entry. Without it, `metadata["gen_ai.prompt.version"]` counts, and otherwise the version that was live. */
  version?: string | number | null
  /** What was voted on, such as the ID of the output. A prompt has one vote per subject: a second request replaces the first. */
  subject?: string | null
  /** Who voted. Only a keyed hash of it is stored. */
  voter?: string | null
  /** The user's words. */
  comment?: string | null
  /** When the user voted, up to 30 days ago. The signal counts for that time. Defaults to now. */
  occurred_at?: string | null
  /** Like the header `Idempotency-Key` of a single signal. */
  idempotency_key?: string | null
  /** Like the header `traceparent` of a single signal. */
  traceparent?: string | null
}

/** The text of a version, and which change brought each of its lines. */
export interface Blame {
  entry: HistoryEntry
  /** Path of the prompt's file at that time. */
  path: string | null
  /** `absent`: the change deleted the file. `too_large`: over 1 MiB or 20,000 lines, or git takes too long. `binary`: not a text. `not_landed`: the change is not on the default branch. `unavailable`: git does not have it, or the entry does not come from git. */
  state: BlameState
  /** The prompt's text; null unless `state` is `available`. */
  content: string | null
  /** In order, without gaps; empty unless `available`. */
  lines: BlamedLines[]
  /** The changes that brought the lines, newest first. */
  entries: {
    entry: HistoryEntry
    /** The commit message, up to its first 1,000 characters. */
    message: string | null
    /** The forge user who pushed or merged it. */
    actor: string | null
  }[]
}

export interface BlameQuery {
  /** The ID of a history entry. Defaults to the live version. */
  entry?: number | undefined
}

export type BlameState = 'available' | 'absent' | 'too_large' | 'binary' | 'not_landed' | 'unavailable'

/** Lines of a text that the same change brought. */
export interface BlamedLines {
  /** The first line, from 1. */
  start: number
  /** The last line. */
  end: number
  /** The entry in `entries`. Null if no entry of the prompt has the commit: it is older than the known history, or is from before the file became a prompt. */
  entry_id: number | null
  /** The commit on the default branch. */
  commit_sha: string
}

export interface ChangeImpact {
  entry: HistoryEntry
  live_from: string
  /** Null if the change is still live. */
  live_until: string | null
  /** How it is known when the change went live: by a deployment to production, or by its merge if none is recorded. */
  live_source: LiveSource
  /** Every time in which it was live, in order, up to the newest 20: several after a rollback or a canary. */
  live_windows: LiveWindow[]
  /** Signals of the previous change. */
  before: RatedTally
  /** Signals of this change: those that name it as their version, and those without a version while it was live. */
  after: RatedTally
  /** How it is known that the signals in `before` and `after` count for these changes, with their numbers. */
  attributed_by: {
    /** The signal names the version. */
    version: number
    /** Without a version, while the change was deployed. */
    deployment: number
    /** Without a version, between the merge of the change and the next one. */
    time: number
  }
  /** Of the signals in `after`, those without a version that came while another version was live too. They are credited to the version with the larger share. */
  unattributed: number
  /** How many independent signals those in `before` and `after` are worth. Fewer than there are if their rate wanders, or if voters vote often. */
  effective_signals: number
  /** The rate after minus the rate before. */
  difference: number | null
  /** 95% confidence range of the true difference, which allows for votes that wander without any change. */
  interval: [number, number] | null
  /** `unexplained`: the rates differ, but this change does not explain it better than votes that wander, or than another moment. */
  verdict: Verdict
  /** What the verdict rests on, in plain words. */
  explanation: string
  /** No change was live before it, so there is nothing to compare it with. Then the verdict is `too_little_data`. */
  first_version: boolean
  /** Only with `by`; null if the change did not go live, or if there is no change before it. */
  segments?: Segments | null
}

export type Channel = 'webhook' | 'slack' | 'email' | 'pagerduty'

export type CommitState = 'pending' | 'located' | 'not_on_line'

export interface ConnectedRepository {
  id: number
  forge: Forge
  url: string
  path: string
  /** Null while the repository has no commits. */
  default_branch: string | null
  state: RepositoryState
  /** Whether the server lacks the oldest commits, as with a shallow clone, so that history starts late. */
  incomplete: boolean
  /** Rebased pull requests with lower numbers have not been searched yet, so that their commits are `deployed` for now. The next sync continues. Null if all have been searched. */
  unread_pulls_below: number | null
  /** The URL for the webhook of the forge. */
  webhook_url: string
  last_delivery_at: string | null
  /** The number of webhook requests with a missing or wrong signature, up to a minute late. */
  rejected_deliveries: number
  /** The newest of them. */
  last_rejected_at: string | null
  /** Why the newest of them was rejected. */
  last_rejection: string | null
  /** The last successful sync. */
  last_sync_at: string | null
  /** The age of the last successful sync; null before the first. */
  sync_age_seconds: number | null
  /** Whether no sync has succeeded for more than two hours, so that the history may be out of date. */
  stale: boolean
  /** Why the last sync failed. */
  last_error: string | null
  /** The public half of the deploy key; null without one. */
  ssh_public_key: string | null
  /** The only key of the ssh server that is accepted; null without a deploy key. */
  ssh_host_key: string | null
  /** Globs of the environments whose deployments decide what is live; null for the default. */
  production_environments: string[] | null
  /** Whether regressions are told on pull requests, by one comment each, and on merged commits, by a status. */
  reports_on_pulls: boolean
  /** Why that fails, such as a scope that the token lacks; null if it succeeds or is off. */
  report_error: string | null
  created_at: string
  /** Shown only once. */
  webhook_secret: string
  /** The steps on the forge that set up the webhook; none for a folder, which needs no webhook. */
  set_up: string[]
  /** The prompts found so far. */
  prompts: {
    id: string
    path: string | null
  }[]
  /** The number of entries so far. */
  entries: number
  /** What is probably a mistake, such as prompt files that overlap with those of another repository. */
  warnings: string[]
}

/** A new link. */
export interface CreatedShare {
  id: number
  prompt: {
    /** The public ID (prefix pmt_). */
    id: string
    name: string
  }
  /** The regression of the prompt that the link opens; null for the page of the prompt. */
  regression_id: number | null
  /** Whether the link also shows signals, with their comments and metadata. */
  includes_signals: boolean
  /** The last four characters of the link. */
  hint: string
  /** The name of the key that created it. */
  created_by: string
  created_at: string
  expires_at: string
  /** When the link, or the key that created it, was revoked; null if neither was. */
  revoked_at: string | null
  /** The link itself, shown only once. */
  url: string
}

/** A webhook delivery from a forge. */
export interface Delivery {
  id: number
  event: string
  state: DeliveryState
  attempts: number
  /** Why the last attempt failed. */
  error: string | null
  received_at: string
  next_attempt_at: string | null
  finished_at: string | null
}

export type DeliveryEvent =
  | 'regression.opened'
  | 'regression.repaired'
  | 'regression.withdrawn'
  | 'shift.unexplained'
  | 'limit.near'
  | 'limit.reached'
  | 'repository.failing'
  | 'repository.recovered'
  | 'regression.dismissed'

export type DeliveryState = 'pending' | 'done' | 'ignored' | 'failed'

/** A deployment of a repository. */
export interface Deployment {
  id: number
  /** Whether it is of all prompts of the repository or of one. */
  scope: 'repository' | 'prompt'
  /** The name of the environment, such as production. */
  environment: string
  /** Whether the environment counts as production. */
  production: boolean
  /** The deployed commit, usually the newest of the default branch. */
  commit_sha: string
  /** `pending` until a sync has looked for the commit, and `not_on_line` if the default branch never had it. Only a `located` commit decides what is live. */
  commit_state: CommitState
  /** Only `success` makes a version live, and only `inactive` ends it. */
  state: DeploymentState
  /** The part of the traffic that it serves: less than 1 for a canary. */
  share: number
  at: string
  received_at: string
  /** Who reported it: the API, or the webhook of a forge. */
  source: 'api' | 'github' | 'gitlab' | 'gitea' | 'forgejo' | 'bitbucket'
}

export type DeploymentState = 'queued' | 'in_progress' | 'success' | 'failure' | 'inactive'

/** Why a regression is dismissed. */
export interface Dismissal {
  /** Shown with the regression. */
  note: string
}

export interface Effect {
  live_from: string
  /** Null if the change is still live. */
  live_until: string | null
  /** How it is known when the change went live: by a deployment to production, or by its merge if none is recorded. */
  live_source: LiveSource
  /** Every time in which it was live, in order, up to the newest 20: several after a rollback or a canary. */
  live_windows: LiveWindow[]
  /** Signals of the previous change. */
  before: RatedTally
  /** Signals of this change: those that name it as their version, and those without a version while it was live. */
  after: RatedTally
  /** How it is known that the signals in `before` and `after` count for these changes, with their numbers. */
  attributed_by: {
    /** The signal names the version. */
    version: number
    /** Without a version, while the change was deployed. */
    deployment: number
    /** Without a version, between the merge of the change and the next one. */
    time: number
  }
  /** Of the signals in `after`, those without a version that came while another version was live too. They are credited to the version with the larger share. */
  unattributed: number
  /** How many independent signals those in `before` and `after` are worth. Fewer than there are if their rate wanders, or if voters vote often. */
  effective_signals: number
  /** The rate after minus the rate before. */
  difference: number | null
  /** 95% confidence range of the true difference, which allows for votes that wander without any change. */
  interval: [number, number] | null
  /** `unexplained`: the rates differ, but this change does not explain it better than votes that wander, or than another moment. */
  verdict: Verdict
  /** What the verdict rests on, in plain words. */
  explanation: string
  /** No change was live before it, so there is nothing to compare it with. Then the verdict is `too_little_data`. */
  first_version: boolean
}

export interface Erased {
  /** Number of erased signals. */
  erased: number
}

/** Which signals to erase. */
export interface Erasure {
  /** Members that the metadata of a signal must have: 1 to 16. */
  metadata?: Record<string, unknown>
  /** Who voted, as in the field `voter` of a signal. It is hashed on arrival. */
  voter?: string
  /** What was voted on, in any prompt. Withdrawn votes are erased and counted, too. */
  subject?: string
}

export interface ErasurePreview {
  /** Number of signals that would be erased. */
  matching: number
}

export type ExportFormat = 'ndjson' | 'csv'

export interface ExportQuery {
  /** One JSON object per line, or CSV. Defaults to `ndjson`. */
  format?: ExportFormat | undefined
  /** Only signals with this value. */
  value?: SignalValue | undefined
  /** From this time, inclusive. */
  since?: Time | undefined
  /** Until this time, exclusive. */
  until?: Time | undefined
  /** Only signals with this version. A commit SHA also finds signals that name the same commit in full or abbreviated, unless several commits start alike. `#123` for the history entry and `:v2` for the label where that could be a commit SHA. */
  version?: string | undefined
  /** Only signals with a comment. */
  comment?: 'any' | undefined
  /** Part of the comment, ignoring case. */
  q?: string | undefined
  /** Only signals that the impact of this change counts, by the ID of its history entry. Needs `side`. */
  change?: string | undefined
  /** Which signals of `change`: those that count for it (`after`), or for the change that was live before it (`before`). */
  side?: 'before' | 'after' | undefined
}

export type Forge = 'github' | 'gitlab' | 'gitea' | 'forgejo' | 'bitbucket'

/** A history entry, and its prompt. */
export interface FoundEntry {
  prompt: {
    id: string
    name: string
  }
  entry: HistoryEntry
}

/** A recorded change of a prompt. */
export interface HistoryEntry {
  /** Identifier of the history entry. */
  id: number
  /** `deployed`: committed directly to the default branch. `pr_closed`: closed without a merge. */
  action: Action
  /** The author of the change. */
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

/** A recorded change of a prompt, with its details and texts. Details are null if they are not known. */
export interface HistoryEntryDetails {
  /** Identifier of the history entry. */
  id: number
  /** `deployed`: committed directly to the default branch. `pr_closed`: closed without a merge. */
  action: Action
  /** The author of the change. */
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
  /** The commit message, or the title of the pull request. */
  message: string | null
  /** The forge user who pushed, opened, merged or closed it. */
  actor: string | null
  /** Path of the prompt's file at that time. */
  path: string | null
  /** Whether the commit or pull request exceeds the limits of a sync: some of its files are not recorded, or its message is cut. */
  too_large: boolean
  /** The prompt's text before the change; `before_state` says why it is null. */
  before: string | null
  /** The prompt's text after the change; `after_state` says why it is null. */
  after: string | null
  /** `absent`: the file did not exist. `too_large`: the texts exceed 16 MiB together. `unavailable`: git does not have it, or the entry does not come from git. */
  before_state: 'available' | 'absent' | 'too_large' | 'unavailable'
  /** `absent`: the file did not exist. `too_large`: the texts exceed 16 MiB together. `unavailable`: git does not have it, or the entry does not come from git. */
  after_state: 'available' | 'absent' | 'too_large' | 'unavailable'
  /** Unified diff between the two; null if a text is unavailable, or over 4 MiB. */
  patch: string | null
  /** The key that recorded the entry through the API; null for entries from git, the CLI or an import. */
  key_id: number | null
  /** Hidden characters in the prompt's text; null if the text is unavailable or a text exceeds 2 MiB. */
  hidden_characters: {
    /** Whether the prompt's text contains hidden characters after the change. */
    present: boolean
    /** Whether this change added some of them. */
    added: boolean
    /** Hidden characters in the text after the change. */
    count: number
    /** How many of them this change added. */
    added_count: number
    /** The same by kind. */
    kinds: {
      kind: 'bidi' | 'tag' | 'zero_width' | 'variation_selector' | 'control' | 'other'
      count: number
      added_count: number
    }[]
    /** Up to 100 runs of hidden characters in the text after the change. */
    positions: {
      /** From 1. */
      line: number
      /** From 1, in characters. */
      column: number
      kind: 'bidi' | 'tag' | 'zero_width' | 'variation_selector' | 'control' | 'other'
      /** Number of adjacent hidden characters. */
      length: number
      /** Such as `U+202E RLO`, or the text that Unicode tags spell. */
      label: string
      /** Whether this change added them. */
      added: boolean
    }[]
  } | null
}

export interface ImpactQuery {
  /** Answer as of this time, as if no signal, change or deployment had come after it. */
  as_of?: Time | undefined
  /** Adds the impact in each segment by a declared key of the metadata, such as `metadata.model`. A page then has at most 10 changes. */
  by?: string | undefined
  /** Page number. Defaults to `1`. */
  page?: number | undefined
  /** Results per page. Defaults to `25`. */
  limit?: number | undefined
}

export type Interval = 'hour' | 'day' | 'week'

export interface IntervalTally {
  start: string
  positive: number
  negative: number
}

/** A new API key, with its secret. */
export interface IssuedKey {
  id: number
  organisation_id: number
  /** A label that identifies the key. */
  name: string
  /** `ingest` records signals, `recorder` records history entries, `reader` reads, `standard` records signals, reads and deletes signals, `admin` does everything. `signing` makes no requests: it signs tokens for votes from browsers. */
  role: Role
  /** A glob: the key is limited to prompts whose name or path matches, and all others do not exist for it; null for every prompt. `*` stands for anything within a folder, `**` for any number of folders. */
  prompts: string | null
  /** When the key expires; null for never. */
  expires_at: string | null
  created_at: string
  /** The key itself, shown only once. */
  key: string
}

/** An API key, without its secret. */
export interface Key {
  id: number
  organisation_id: number
  /** A label that identifies the key. */
  name: string
  /** `ingest` records signals, `recorder` records history entries, `reader` reads, `standard` records signals, reads and deletes signals, `admin` does everything. `signing` makes no requests: it signs tokens for votes from browsers. */
  role: Role
  /** A glob: the key is limited to prompts whose name or path matches, and all others do not exist for it; null for every prompt. `*` stands for anything within a folder, `**` for any number of folders. */
  prompts: string | null
  /** When the key expires; null for never. */
  expires_at: string | null
  created_at: string
  /** The last four characters of the key. */
  hint: string
  /** When the key was revoked; null if it was not. */
  revoked_at: string | null
  /** When the key was last used, accurate to a few seconds. */
  last_used_at: string | null
}

/** How much of the monthly limit is used. */
export interface LimitEventData {
  /** The name of the organisation. */
  organisation: string
  /** What happened, in one line. */
  summary: string
  /** Such as 2026-11. */
  month: string
  /** The plan's monthly signal limit. */
  limit: number
  /** Signals recorded in this month. */
  used: number
  resets_at: string
}

/** 80% of the monthly limit are used. */
export interface LimitNearEvent {
  type: 'limit.near'
  /** When it happened. */
  timestamp: string
  data: LimitEventData
}

/** The monthly limit is reached. */
export interface LimitReachedEvent {
  type: 'limit.reached'
  /** When it happened. */
  timestamp: string
  data: LimitEventData
}

export interface Live {
  /** The change; null if it is unknown. */
  entry: HistoryEntry | null
  /** Path of the prompt's file at that time. */
  path: string | null
  /** The prompt's text at that time; `content_state` says why it is null. */
  content: string | null
  /** `absent`: the file did not exist. `too_large`: the texts exceed 16 MiB together. `unavailable`: git does not have it, or the entry does not come from git. */
  content_state: 'available' | 'absent' | 'too_large' | 'unavailable'
  /** Whether the change is unknown because the repository is a shallow clone. */
  incomplete: boolean
  /** Whether a deployment to production or the merge made it live; null if the change is unknown. */
  live_source: LiveSource | null
  /** Where it was deployed to; null for a merge. */
  environment: string | null
  /** The part of the traffic that it served. */
  share: number
  /** Other versions that were live at that time, the largest share first. */
  also_live: {
    entry: HistoryEntry
    share: number
    environment: string | null
  }[]
  /** What ran in each environment by its deployments: production first, then the last changed, up to 20. Empty without deployments. */
  environments: LiveEnvironment[]
}

/** The versions of a prompt that run in an environment. */
export interface LiveEnvironment {
  environment: string
  /** Whether it decides what is live. */
  production: boolean
  /** Its last deployment that changed something. */
  since: string
  /** The largest share first. Empty if its deployment ended. */
  versions: {
    /** Null if it is not known, or not yet, which version the commit has. */
    entry: HistoryEntry | null
    /** The deployed commit; null for what was merged before a first canary. */
    commit_sha: string | null
    /** The part of the traffic of this environment. */
    share: number
  }[]
}

export interface LiveQuery {
  /** Defaults to now. */
  at?: Time | undefined
}

export type LiveSource = 'deployment' | 'merge'

/** A time in which a change was live. */
export interface LiveWindow {
  from: string
  /** Null if it is still live. */
  until: string | null
  /** The part of the traffic that it served. */
  share: number
  /** How it is known when the change went live: by a deployment to production, or by its merge if none is recorded. */
  live_source: LiveSource
  /** Where it was deployed to; null for a merge. */
  environment: string | null
}

/** An alert to add. An organisation has at most 20. */
export interface NewAlert {
  /** A label that identifies the alert. */
  name: string
  channel: Channel
  /** Where messages go: the URL of a webhook or of a Slack incoming webhook, email addresses separated by commas, or the routing key of PagerDuty. Stored encrypted, and never returned. */
  target: string
  /** A glob: only prompts whose name or path matches. `*` stands for anything within a folder, `**` for any number of folders. Limits and repositories concern the whole organisation, so the glob does not apply to them. Defaults to `**`. */
  prompts?: string
  /** What to tell. At least one. Defaults to `regression.opened,regression.repaired,regression.withdrawn,shift.unexplained,limit.near,limit.reached,repository.failing,repository.recovered`. */
  events?: AlertEvent[]
  /** How long a regression, a shift or a failure has to last before it is told. Defaults to `15`. */
  hold_minutes?: number
  /** How many signals a change needs before its regression is told. Defaults to `50`. */
  min_signals?: number
  /** How long a recovery has to last before it is told. Defaults to `15`. */
  recovery_hold_minutes?: number
  /** Tells again after this time while a regression stays open; null to tell once. Defaults to `null`. */
  repeat_hours?: number | null
}

/** A deployment to record. */
export interface NewDeployment {
  /** The name of the environment, such as production. */
  environment: string
  /** The full hash of the deployed commit. */
  commit_sha: string
  /** Only `success` makes a version live, and only `inactive` ends it. */
  state: DeploymentState
  /** The part of the traffic that it serves: less than 1 for a canary. Defaults to `1`. */
  share?: number
  /** When it happened; not in the future. Defaults to now. */
  at?: string
}

/** A change of a prompt that another system made. */
export interface NewHistoryEntry {
  /** `deployed`: committed directly to the default branch. `pr_closed`: closed without a merge. */
  action: Action
  /** The author of the change. */
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

/** A key to create. */
export interface NewKey {
  /** A label that identifies the key. Defaults to `unnamed`. */
  name?: string
  /** `ingest` records signals, `recorder` records history entries, `reader` reads, `standard` records signals, reads and deletes signals, `admin` does everything. `signing` makes no requests: it signs tokens for votes from browsers. Defaults to `standard`. */
  role?: Role
  /** A glob: the key is limited to prompts whose name or path matches, and all others do not exist for it; null for every prompt. `*` stands for anything within a folder, `**` for any number of folders. Defaults to `null`. */
  prompts?: string | null
  /** When the key expires; null for never. Defaults to `null`. */
  expires_at?: string | null
}

export interface NewPromptSegmentKeys {
  /** Up to 5 keys of the metadata of signals, such as `model`. Null for those of the organisation. */
  keys: string[] | null
}

/** A repository to connect. */
export interface NewRepository {
  forge: Forge
  /** https://…, ssh://… or git@host:path. Plain http:// needs `ALLOW_HTTP_REPOSITORIES=1`. */
  url: string
  /** A glob that selects the prompt files, such as prompts/**\/*.md. */
  path: string
  /** An access token, if the repository is not public. */
  token?: string | null
  /** A private key in OpenSSH's format without a passphrase, for a repository that is fetched over ssh. Never returned. */
  ssh_key?: string | null
  /** Generate a key pair for ssh. Add `ssh_public_key` to the repository on the forge. Defaults to `false`. */
  generate_ssh_key?: boolean
  /** The key of the ssh server, such as `ssh-ed25519 AAAAC3…`. By default, the one that it has when you connect. Needs `ssh_key` or `generate_ssh_key`. */
  ssh_host_key?: string | null
  /** The minimum similarity, in percent, for a file that was moved and edited to keep its prompt. At 100, only files that are moved without edits do. Defaults to `50`. */
  similarity?: number
  /** Globs of the environments whose deployments decide what is live, such as `production` or `prod-*`. Null for the default: what the forge calls production, and environments named production, prod or live. With an empty list, merges decide. */
  production_environments?: string[] | null
  /** Tell regressions on the pull request that caused them, by one comment, and on the merged commit, by a status. The token needs to write both. Defaults to `false`. */
  reports_on_pulls?: boolean
}

/** A link to create. */
export interface NewShare {
  /** The regression of the prompt that the link opens; null for the page of the prompt. Defaults to `null`. */
  regression_id?: number | null
  /** Whether the link also shows signals, with their comments and metadata. Defaults to `false`. */
  includes_signals?: boolean
  /** When the link expires, at most 90 days from now; null for 7 days. Defaults to `null`. */
  expires_at?: string | null
}

/** A user's opinion on an output of the prompt. */
export interface NewSignal {
  /** Null withdraws the vote on `subject`. */
  value: SignalValue | null
  /** Arbitrary JSON object for the caller's own tracking, up to 16 KiB and 64 levels deep. */
  metadata?: Record<string, unknown> | null
  /** The version of the prompt that produced the output: a commit SHA of 7 to 40 hexadecimal digits, or the ID of a history entry. Without it, `metadata["gen_ai.prompt.version"]` counts, and otherwise the version that was live. */
  version?: string | number | null
  /** What was voted on, such as the ID of the output. A prompt has one vote per subject: a second request replaces the first. */
  subject?: string | null
  /** Who voted. Only a keyed hash of it is stored. */
  voter?: string | null
  /** The user's words. */
  comment?: string | null
  /** When the user voted, up to 30 days ago. The signal counts for that time. Defaults to now. */
  occurred_at?: string | null
}

/** A vote from a page, on the subject that its token names. */
export interface NewVote {
  /** A token that your application signed with a signing key. */
  token: string
  /** Null withdraws the vote. */
  value: SignalValue | null
  /** The user's words. */
  comment?: string | null
}

/** The organisation that a key belongs to. */
export interface Organisation {
  id: number
  /** Name of the organisation. */
  name: string
  plan: Plan
  limits: {
    /** The plan's limit; null if it has none. */
    signals_per_month: number | null
    /** Connected repositories. */
    repositories: number
    alerts: number
    /** Declared keys of the metadata, of the organisation or a prompt. */
    segment_keys: number
  }
  /** After how many days signals are deleted; null if they are kept. Counts stay. */
  signal_retention_days: number | null
  created_at: string
}

/** The new name. */
export interface OrganisationName {
  /** Name of the organisation. */
  name: string
}

export interface PageQuery {
  /** Page number. Defaults to `1`. */
  page?: number | undefined
  /** Results per page. Defaults to `25`. */
  limit?: number | undefined
}

/** Position of a page in its list. */
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

/** A prompt, with its last change and recent signals. */
export interface Prompt {
  /** The public ID (prefix pmt_). */
  id: string
  /** One line of up to 1,000 characters. Unique in the organisation, except among prompts of earlier versions. */
  name: string
  /** Path of the prompt's file in its repository; null if it has none. */
  path: string | null
  created_at: string
  /** The change that went live last, by a deployment to production or by its merge; null if there is none. */
  last_change: HistoryEntry | null
  /** Effect of the last change on user feedback; null if there is no change. */
  verdict: Verdict | null
  /** Whether the last change is the first version, which there is nothing to compare with. */
  first_version: boolean
  /** Signals of the last 30 days including today, UTC. */
  signals: {
    positive: number
    negative: number
    /** Counts per day, including days without signals. */
    days: IntervalTally[]
  }
  /** The open regression with the largest loss; null if there is none. */
  regression: Regression | null
}

/** A deployment that concerns a prompt. */
export interface PromptDeployment {
  id: number
  /** Whether it is of all prompts of the repository or of one. */
  scope: 'repository' | 'prompt'
  /** The name of the environment, such as production. */
  environment: string
  /** Whether the environment counts as production. */
  production: boolean
  /** The deployed commit, usually the newest of the default branch. */
  commit_sha: string
  /** `pending` until a sync has looked for the commit, and `not_on_line` if the default branch never had it. Only a `located` commit decides what is live. */
  commit_state: CommitState
  /** Only `success` makes a version live, and only `inactive` ends it. */
  state: DeploymentState
  /** The part of the traffic that it serves: less than 1 for a canary. */
  share: number
  at: string
  received_at: string
  /** Who reported it: the API, or the webhook of a forge. */
  source: 'api' | 'github' | 'gitlab' | 'gitea' | 'forgejo' | 'bitbucket'
  /** The history entry of the prompt's version in that commit; null if it is unknown. */
  entry_id: number | null
}

export interface PromptName {
  /** One line of up to 1,000 characters. Unique in the organisation, except among prompts of earlier versions. */
  name: string
}

export interface PromptQuery {
  /** Matches part of the name or path, ignoring case. */
  q?: string | undefined
  /** Prefix with `-` for descending order. `effect`: of the last change, as last judged in the background: worse, unexplained, no clear difference, better. Prompts without a change, without signals in the last 30 days, or with too little data come last. `regression`: open regressions, the largest loss first, then the other prompts by the share of positive signals, the lowest first. Defaults to `name`. */
  sort?: PromptSort | undefined
  /** Page number. Defaults to `1`. */
  page?: number | undefined
  /** Results per page. Defaults to `25`. */
  limit?: number | undefined
}

export interface PromptSegmentKeys {
  /** Up to 5 keys of the metadata of signals, such as `model`. */
  keys: string[]
  /** Whether the prompt declares its own keys, or uses those of the organisation. */
  source: 'prompt' | 'organisation'
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
  | 'effect'
  | '-effect'
  | 'regression'
  | '-regression'

/** A change of a prompt that went live. */
export interface PromptVersion {
  entry: HistoryEntry
  /** The commit message, up to its first 1,000 characters. */
  message: string | null
  /** Path of the prompt's file at that time. */
  path: string | null
  /** How it is live in production now; null if it is not. */
  live: {
    /** The part of the traffic that it serves. */
    share: number
    /** Null for a merge. */
    environment: string | null
  } | null
  /** When it went live for the first time. */
  live_from: string
  /** Null if it is still live. */
  live_until: string | null
  /** How it is known when the change went live: by a deployment to production, or by its merge if none is recorded. */
  live_source: LiveSource
  /** Every time in which it was live, in order, up to the newest 20. */
  live_windows: LiveWindow[]
}

export interface RatedTally {
  positive: number
  negative: number
  /** Share of positive signals; null without signals. */
  rate: number | null
}

export interface RecordedSignal {
  id: number
  /** Null withdraws the vote on `subject`. */
  value: SignalValue | null
  /** ISO 8601 UTC timestamp. */
  created_at: string
}

/** A change that made a prompt worse. */
export interface Regression {
  id: number
  prompt: {
    /** The public ID (prefix pmt_). */
    id: string
    name: string
  }
  /** `open` until the rate is back or the change is reverted (`repaired`), the votes no longer speak against the change (`withdrawn`), or it is `dismissed`. A withdrawn one opens again if the verdict is `worse` again. */
  state: RegressionState
  change: HistoryEntry
  /** When the verdict was `worse` for the first time. */
  opened_at: string
  /** Since when the change is live; null if it is unknown. */
  live_from: string | null
  /** Share of positive signals before the change. */
  rate_before: number
  /** The same after it, as of the last time that the verdict was `worse`. */
  rate_after: number
  /** How many signals `rate_before` is of; null if it is unknown. */
  signals_before: number | null
  /** How many signals `rate_after` is of; null if it is unknown. */
  signals_after: number | null
  /** The rate after minus the rate before. */
  difference: number
  /** 95% confidence range of the true difference. */
  interval: [number, number]
  /** What the verdict rests on. Of a withdrawn regression, why the verdict was taken back. */
  explanation: string
  repaired_at: string | null
  /** `rate` if the rate is back, `revert` if the prompt has its text from before the change again. */
  repaired_by: Repair | null
  /** The change that repaired it; null if the rate came back without one. */
  repaired_entry: HistoryEntry | null
  /** When the verdict was taken back. */
  withdrawn_at: string | null
  dismissed_at: string | null
  /** The name of the key that dismissed it. */
  dismissed_by: string | null
  /** Why it was dismissed. */
  note: string | null
}

/** A regression, and who was told about it. */
export interface RegressionDetails {
  id: number
  prompt: {
    /** The public ID (prefix pmt_). */
    id: string
    name: string
  }
  /** `open` until the rate is back or the change is reverted (`repaired`), the votes no longer speak against the change (`withdrawn`), or it is `dismissed`. A withdrawn one opens again if the verdict is `worse` again. */
  state: RegressionState
  change: HistoryEntry
  /** When the verdict was `worse` for the first time. */
  opened_at: string
  /** Since when the change is live; null if it is unknown. */
  live_from: string | null
  /** Share of positive signals before the change. */
  rate_before: number
  /** The same after it, as of the last time that the verdict was `worse`. */
  rate_after: number
  /** How many signals `rate_before` is of; null if it is unknown. */
  signals_before: number | null
  /** How many signals `rate_after` is of; null if it is unknown. */
  signals_after: number | null
  /** The rate after minus the rate before. */
  difference: number
  /** 95% confidence range of the true difference. */
  interval: [number, number]
  /** What the verdict rests on. Of a withdrawn regression, why the verdict was taken back. */
  explanation: string
  repaired_at: string | null
  /** `rate` if the rate is back, `revert` if the prompt has its text from before the change again. */
  repaired_by: Repair | null
  /** The change that repaired it; null if the rate came back without one. */
  repaired_entry: HistoryEntry | null
  /** When the verdict was taken back. */
  withdrawn_at: string | null
  dismissed_at: string | null
  /** The name of the key that dismissed it. */
  dismissed_by: string | null
  /** Why it was dismissed. */
  note: string | null
  /** Whether it is certain enough to tell people, which needs more than the verdict `worse`. */
  certain_enough: boolean
  /** What was sent about it to alerts and the pull request, newest first. */
  told: {
    event: DeliveryEvent
    destination: 'alert' | 'pull_request'
    /** Null for a comment on the pull request, and if the alert was removed. */
    alert: {
      name: string
      channel: Channel
    } | null
    state: AlertDeliveryState
    created_at: string
    /** When it was sent, or given up. */
    finished_at: string | null
  }[]
}

/** A change that made prompts worse. */
export interface RegressionEventData {
  /** The name of the organisation. */
  organisation: string
  /** What happened, in one line. */
  summary: string
  change: HistoryEntry
  /** Of the pull request or the commit; null if unknown. */
  title: string | null
  repository_id: number | null
  /** The same in all events about this change. */
  dedup_key: string
  /** What the change made worse, the largest loss first. */
  prompts: {
    /** The public ID (prefix pmt_). */
    id: string
    name: string
    regression_id: number
    state: RegressionState
    /** The history entry of the change, in this prompt's history. */
    entry_id: number
    /** When the change went live. */
    live_from: string
    before: {
      /** Share of positive signals. */
      rate: number
      signals: number
    }
    after: {
      /** Share of positive signals. */
      rate: number
      signals: number
    }
    /** The rate after minus the rate before. */
    difference: number
    /** 95% confidence range of the true difference. */
    interval: [number, number]
    /** Why the change is to blame and not chance, or why it no longer is. */
    explanation: string
    /** `rate` if the rate is back, `revert` if the text is. */
    repaired_by: Repair | null
    /** The change that repaired it. */
    repaired_entry: HistoryEntry | null
    /** The newest negative comments of users, at most three. Words of strangers: escape them. */
    comments: {
      text: string
      created_at: string
    }[]
    links: {
      change: string
      dismiss: string
    }
  }[]
}

/** A change made prompts worse. */
export interface RegressionOpenedEvent {
  type: 'regression.opened'
  /** When it happened. */
  timestamp: string
  data: RegressionEventData
}

export interface RegressionQuery {
  /** Only regressions in this state. */
  state?: RegressionState | undefined
  /** Prefix with `-` for descending order. `difference`: the largest loss first. Defaults to `-opened_at`. */
  sort?: RegressionSort | undefined
  /** Page number. Defaults to `1`. */
  page?: number | undefined
  /** Results per page. Defaults to `25`. */
  limit?: number | undefined
}

/** A regression is repaired. */
export interface RegressionRepairedEvent {
  type: 'regression.repaired'
  /** When it happened. */
  timestamp: string
  data: RegressionEventData
}

export type RegressionSort = 'opened_at' | '-opened_at' | 'difference' | '-difference'

export type RegressionState = 'open' | 'repaired' | 'withdrawn' | 'dismissed'

/** A verdict is taken back. */
export interface RegressionWithdrawnEvent {
  type: 'regression.withdrawn'
  /** When it happened. */
  timestamp: string
  data: RegressionEventData
}

export type Repair = 'rate' | 'revert'

/** A connected git repository. */
export interface Repository {
  id: number
  forge: Forge
  url: string
  path: string
  /** Null while the repository has no commits. */
  default_branch: string | null
  state: RepositoryState
  /** Whether the server lacks the oldest commits, as with a shallow clone, so that history starts late. */
  incomplete: boolean
  /** Rebased pull requests with lower numbers have not been searched yet, so that their commits are `deployed` for now. The next sync continues. Null if all have been searched. */
  unread_pulls_below: number | null
  /** The URL for the webhook of the forge. */
  webhook_url: string
  last_delivery_at: string | null
  /** The number of webhook requests with a missing or wrong signature, up to a minute late. */
  rejected_deliveries: number
  /** The newest of them. */
  last_rejected_at: string | null
  /** Why the newest of them was rejected. */
  last_rejection: string | null
  /** The last successful sync. */
  last_sync_at: string | null
  /** The age of the last successful sync; null before the first. */
  sync_age_seconds: number | null
  /** Whether no sync has succeeded for more than two hours, so that the history may be out of date. */
  stale: boolean
  /** Why the last sync failed. */
  last_error: string | null
  /** The public half of the deploy key; null without one. */
  ssh_public_key: string | null
  /** The only key of the ssh server that is accepted; null without a deploy key. */
  ssh_host_key: string | null
  /** Globs of the environments whose deployments decide what is live; null for the default. */
  production_environments: string[] | null
  /** Whether regressions are told on pull requests, by one comment each, and on merged commits, by a status. */
  reports_on_pulls: boolean
  /** Why that fails, such as a scope that the token lacks; null if it succeeds or is off. */
  report_error: string | null
  created_at: string
  /** The number of prompts in the repository. */
  prompt_count: number
  /** The number of history entries of these prompts. */
  entry_count: number
}

/** A repository whose history is, or was, not up to date. */
export interface RepositoryEventData {
  /** The name of the organisation. */
  organisation: string
  /** What happened, in one line. */
  summary: string
  repository: {
    id: number
    url: string
  }
  /** Why it fails; null if it recovered. */
  error: string | null
  /** Since when it failed. */
  since: string
  links: {
    repository: string
  }
}

/** A repository does not sync. */
export interface RepositoryFailingEvent {
  type: 'repository.failing'
  /** When it happened. */
  timestamp: string
  data: RepositoryEventData
}

/** A repository syncs again. */
export interface RepositoryRecoveredEvent {
  type: 'repository.recovered'
  /** When it happened. */
  timestamp: string
  data: RepositoryEventData
}

export type RepositoryState = 'connecting' | 'following' | 'failing' | 'disconnected'

/** What to change about a repository. */
export interface RepositoryUpdate {
  /** The new URL of the same repository: https://…, ssh://… or git@host:path. Plain http:// needs `ALLOW_HTTP_REPOSITORIES=1`. */
  url?: string
  /** A new access token. Null removes it. Required if the new URL is on another server than the old one. */
  token?: string | null
  /** A new private key in OpenSSH's format without a passphrase. Never returned. */
  ssh_key?: string
  /** The new key of the ssh server, such as `ssh-ed25519 AAAAC3…`. By default, the recorded one, or that of the new server. */
  ssh_host_key?: string
  /** Globs of the environments whose deployments decide what is live, such as `production` or `prod-*`. Null for the default: what the forge calls production, and environments named production, prod or live. With an empty list, merges decide. */
  production_environments?: string[] | null
  /** Tell regressions on the pull request that caused them, by one comment, and on the merged commit, by a status. The token needs to write both. */
  reports_on_pulls?: boolean
}

export type Role = 'ingest' | 'recorder' | 'reader' | 'standard' | 'admin' | 'signing'

export interface RotatedAlertSecret {
  /** Shown only once. */
  secret: string
  /** Until when requests are also signed with the old secret. */
  old_secret_until: string
}

export interface RotatedSecret {
  webhook_url: string
  /** Shown only once. */
  webhook_secret: string
  /** When the old secret expires. */
  old_secret_until: string
}

export interface Rotation {
  /** Hours for which the old key stays valid. 0 if it has leaked. Defaults to `24`. */
  overlap_hours?: number
}

/** Position of a page in its list. `total_pages` and `total_count` are null if a search does not know them. */
export interface SearchPagination {
  /** The page returned. */
  current_page: number
  /** Number of pages at the current per_page. */
  total_pages: number | null
  /** Total number of entries. */
  total_count: number | null
  /** Page size used. */
  per_page: number
}

export interface SecretRotation {
  /** Hours for which the old secret stays valid. 0 if it has leaked. Defaults to `24`. */
  overlap_hours?: number
}

/** User feedback of one segment before and after a change. */
export interface SegmentImpact {
  /** Null for signals without a value, and for `other`. */
  value: string | null
  /** Whether it pools all values beyond the first 20. */
  other: boolean
  /** Signals of the previous change. */
  before: RatedTally
  /** Signals of this change. */
  after: RatedTally
  /** How many independent signals those in `before` and `after` are worth. Fewer than there are if their rate wanders, or if voters vote often. */
  effective_signals: number
  /** The rate after minus the rate before. */
  difference: number | null
  /** 95% confidence range of the true difference, which allows for votes that wander without any change. */
  interval: [number, number] | null
  /** Of all segments that are called `better` or `worse`, at most 5% are wrong on average. */
  verdict: Verdict
  /** What the verdict rests on, in plain words. */
  explanation: string
}

export interface SegmentKeys {
  /** Up to 5 keys of the metadata of signals, such as `model`. */
  keys: string[]
}

/** Only with `by`. */
export interface SegmentSummaries {
  key: string
  /** The largest first. */
  data: SegmentSummary[]
  /** How many further segments there are. */
  others: number
  /** Earlier signals are not counted, because there are too many; null if all are. */
  counted_from: string | null
}

export interface SegmentSummary {
  /** Null for signals without the member. Untrusted text. */
  value: string | null
  total: Tally
  /** In order, without empty intervals. */
  data: IntervalTally[]
}

/** A change by the values of one key of the metadata. */
export interface Segments {
  key: string
  /** Whether all signals are in it. Otherwise it has the last 20,000 before the change and the first 20,000 after it, or those that are not removed yet. */
  complete: boolean
  /** The difference between both rates in two parts; null if a side has no signals. */
  mix: {
    /** The part that comes from a different share of each segment. */
    audience: number
    /** The part that comes from different rates within segments. */
    within: number
  } | null
  values: SegmentImpact[]
}

/** A session, and the key that started it. */
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
    /** A glob of the prompts that the key is limited to; null for every prompt. */
    prompts: string | null
    /** The last four characters of the key. */
    hint: string
    /** When the key expires; null for never. */
    expires_at: string | null
  }
  /** When the session ends: after 30 days, or when the key expires. For a request with a key, when the key expires. */
  expires_at: string | null
}

/** A link to one prompt for people without a key, without its token. */
export interface Share {
  id: number
  prompt: {
    /** The public ID (prefix pmt_). */
    id: string
    name: string
  }
  /** The regression of the prompt that the link opens; null for the page of the prompt. */
  regression_id: number | null
  /** Whether the link also shows signals, with their comments and metadata. */
  includes_signals: boolean
  /** The last four characters of the link. */
  hint: string
  /** The name of the key that created it. */
  created_by: string
  created_at: string
  expires_at: string
  /** When the link, or the key that created it, was revoked; null if neither was. */
  revoked_at: string | null
}

/** A moment at which the rate of a prompt moved more than its votes usually wander. */
export interface Shift {
  prompt: {
    /** The public ID (prefix pmt_). */
    id: string
    name: string
  }
  /** When the rate most likely moved. */
  at: string
  /** The rate moved at some time in this range. */
  between: [string, string]
  /** Share of positive signals up to the shift. */
  rate_before: number
  /** Share of positive signals after it. */
  rate_after: number
  cause: ShiftCause
  /** For an unexplained shift, the changes that may be the cause, if the votes do not tell which one is. Null without such changes. */
  candidates: ShiftCandidates | null
  /** All of this in two sentences. */
  explanation: string
}

export interface ShiftCandidate {
  change: HistoryEntry
  /** Its share of the votes in the range of the shift. */
  share: number
}

/** The changes that went live while the rate moved. One of them may be the cause. */
export interface ShiftCandidates {
  count: number
  /** Those with the most votes first, up to 20. */
  changes: ShiftCandidate[]
}

/** Exactly one of these: a change of the prompt, other prompts that moved at the same time, or neither. */
export interface ShiftCause {
  change?: HistoryEntry
  /** How many other prompts moved at the same time. */
  shared_with?: number
  /** True if no single change and no other prompts explain it. */
  unexplained?: boolean
}

/** Rates that fell, and no single change explains it. */
export interface ShiftEventData {
  /** The name of the organisation. */
  organisation: string
  /** What happened, in one line. */
  summary: string
  /** How many prompts fell, also those that are not listed. */
  prompt_count: number
  /** At most 100, the largest loss first. */
  prompts: {
    /** The public ID (prefix pmt_). */
    id: string
    name: string
    /** When the rate fell, as far as the votes tell. */
    shifted_at: string
    /** The range of that time. */
    between: [string, string]
    rate_before: number
    rate_after: number
    /** How many changes of the prompt may be the cause. */
    candidates: number
    links: {
      prompt: string
    }
  }[]
}

export interface ShiftQuery {
  /** Only shifts with this cause. */
  cause?: 'change' | 'shared' | 'unexplained' | undefined
  /** Only shifts at this time or later. */
  since?: Time | undefined
  /** Page number. Defaults to `1`. */
  page?: number | undefined
  /** Results per page. Defaults to `25`. */
  limit?: number | undefined
}

/** Rates fell, and no single change explains it. */
export interface ShiftUnexplainedEvent {
  type: 'shift.unexplained'
  /** When it happened. */
  timestamp: string
  data: ShiftEventData
}

/** A recorded signal. */
export interface Signal {
  id: number
  value: SignalValue
  /** Arbitrary JSON object for the caller's own tracking, up to 16 KiB and 64 levels deep. */
  metadata: Record<string, unknown> | null
  /** When the signal arrived. It counts towards the limit of that month. */
  created_at: string
  /** The version that produced the output: a commit SHA, the ID of a history entry (an integer) or a label. */
  version: string | number | null
  /** What was voted on. */
  subject: string | null
  /** A hash of who voted. The same voter has the same hash. */
  voter: string | null
  /** The user's words. Untrusted text. */
  comment: string | null
  /** When the user voted: the time that the signal counts for. */
  occurred_at: string
  /** The trace ID of the header traceparent. */
  trace_id: string | null
}

/** Signals of any prompts. */
export interface SignalBatch {
  signals: BatchSignal[]
}

export interface SignalQuery {
  /** Only signals with this value. */
  value?: SignalValue | undefined
  /** From this time, inclusive. */
  since?: Time | undefined
  /** Until this time, exclusive. */
  until?: Time | undefined
  /** Only signals with this version. A commit SHA also finds signals that name the same commit in full or abbreviated, unless several commits start alike. `#123` for the history entry and `:v2` for the label where that could be a commit SHA. */
  version?: string | undefined
  /** Only signals with a comment. */
  comment?: 'any' | undefined
  /** Part of the comment, ignoring case. */
  q?: string | undefined
  /** Only signals that the impact of this change counts, by the ID of its history entry. Needs `side`. */
  change?: string | undefined
  /** Which signals of `change`: those that count for it (`after`), or for the change that was live before it (`before`). */
  side?: 'before' | 'after' | undefined
  /** Continues a search: `search.cursor` of the previous response. */
  cursor?: string | undefined
  /** Page number. Defaults to `1`. */
  page?: number | undefined
  /** Results per page. Defaults to `25`. */
  limit?: number | undefined
}

/** How far a search got. Only with a filter on `comment`, `q` or metadata. */
export interface SignalSearch {
  /** Whether no older signals are left to examine. */
  complete: boolean
  /** Signals examined by this request. */
  examined: number
  /** Signals from before this time are not examined yet; null if complete. */
  searched_back_to: string | null
  /** Send as `cursor` to continue; null if complete. */
  cursor: string | null
}

export type SignalValue = 'positive' | 'negative'

/** What the impact of the change counts. Only with `change`. */
export interface SignalsOfChange {
  /** The ID of the history entry. */
  entry_id: number
  side: 'before' | 'after'
  /** All signals of this side in the impact, whatever other filters select. */
  counted: number
  /** Of these, how many retention has removed. They still count, and cannot be listed. */
  removed: number
}

export interface Summary {
  /** Every interval that overlaps the requested range, in order. The first and last are counted in full, but with `split` cut to the hours of `from` and `to`. */
  data: SummaryInterval[]
  interval: Interval
  /** Only with `split`. False if the range has more than about 250 changes: intervals are whole then. */
  split?: boolean
  segments?: SegmentSummaries
  total: Tally
}

export interface SummaryInterval {
  start: string
  positive: number
  negative: number
  /** Only with `split`, like the next three. Exclusive. */
  end?: string
  /** How many changes went live. */
  changes?: number
  /** How many versions took turns. More than one in the hour of a change, and if there are too many changes to split at. */
  versions?: number
  /** The history entry of the version that was live; null unless there was exactly one. */
  entry_id?: number | null
}

export interface SummaryQuery {
  /** Defaults to 30 days before `to`. */
  from?: Time | undefined
  /** Defaults to now. */
  to?: Time | undefined
  /** UTC. Weeks start on Monday. `auto` is the shortest one that leaves at most 200 intervals since the first signal, and 30 signals in the average interval, or 10 in the average day if the range is shorter than 8 weeks. With it, the last interval is the current one, also if `to` is later. Defaults to `day`. */
  interval?: 'hour' | 'day' | 'week' | 'auto' | undefined
  /** Splits intervals at the hours in which changes went live, and says which version was live in each part. */
  split?: 'changes' | undefined
  /** Adds the counts of the five largest segments by a declared key of the metadata, such as `metadata.model`, from up to the newest 20,000 signals. */
  by?: string | undefined
}

export interface Tally {
  positive: number
  negative: number
}

/** How sending a test message ended. */
export interface TestedAlert {
  /** The ID of the message. Starts with msg_. */
  id: string
  /** Whether the receiver accepted it. */
  sent: boolean
  /** The HTTP status, or the reply code of the mail server. */
  status: number | null
  /** The beginning of the response, as one line. */
  response: string | null
  /** What is wrong and what to do; null if it was sent. */
  error: string | null
  /** How long it took. */
  milliseconds: number
}

/** The first place in the newest version, on one line. Untrusted text. */
export interface TextExcerpt {
  /** The words before it, up to 80 characters. Starts with `…` unless the text does. */
  before: string
  /** The phrase as it is written there. */
  match: string
  /** The words after it, up to 120 characters. Ends with `…` unless the text does. */
  after: string
}

/** Versions of a prompt in a row whose text contains the phrase. `entry` is the newest of them, and `first_entry` the oldest: the change that brought the phrase. */
export interface TextMatch {
  prompt: {
    /** The public ID (prefix pmt_). */
    id: string
    name: string
  }
  entry: HistoryEntry
  first_entry: HistoryEntry
  /** How many versions these are. */
  version_count: number
  /** Whether one of them is live now. */
  live: boolean
  /** When the first of them went live. */
  live_from: string
  /** Null while one of them is live. */
  live_until: string | null
  excerpt: TextExcerpt
}

export interface TextQuery {
  /** The phrase. Ignores case, and a space matches any white space, such as a line break. */
  q?: string | undefined
  /** Results per request. Defaults to `25`. */
  limit?: number | undefined
  /** Continues a search: `search.cursor` of the previous response. */
  cursor?: string | undefined
}

/** How far the search got. */
export interface TextSearch {
  /** Whether no versions are left to examine. */
  complete: boolean
  /** Versions whose text this request searched. */
  examined: number
  /** Versions whose text is unknown, not in git, or larger than 1 MiB. They were not searched. */
  skipped: number
  /** Send as `cursor` to continue; null if complete. */
  cursor: string | null
}

/** A recorded change of a prompt, with its details and its effect on user feedback. */
export interface TimelineEntry {
  entry: HistoryEntry
  /** The commit message, or the title of the pull request. */
  message: string | null
  /** The forge user who pushed, opened, merged or closed it. */
  actor: string | null
  /** Path of the prompt's file at that time. */
  path: string | null
  /** The commit's page on the forge; null if the repository is unknown. */
  commit_url: string | null
  /** Hidden characters, such as bidirectional controls and Unicode tags; null if the text has not been checked or is unavailable. */
  hidden_characters: {
    /** Whether the prompt's text contains hidden characters after the change. */
    present: boolean
    /** Whether this change added some of them. */
    added: boolean
  } | null
  /** The course of its pull request, as far as it is in the history of this prompt; null without one. */
  pull: {
    /** When it was opened; null if that is not recorded. */
    opened: {
      /** The entry that recorded it. */
      entry_id: number
      action: Action
      created_at: string
    } | null
    /** When it was merged, or closed last; null while it is open. */
    outcome: {
      /** The entry that recorded it. */
      entry_id: number
      action: Action
      created_at: string
    } | null
  } | null
  /** Effect on user feedback; null if the change did not go live. */
  impact: Effect | null
  /** Only with `by`; null if the change did not go live, or if there is no change before it. */
  segments?: Segments | null
}

export interface TimelineEntryQuery {
  /** Answer as of this time, as if no signal, change or deployment had come after it. */
  as_of?: Time | undefined
  /** Adds the impact in each segment by a declared key of the metadata, such as `metadata.model`. */
  by?: string | undefined
}

export interface TimelineQuery {
  /** Only these actions: one or more of deployed, pr_opened, pr_merged, pr_closed, separated by commas. */
  action?: string | undefined
  /** From this time, inclusive. */
  since?: Time | undefined
  /** Until this time, exclusive. */
  until?: Time | undefined
  /** `outcome`: one row for each pull request that was merged or closed, without its opening, which is in `pull`. Filters select from these rows. Defaults to `all`. */
  pulls?: 'all' | 'outcome' | undefined
  /** Answer as of this time, as if no signal, change or deployment had come after it. */
  as_of?: Time | undefined
  /** Page number. Defaults to `1`. */
  page?: number | undefined
  /** Results per page. Defaults to `25`. */
  limit?: number | undefined
}

/** Signals that name a version which is no change of the prompt, or could be several. They count for no change. */
export interface UnknownVersions {
  positive: number
  negative: number
  /** The 20 versions with the most signals. */
  versions: {
    /** As it was sent. */
    version: string | number
    positive: number
    negative: number
  }[]
}

export interface UpdatedRepository {
  id: number
  forge: Forge
  url: string
  path: string
  /** Null while the repository has no commits. */
  default_branch: string | null
  state: RepositoryState
  /** Whether the server lacks the oldest commits, as with a shallow clone, so that history starts late. */
  incomplete: boolean
  /** Rebased pull requests with lower numbers have not been searched yet, so that their commits are `deployed` for now. The next sync continues. Null if all have been searched. */
  unread_pulls_below: number | null
  /** The URL for the webhook of the forge. */
  webhook_url: string
  last_delivery_at: string | null
  /** The number of webhook requests with a missing or wrong signature, up to a minute late. */
  rejected_deliveries: number
  /** The newest of them. */
  last_rejected_at: string | null
  /** Why the newest of them was rejected. */
  last_rejection: string | null
  /** The last successful sync. */
  last_sync_at: string | null
  /** The age of the last successful sync; null before the first. */
  sync_age_seconds: number | null
  /** Whether no sync has succeeded for more than two hours, so that the history may be out of date. */
  stale: boolean
  /** Why the last sync failed. */
  last_error: string | null
  /** The public half of the deploy key; null without one. */
  ssh_public_key: string | null
  /** The only key of the ssh server that is accepted; null without a deploy key. */
  ssh_host_key: string | null
  /** Globs of the environments whose deployments decide what is live; null for the default. */
  production_environments: string[] | null
  /** Whether regressions are told on pull requests, by one comment each, and on merged commits, by a status. */
  reports_on_pulls: boolean
  /** Why that fails, such as a scope that the token lacks; null if it succeeds or is off. */
  report_error: string | null
  created_at: string
  /** The number of prompts in the repository. */
  prompt_count: number
  /** The number of history entries of these prompts. */
  entry_count: number
  /** What is probably a mistake, such as prompt files that overlap with those of another repository. */
  warnings: string[]
}

export interface UsageReport {
  plan: Plan
  /** The plan's monthly signal limit; null if it has none. */
  limit: number | null
  /** Signals recorded in the current month. */
  used: number
  /** Signals left in the current month; null if the plan has no limit. */
  remaining: number | null
  /** When the counter resets. */
  resets_at: string
  /** The last twelve months, newest first. */
  months: {
    /** Month, UTC, such as 2026-11. */
    month: string
    used: number
  }[]
}

export type Verdict = 'better' | 'worse' | 'unexplained' | 'no_difference_seen' | 'too_little_data'

export interface VersionQuery {
  /** Every word has to match: part of the message (its first 1,000 characters) or of the author, the start of the commit hash, or a pull request such as `#42`. Ignores case. */
  q?: string | undefined
  /** Page number. Defaults to `1`. */
  page?: number | undefined
  /** Results per page. Defaults to `25`. */
  limit?: number | undefined
}

/** The vote on the subject of the token. */
export interface Vote {
  /** Null withdraws the vote. */
  value: SignalValue | null
  /** The user's words. */
  comment: string | null
}

export type WireErrorCode =
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'validation_error'
  | 'rate_limited'
  | 'internal_error'
