import type { Actor } from '../access/audit.ts'
import type { HistoryEntry } from '../history/entry.ts'
import type { PageRequest } from '../page.ts'
import type { Prompt } from '../prompt.ts'
import { validText } from '../text.ts'
import type { Instant } from '../time.ts'
import type { Triage, Triaged, TriageStep } from '../triage.ts'

export const regressionStates = ['open', 'repaired', 'withdrawn', 'dismissed'] as const

export type RegressionState = (typeof regressionStates)[number]

export const repairs = ['rate', 'revert'] as const

/** Why a regression is over: the rate is back, or the change is reverted. */
export type Repair = (typeof repairs)[number]

/** What the votes say about a change that made a prompt worse. */
export interface RegressionFigures {
  rateBefore: number
  rateAfter: number
  difference: number
  interval: [low: number, high: number]
  /** The explanation of the verdict. Of a withdrawn regression, why the verdict was taken back. */
  explanation: string
  /** The logarithm to base 10 of the Bayes factor of the step. Null if it is unknown. */
  evidence: number | null
  /** The signals that both rates are of. Null if they are unknown. */
  signalsBefore: number | null
  signalsAfter: number | null
  /** Since when the change is live. Null if it is unknown. */
  liveFrom: Instant | null
}

/**
 * A change that made a prompt worse. It stays open until the prompt is as good as before, the verdict is taken back, or a user
 * dismisses it.
 */
export interface Regression extends RegressionFigures, Triaged {
  id: number
  promptId: number
  /** The ID of the change's history entry. */
  entryId: number
  commitSha: string
  state: RegressionState
  /** When the verdict was `worse` for the first time. */
  openedAt: Instant
  repairedAt: Instant | null
  repairedBy: Repair | null
  /** The change that reverted it, or that brought the rate back. Null if the rate came back by itself. */
  repairedEntryId: number | null
  /** When the verdict was taken back: the votes no longer speak against the change. */
  withdrawnAt: Instant | null
}

export interface ListedRegression extends Regression {
  prompt: Pick<Prompt, 'publicId' | 'name'>
  change: HistoryEntry
  repairedEntry: HistoryEntry | null
}

export const regressionSorts = ['opened_at', 'difference'] as const

/** By `difference` in ascending order, the largest loss comes first. */
export interface RegressionOrder {
  by: (typeof regressionSorts)[number]
  descending: boolean
}

/** A null field matches every regression. */
interface RegressionFilter {
  state: RegressionState | null
  /** An email address, in any case. */
  owner?: string | null
  promptIds: number[] | null
}

export type Dismissal =
  | { kind: 'dismissed'; regression: ListedRegression }
  /** It is repaired or withdrawn. */
  | { kind: 'closed' }
  /** There is no such regression. */
  | { kind: 'unknown' }

export interface RegressionStore {
  /** All regressions of a prompt, the newest first, up to 1,000. */
  ofPrompt(prompt: Prompt): Promise<Regression[]>
  find(prompt: Prompt, id: number): Promise<ListedRegression | null>
  /** Records the regression once, however many processes open it. */
  open(
    prompt: Prompt,
    change: { id: number; commitSha: string },
    figures: RegressionFigures,
    at: Instant,
  ): Promise<void>
  /** Changes nothing unless the regression is open. */
  update(prompt: Prompt, id: number, figures: RegressionFigures): Promise<void>
  /** Changes nothing unless the regression is open. */
  repair(prompt: Prompt, id: number, repair: { at: Instant; by: Repair; entryId: number | null }): Promise<void>
  /** Takes the verdict back. Changes nothing unless the regression is open. */
  withdraw(prompt: Prompt, id: number, withdrawal: { at: Instant; explanation: string }): Promise<void>
  /** Opens a regression again that is withdrawn, or that the rate alone had closed. */
  reopen(prompt: Prompt, id: number, figures: RegressionFigures, at: Instant): Promise<void>
  /** Follows a change whose history entry was replaced by another one. */
  moveTo(prompt: Prompt, id: number, entryId: number): Promise<void>
  /** An open regression becomes dismissed, with an entry in the audit log. A dismissed one stays as it is. */
  dismiss(prompt: Prompt, id: number, note: string, at: Instant, by: NonNullable<Actor>): Promise<Dismissal>
  /** Stores what people do about an open regression, with an entry in the audit log. Null if there is none, `closed` if it is over. */
  triage(
    prompt: Prompt,
    id: number,
    triage: Triage,
    at: Instant,
    by: NonNullable<Actor>,
  ): Promise<ListedRegression | 'closed' | null>
  /** What people did about it, the oldest first, up to 500. */
  steps(organisationId: number, id: number): Promise<TriageStep[]>
  /** The regressions of existing prompts. Those that are equal come in the order of their IDs. */
  page(
    organisationId: number,
    filter: RegressionFilter,
    order: RegressionOrder,
    request: PageRequest,
  ): Promise<{ regressions: ListedRegression[]; totalCount: number }>
  /** Of each prompt, the open regression with the largest loss. */
  worstOpen(organisationId: number, promptIds: number[]): Promise<Map<number, ListedRegression>>
  /** How many regressions are open, by the names of organisation and prompt, in the order of the names. */
  openCounts(limit: number): Promise<{ organisation: string; prompt: string; count: number }[]>
  /** Prompts with open regressions, of all organisations, up to 1,000. */
  openPrompts(): Promise<{ promptId: number; organisationId: number; historyCount: number }[]>
}

const maxNoteLength = 2_000

export function validNote(text: string): string {
  return validText('note', text, maxNoteLength)
}
