import type { Actor } from '../access/audit.ts'
import type { PageRequest } from '../page.ts'
import type { Prompt } from '../prompt.ts'
import type { Instant } from '../time.ts'
import type { LandedChange } from './change.ts'
import type { Action, EntryDetails, HistoryEntry, NewHistoryEntry } from './entry.ts'

/** A null field matches every entry. `since` is inclusive, `until` exclusive. */
export interface TimelineFilter {
  actions: Action[] | null
  since: Instant | null
  until: Instant | null
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
  /** Newest first. */
  timeline(
    prompt: Prompt,
    filter: TimelineFilter,
    request: PageRequest,
  ): Promise<{ entries: EntryDetails[]; totalCount: number }>
}
