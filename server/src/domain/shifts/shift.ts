import { hash } from 'node:crypto'
import type { Actor } from '../access/audit.ts'
import type { HistoryEntry } from '../history/entry.ts'
import type { PageRequest } from '../page.ts'
import type { Prompt } from '../prompt.ts'
import type { RegressionState } from '../regressions/regression.ts'
import type { Instant } from '../time.ts'
import type { Triage, Triaged, TriageStep } from '../triage.ts'
import type { Others } from './others.ts'

export type Range = [from: Instant, until: Instant]

/** A change that went live while the rate moved. */
interface Candidate {
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
  /** Stays the same while votes move the shift a little. */
  id: string
  /** How many other prompts moved at the same time, if that explains it, whether or not there is a change too. */
  sharedWith: number | null
  /** When the judge found it. */
  foundAt: Instant
}

/** What tells whether a shift was known before. */
export type KnownShift = Pick<StoredShift, 'id' | 'at' | 'between' | 'rateBefore' | 'rateAfter' | 'foundAt'>

/**
 * The ID of a shift that is first found at this time: the same in each process that judges the prompt. Of the public ID of the prompt,
 * which an import keeps: with a number, a prompt that gets the old number of another one could take over its triage. `place` tells it apart
 * from another one that was found there before, and has moved since.
 */
export function shiftIdAt(promptPublicId: string, at: Instant, place = 0): string {
  return `shf_${hash('sha256', `${promptPublicId} ${at} ${place}`).slice(0, 24)}`
}

export function isShiftId(text: string): boolean {
  return /^shf_[0-9a-f]{24}$/.test(text)
}

/** A shift that other prompts share. */
export interface SharedShift {
  between: Range
  sharedWith: number
}

export const shiftCauses = ['change', 'shared', 'unexplained'] as const

export type ShiftCause = (typeof shiftCauses)[number]

/** A null field matches every shift. */
interface ShiftFilter {
  promptIds: number[] | null
  cause: ShiftCause | null
  /** The earliest time of a shift. */
  since: Instant | null
  foundSince: Instant | null
  state?: RegressionState | null
  /** An email address, in any case. */
  owner?: string | null
}

export interface ListedShift extends StoredShift, Triaged {
  /**
   * `repaired` since the rate moved back, `withdrawn` if the votes no longer show it. Null if a change explains it: then people take care of
   * its regression.
   */
  state: RegressionState | null
  /** When the rate moved back. */
  repairedAt: Instant | null
  prompt: Pick<Prompt, 'publicId' | 'name'>
  /** The candidates that are part of the history, in the same order. Empty if other prompts share the shift. */
  candidateChanges: { change: HistoryEntry; share: number }[]
  /** Null if there is no change within the range of the shift, or if it is no longer part of the history. */
  change: HistoryEntry | null
}

export type TriagedShift = ListedShift | 'closed' | null

export interface ShiftStore {
  /** In the order of time. */
  ofPrompt(prompt: Prompt): Promise<StoredShift[]>
  /** Those that people took care of, as they were then, whether or not the votes still show them: the last first, up to 100. */
  decided(prompt: Prompt): Promise<KnownShift[]>
  /** Replaces all shifts of a prompt. One without an ID gets that of its time. */
  replace(prompt: Prompt, shifts: (Omit<StoredShift, 'id'> & { id?: string })[]): Promise<void>
  find(prompt: Prompt, id: string): Promise<ListedShift | null>
  /** Stores what people do about an open shift, with an entry in the audit log. Null if there is none, `closed` if it is over. */
  triage(prompt: Prompt, id: string, triage: Triage, at: Instant, by: NonNullable<Actor>): Promise<TriagedShift>
  /** An open shift becomes dismissed, with an entry in the audit log. A dismissed one stays as it is. */
  dismiss(prompt: Prompt, id: string, note: string, at: Instant, by: NonNullable<Actor>): Promise<TriagedShift>
  /** What people did about it, the oldest first, up to 500. */
  steps(organisationId: number, id: string): Promise<TriageStep[]>
  /** The shifts of existing prompts, the newest first. Withdrawn ones only if the filter asks for them. */
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

/** The change whose author takes care of a shift by default: the only one that may have caused it. */
export function suspectOf({
  sharedWith,
  candidates,
  change,
}: Pick<ListedShift, 'sharedWith' | 'candidates' | 'change'>): HistoryEntry | null {
  return sharedWith === null && candidates?.count === 1 ? change : null
}
