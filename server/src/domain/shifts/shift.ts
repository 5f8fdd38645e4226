import type { HistoryEntry } from '../history/entry.ts'
import type { PageRequest } from '../page.ts'
import type { Prompt } from '../prompt.ts'
import type { Instant } from '../time.ts'

export type Range = [from: Instant, until: Instant]

/** A moment at which the rate of a prompt moved, as it is stored. */
export interface StoredShift {
  at: Instant
  /** The rate moved at some time in this range. */
  between: Range
  rateBefore: number
  rateAfter: number
  /** The change that explains it, by the ID of its history entry. */
  entryId: number | null
  /** How many other prompts moved at the same time, if that explains it. Null, like `entryId`, for an unexplained shift. */
  sharedWith: number | null
}

/** A shift that other prompts share. */
export interface SharedShift {
  between: Range
  sharedWith: number
}

export interface ListedShift extends StoredShift {
  prompt: Pick<Prompt, 'publicId' | 'name'>
  /** Null if no change explains the shift, or if the change is no longer part of the history. */
  change: HistoryEntry | null
}

export interface ShiftStore {
  /** In the order of time. */
  ofPrompt(prompt: Prompt): Promise<StoredShift[]>
  /** Replaces all shifts of a prompt. */
  replace(prompt: Prompt, shifts: StoredShift[]): Promise<void>
  /** The shifts of existing prompts, the newest first. `promptIds` is null for all of them. */
  page(
    organisationId: number,
    promptIds: number[] | null,
    request: PageRequest,
  ): Promise<{ shifts: ListedShift[]; totalCount: number }>
  /** The shifts of these prompts that other prompts share, by the ID of the prompt. */
  shared(organisationId: number, promptIds: number[]): Promise<Map<number, SharedShift[]>>
  /** For each range, how many other prompts have a shift whose range overlaps with it. Counts up to 1,000. */
  countOthers(prompt: Prompt, ranges: Range[]): Promise<number[]>
  /** Other prompts, up to 200, with a shift that overlaps with one of the ranges but says otherwise than `count` prompts share it. */
  toExplainAgain(prompt: Prompt, ranges: { between: Range; count: number }[]): Promise<number[]>
}
