import type { Actor } from '../access/audit.ts'
import type { PageRequest } from '../page.ts'
import type { Prompt } from '../prompt.ts'
import type { Instant } from '../time.ts'
import type { LandedChange } from './change.ts'
import type { Action, EntryDetails, HistoryEntry, NewHistoryEntry } from './entry.ts'
import type { SearchText } from './version-search.ts'

/** A null field matches every entry. `since` is inclusive, `until` exclusive. */
export interface TimelineFilter {
  actions: Action[] | null
  since: Instant | null
  until: Instant | null
  /** `outcome` leaves out the openings of pull requests that were merged or closed later. */
  pulls?: (typeof pullEntries)[number]
  /** Nothing is known about later changes; absent or null for no limit. */
  knownUntil?: Instant | null
}

export const pullEntries = ['all', 'outcome'] as const

export interface HistoryPage {
  entries: HistoryEntry[]
  totalCount: number
}

interface HistoryImport {
  imported: number
  alreadyThere: number
}

/** The text of a change that landed. */
export interface VersionBlob extends TextCursor {
  /** Null for an entry from another system, whose text is unknown. */
  repositoryId: number | null
  /** Null if the change deleted the file. */
  blob: string | null
}

/** A place in the versions of all prompts of an organisation: the newest prompt first, and of each the newest version. */
export interface TextCursor {
  promptId: number
  createdAt: Instant
  /** The ID of the entry. */
  id: number
}

export interface HistoryStore {
  /** Returns the stored entry, or the existing one if the same entry was recorded before. */
  record(prompt: Prompt, entry: NewHistoryEntry, at: Instant, by: Actor): Promise<HistoryEntry>
  /** Stores all entries, or none if the source fails. Reads in batches so memory use stays constant. */
  import(prompt: Prompt, batches: AsyncIterable<NewHistoryEntry[]>, at: Instant, by: Actor): Promise<HistoryImport>
  /** Newest first. Every page costs the same, however long the history is. */
  page(prompt: Prompt, request: PageRequest): Promise<HistoryPage>
  find(prompt: Prompt, id: number): Promise<EntryDetails | null>
  /** The internal ID of the prompt that has this entry, which may be deleted. */
  promptIdOf(organisationId: number, id: number): Promise<number | null>
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
  /** The same without details, such as a message, which may be long. */
  plainEntries(organisationId: number, ids: number[]): Promise<HistoryEntry[]>
  /** The entries of a prompt that brought these commits of the default branch, by commit. Unknown ones are absent. */
  entriesOfCommits(prompt: Prompt, commits: string[]): Promise<Map<string, EntryDetails>>
  /** What a search for versions looks at, of these entries, in no particular order. */
  searchTexts(organisationId: number, ids: number[]): Promise<SearchText[]>
  /** The texts of the changes that landed, of these prompts or of all, after the cursor. */
  versionBlobs(
    organisationId: number,
    promptIds: number[] | null,
    cursor: TextCursor | null,
    limit: number,
  ): Promise<VersionBlob[]>
  /** The first change on the default branch. */
  firstLanded(prompt: Prompt): Promise<EntryDetails | null>
  /** Newest first. */
  timeline(
    prompt: Prompt,
    filter: TimelineFilter,
    request: PageRequest,
  ): Promise<{ entries: EntryDetails[]; totalCount: number }>
  /** The same entries in parts: those that follow this one, or the first. */
  timelineAfter(
    prompt: Prompt,
    filter: TimelineFilter,
    last: Pick<EntryDetails, 'id' | 'createdAt'> | null,
    limit: number,
  ): Promise<EntryDetails[]>
  /** How far the pull requests of these entries of a prompt had got by `knownUntil`; null for an entry without one. */
  pullSpans(prompt: Prompt, entries: HistoryEntry[], knownUntil: Instant | null): Promise<(PullSpan | null)[]>
}

/** One entry of a pull request. */
export interface PullStep {
  entryId: number
  action: Action
  createdAt: Instant
}

/** From when a pull request was opened until it was merged or closed, as the history of one prompt has it. */
export interface PullSpan {
  /** Null if its opening is not recorded. */
  opened: PullStep | null
  /** The last time that it was merged or closed; null while it is open. */
  outcome: PullStep | null
}

/** The same for all entries of a pull request. */
export function pullKey({ prNumber, prUrl }: Pick<HistoryEntry, 'prNumber' | 'prUrl'>): string {
  return `${prNumber} ${prUrl}`
}
