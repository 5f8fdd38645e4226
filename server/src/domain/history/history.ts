import type { Actor } from '../access/audit.ts'
import type { PageRequest } from '../page.ts'
import type { Prompt } from '../prompt.ts'
import type { Span } from '../signals/interval.ts'
import type { Instant } from '../time.ts'
import type { LandedChange } from './change.ts'
import type { Action, EntryDetails, HistoryEntry, NewHistoryEntry } from './entry.ts'

/** A change that reached the default branch. `until` is null while it is still live. */
export interface LiveChange {
  entry: HistoryEntry
  /** Not before the change that it follows on the default branch, even if the date of its commit is. */
  from: Instant
  until: Instant | null
}

export interface LiveChanges {
  /** Newest first. */
  changes: LiveChange[]
  /** The change that was live before the oldest one listed. */
  earlier: LiveChange | null
  totalCount: number
}

/** A null field matches every entry. `since` is inclusive, `until` exclusive. */
export interface TimelineFilter {
  actions: Action[] | null
  since: Instant | null
  until: Instant | null
}

/** When a change was live, and when the one before it was live. */
export interface LiveSpans {
  from: Instant
  until: Instant | null
  earlier: Span | null
}

export interface HistoryPage {
  entries: HistoryEntry[]
  totalCount: number
}

export interface HistoryImport {
  imported: number
  alreadyThere: number
}

export interface HistoryStore {
  /** Returns the stored entry, or the existing one if the same entry was recorded before. */
  record(prompt: Prompt, entry: NewHistoryEntry, at: Instant, by: Actor): Promise<HistoryEntry>
  /** Stores all entries, or none if the source fails. Reads in batches so memory use stays constant. */
  import(prompt: Prompt, batches: AsyncIterable<NewHistoryEntry[]>, at: Instant, by: Actor): Promise<HistoryImport>
  /** Newest first. Every page costs the same, however long the history is. */
  page(prompt: Prompt, request: PageRequest): Promise<HistoryPage>
  find(prompt: Prompt, id: number): Promise<EntryDetails | null>
  /** The change that was live at `at`: the last one on the default branch by then, unless it had been orphaned. */
  live(prompt: Prompt, at: Instant, now: Instant): Promise<EntryDetails | null>
  /** Every change that reached the default branch, in no particular order. */
  landedChanges(prompt: Prompt): Promise<LandedChange[]>
  /**
   * Like `landedChanges`, for many prompts of one organisation: of each, the newest by date, up to `limit`, and how many
   * there are is not known.
   */
  newestChanges(prompts: Prompt[], limit: number): Promise<LandedChange[][]>
  /** The entries with these IDs, in this order. */
  entries(organisationId: number, ids: number[]): Promise<EntryDetails[]>
  /** The first change on the default branch. */
  firstLanded(prompt: Prompt): Promise<EntryDetails | null>
  /** The changes that reached the default branch, by a direct commit or a pull request. The newest on the branch comes first. */
  liveChanges(prompt: Prompt, request: PageRequest, now: Instant): Promise<LiveChanges>
  /** Up to two changes per prompt: the newest that went live and the one before it. */
  lastChanges(prompts: Prompt[], now: Instant): Promise<LiveChange[][]>
  /** Newest first. `live` is null for entries that did not go live. */
  timeline(
    prompt: Prompt,
    filter: TimelineFilter,
    request: PageRequest,
    now: Instant,
  ): Promise<{ entries: { entry: EntryDetails; live: LiveSpans | null }[]; totalCount: number }>
}
