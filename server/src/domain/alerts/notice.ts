import type { HistoryEntry } from '../history/entry.ts'
import type { Prompt } from '../prompt.ts'
import type { ListedRegression } from '../regressions/regression.ts'
import type { StoredShift } from '../shifts/shift.ts'
import type { Instant } from '../time.ts'
import type { Triaged } from '../triage.ts'
import type { NewAlertDelivery } from './delivery.ts'
import type { Message } from './message.ts'
import type { EarlierDelivery } from './telling.ts'

/** What people can be told about. */
export const noticeKinds = ['regression', 'shift', 'limit', 'repository', 'trial', 'digest'] as const

export type NoticeKind = (typeof noticeKinds)[number]

export const noticeStates = ['open', 'ended'] as const

export type NoticeState = (typeof noticeStates)[number]

/** One thing to tell. */
export interface Notice {
  id: number
  organisationId: number
  kind: NoticeKind
  /**
   * What it is about, once per organisation and kind: `pull/<hook ID>/<number>` or `commit/<sha>` for a change, `at/<time>` for a
   * shift, `<month>/near` or `<month>/reached` for a limit, the hook ID of a repository, `<trial>/<event>` for a
   * trial, and the Monday that a digest is sent on.
   */
  subject: string
  state: NoticeState
  /** How often it opened. */
  round: number
  /** Counts changes of the notice. */
  changes: number
  openedAt: Instant
  endedAt: Instant | null
}

export type NoticedPrompt = Pick<Prompt, 'publicId' | 'name' | 'path'>

/** A fall of a rate that no change of the prompt explains. */
export interface NoticedFall extends StoredShift, Triaged {
  prompt: NoticedPrompt
}

/** A regression that a notice is about. */
export interface NoticedRegression extends Omit<ListedRegression, 'change' | 'prompt'> {
  prompt: NoticedPrompt
  /** Null if it is no longer part of the history. */
  change: NoticedChange | null
  isPromptDeleted: boolean
}

/** A history entry with what a message says about it. */
export interface NoticedChange extends HistoryEntry {
  /** The commit message. */
  message: string | null
  repositoryId: number | null
}

/** What was queued before about the same notice. */
export interface NoticedDelivery extends EarlierDelivery {
  alertId: number | null
  message: Message
}

/** What to do about a notice. */
interface NoticeDecision {
  deliveries: DecidedDelivery[]
  dueAt: Instant | null
}

export interface DecidedDelivery {
  /** A delivery that waits, and is no longer true. If it cannot be cancelled, because it is being sent, nothing is queued. */
  cancel: number | null
  queue: NewAlertDelivery | null
}

export interface NoticeStore {
  /** Those that are due. Organisations take turns, so that one with many does not keep the others waiting. */
  due(now: Instant, limit: number): Promise<Notice[]>
  /** The regressions that it is about, the largest loss first, up to 200. */
  regressions(notice: Notice): Promise<NoticedRegression[]>
  /** In the order in which they were queued, the newest 20 of each alert and of the pull request. */
  deliveries(notice: Notice, now: Instant): Promise<NoticedDelivery[]>
  /** Stores a decision, unless the notice has changed since it was read: then it returns false. */
  decide(notice: Notice, decision: NoticeDecision, at: Instant): Promise<boolean>
  /** Opens a notice. One that is open stays as it is. */
  open(organisationId: number, kind: NoticeKind, subject: string, at: Instant): Promise<void>
  /** Opens notices about repositories that fail, and ends those about others, where an alert exists. */
  followRepositories(at: Instant): Promise<void>
  /** Organisations with an alert that hears of the event. */
  listeningTo(event: 'shift.unexplained' | 'limit.near' | 'limit.reached' | 'digest.weekly'): Promise<number[]>
  /** Falls found since then that no single change of the prompt explains and that no one dismissed, the newest first, up to 1,000. */
  unexplainedFalls(organisationId: number, since: Instant): Promise<NoticedFall[]>
  /** The subjects of notices of a kind. */
  subjects(organisationId: number, kind: NoticeKind): Promise<string[]>
  /** Deletes what ended before then, and finished deliveries from before then that are not needed to tell the end. Returns how many rows. */
  deleteBefore(at: Instant): Promise<number>
}
