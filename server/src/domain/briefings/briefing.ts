import type { HistoryEntry } from '../history/entry.ts'
import { type Pull, stateOf } from '../history/pull.ts'
import type { ExpectedVerdicts } from '../impact/model/expected-verdict.ts'
import type { Difference, Verdict } from '../impact/model/verdict.ts'
import type { Prompt } from '../prompt.ts'
import type { Tally } from '../signals/tally.ts'
import type { Instant } from '../time.ts'

/** What reviewers of an open pull request should know about the prompts that it changes. */
export interface Briefing {
  prNumber: number
  openedAt: Instant
  /** The head that it is about. */
  commitSha: string
  files: BriefedFile[]
  /** How many more files of prompts it changes. */
  more: number
}

/** A file of a prompt that the pull request changes. */
export interface BriefedFile {
  path: string
  /** Null for a file that is no prompt before it lands. */
  prompt: BriefedPrompt | null
  isDeleted: boolean
  /** The hidden characters that it adds. Null if the text could not be examined. */
  hidden: AddedHidden | null
}

export interface AddedHidden {
  /** In words, such as `2 zero-width characters`. */
  kinds: string[]
  /** The first lines that have them. */
  lines: number[]
}

export interface BriefedPrompt extends ExpectedVerdicts {
  prompt: Pick<Prompt, 'publicId' | 'name'>
  /** Of the last 30 days. */
  signals: Tally
  /** The changes that brought the lines which it changes or removes, the newest first. */
  earlier: JudgedEntry[]
  broughtBack: BroughtBack[]
}

export interface JudgedEntry {
  entry: HistoryEntry
  /** Null if the change never went live, or no other was live before it. */
  verdict: Verdict | null
  difference: Difference | null
}

/** Text that the pull request brings back. */
export interface BroughtBack {
  change: JudgedEntry
  revertedBy: HistoryEntry
  /** How many of the lines that the change brought. Null if the whole text is that of the change. */
  lines: number | null
}

/** A pull request whose reviewers have to be told about a new head. */
export interface DueBriefing {
  organisationId: number
  repositoryId: number
  prNumber: number
  head: string
  dueAt: Instant
  attempts: number
}

export interface BriefingStore {
  /** Those that are due, of all organisations in turn. */
  due(now: Instant, limit: number): Promise<DueBriefing[]>
  /** Keeps other processes from it until then. False if one was faster. */
  claim(briefing: DueBriefing, now: Instant, until: Instant): Promise<boolean>
  /** Retries it at `dueAt`, or never with null, unless it has got another head. */
  finish(briefing: DueBriefing, dueAt: Instant | null): Promise<void>
}

/** What a sync tells about a pull request. `head` is null unless reviewers can be briefed. */
export function briefedHead(pull: Pull): { head: string | null; changesPrompts: boolean } {
  const newest = pull.events.at(-1)
  const reported = newest?.head ?? pull.heads.at(-1)?.sha
  const head = reported === undefined ? undefined : pull.heads.findLast(({ sha }) => sha.startsWith(reported))
  if (head === undefined || stateOf(pull) !== 'open' || newest?.intoDefault === false) {
    return { head: null, changesPrompts: false }
  }
  return { head: head.sha, changesPrompts: head.files.length > 0 }
}
