import type { PageRequest } from '../page.ts'
import type { Prompt } from '../prompt.ts'
import type { Span } from '../signals/interval.ts'
import type { Instant } from '../time.ts'
import type { Action, EntryDetails, HistoryEntry, NewHistoryEntry } from './entry.ts'

/** A change that went live, and until when it was: null where it still is. */
export interface LiveChange {
  entry: HistoryEntry
  until: Instant | null
}

export interface LiveChanges {
  /** Newest first. */
  changes: LiveChange[]
  /** The change that was live before the oldest of them, if there is one. */
  earlier: LiveChange | null
  totalCount: number
}

/** Which entries of a history: all where a part is null. */
export interface TimelineFilter {
  actions: Action[] | null
  since: Instant | null
  until: Instant | null
}

/** When a change was live, and when the one before it was. */
export interface LiveSpans {
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
  /** Gives the stored entry; where the same one was recorded before, that one. */
  record(prompt: Prompt, entry: NewHistoryEntry): Promise<HistoryEntry>
  /** All entries or, where the source fails, none. Takes them in portions so that memory stays flat. */
  import(prompt: Prompt, portions: AsyncIterable<NewHistoryEntry[]>): Promise<HistoryImport>
  /** Newest first. Takes the same time for every page of a history of any length. */
  page(prompt: Prompt, request: PageRequest): Promise<HistoryPage>
  find(prompt: Prompt, id: number): Promise<EntryDetails | null>
  /** The change that was live at the time: the last to reach the default branch that it still had then. */
  live(prompt: Prompt, at: Instant): Promise<EntryDetails | null>
  /** The changes that went live: what was committed to the default branch, by itself or by a pull request. */
  liveChanges(prompt: Prompt, request: PageRequest): Promise<LiveChanges>
  /** For each prompt the newest change that went live and the one before it, as far as there are any. */
  lastChanges(prompts: Prompt[]): Promise<LiveChange[][]>
  /** Newest first, with `live` for those that went live. */
  timeline(
    prompt: Prompt,
    filter: TimelineFilter,
    request: PageRequest,
  ): Promise<{ entries: { entry: EntryDetails; live: LiveSpans | null }[]; totalCount: number }>
}
