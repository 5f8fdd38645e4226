import type { HistoryEntry } from '../history/entry.ts'
import type { PageRequest } from '../page.ts'
import type { Prompt } from '../prompt.ts'
import type { Instant } from '../time.ts'
import type { Others } from './others.ts'

export type Range = [from: Instant, until: Instant]

/** A change that went live while the rate moved. */
export interface Candidate {
  entryId: number
  /** Its share of the votes within the range of the shift. */
  share: number
}

/** Changes that may have caused a shift, although the verdict on none of them says so. */
export interface Candidates {
  count: number
  /** Those with the most votes, up to 20. */
  changes: Candidate[]
}

/** A moment at which the rate of a prompt moved. */
export interface FoundShift {
  at: Instant
  /** The rate moved at some time in this range. */
  between: Range
  rateBefore: number
  rateAfter: number
  /** The change that explains it, unless other prompts share the shift, by the ID of its history entry. With candidates, the nearest. */
  entryId: number | null
  candidates: Candidates | null
}

/** Unexplained if neither a change nor other prompts explain it, whether or not it has candidates. */
export interface StoredShift extends FoundShift {
  /** How many other prompts moved at the same time, if that explains it, whether or not there is a change too. */
  sharedWith: number | null
  /** When the judge found it. */
  foundAt: Instant
}

/** A shift that other prompts share. */
export interface SharedShift {
  between: Range
  sharedWith: number
}

export const shiftCauses = ['change', 'shared', 'unexplained'] as const

export type ShiftCause = (typeof shiftCauses)[number]

/** A null field matches every shift. */
export interface ShiftFilter {
  promptIds: number[] | null
  cause: ShiftCause | null
  /** The earliest time of a shift. */
  since: Instant | null
  foundSince: Instant | null
}

export interface ListedShift extends StoredShift {
  prompt: Pick<Prompt, 'publicId' | 'name'>
  /** The candidates that are part of the history, in the same order. Empty if other prompts share the shift. */
  candidateChanges: { change: HistoryEntry; share: number }[]
  /** Null if there is no change within the range of the shift, or if it is no longer part of the history. */
  change: HistoryEntry | null
}

export interface ShiftStore {
  /** In the order of time. */
  ofPrompt(prompt: Prompt): Promise<StoredShift[]>
  /** Replaces all shifts of a prompt. */
  replace(prompt: Prompt, shifts: StoredShift[]): Promise<void>
  /** The shifts of existing prompts, the newest first. */
  page(
    organisationId: number,
    filter: ShiftFilter,
    request: PageRequest,
  ): Promise<{ shifts: ListedShift[]; totalCount: number }>
  /** The shifts of these prompts that other prompts share, by the ID of the prompt. */
  shared(organisationId: number, promptIds: number[]): Promise<Map<number, SharedShift[]>>
  /** For each range, how many other prompts have a shift whose range overlaps with it, and how many would by chance. Counts up to 1,000. */
  countOthers(prompt: Prompt, ranges: Range[], now: Instant): Promise<Omit<Others, 'all'>[]>
  /** How many other prompts have enough votes around this range to show a shift, of the 1,000 that were judged last. */
  countVoted(prompt: Prompt, range: Range): Promise<number>
  /**
   * Other prompts, up to 200, with a shift that overlaps with one of these but says otherwise than `moved` prompts share it. A shift
   * with a change says nothing about others with one.
   */
  toExplainAgain(prompt: Prompt, shifts: { between: Range; moved: number; hasChange: boolean }[]): Promise<number[]>
}
