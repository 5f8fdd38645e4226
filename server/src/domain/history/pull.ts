import { hash } from 'node:crypto'
import { day, type Instant } from '../time.ts'
import type { Edit } from './edit.ts'

export const pullEventKinds = ['opened', 'updated', 'retargeted', 'reopened', 'closed', 'merged', 'unclear'] as const

/** `unclear`: the forge's report contradicts itself (closed and open at once), so git has to show what happened. */
export type PullEventKind = (typeof pullEventKinds)[number]

/** Something that happened to a pull request, as reported by the forge. */
export interface PullEvent {
  kind: PullEventKind
  /** By the forge's clock. */
  at: Instant
  /** The head commit of the pull request at that time. Some forges send only its first 12 digits. */
  head: string
  /** The source branch, `owner:branch` for a fork. */
  headBranch: string
  /** The target branch. */
  base: string
  /** Whether the target was the default branch at that time. */
  intoDefault: boolean
  /** The merge commit, if the forge reported it. */
  mergeCommit: string | null
  /** The number of commits, if the forge reported it. */
  commitCount: number | null
  /**
   * The commit of the target branch that it was compared with, if the forge reported it. It can be outdated. Absent in documents
   * of earlier versions.
   */
  mergeBase?: string | null
  /** The user name at the forge. */
  actor: string | null
  /** `at` is when the delivery arrived, because the payload has no time. */
  atReceipt?: true
  /** `at` can be the time of the event before it: old versions of Gitea send that with new commits. */
  mayBeLater?: true
}

/** A pull request event in a delivery. The forge parser does not know the default branch, so `intoDefault` is added later. */
export interface PullReport extends Pick<Pull, 'number' | 'url' | 'title' | 'openedAt'> {
  type: 'pull'
  event: Omit<PullEvent, 'intoDefault'>
}

/** How a pull request changes a prompt's file, as of one head commit. */
export interface PullFile extends Pick<Edit, 'path' | 'oldPath' | 'oldBlob' | 'newBlob'> {
  /** The author of the newest commit that changes the file. */
  author: { name: string; email: string }
  /** Null while the file has no prompt, for example because it has not landed yet. */
  promptId: number | null
}

/** A head commit that the pull request had at some point. */
export interface PullHead {
  sha: string
  files: PullFile[]
  /** Identify its commits across a rebase: see `commitTrace`. */
  traces: string[]
  /** Some of its files are not in `files`, because there are too many. Absent in documents of earlier versions. */
  tooLarge?: boolean
  /** Absent in documents of earlier versions. */
  committedAt?: Instant
  /**
   * The head was on the default branch when it was read, so git alone does not show where the pull request began. Deliveries
   * that tell may still arrive.
   */
  base?: { from: 'report' | 'push' | 'guess'; readAt: Instant }
}

/** Everything known about a pull request, independent of the order in which events arrived. */
export interface Pull {
  number: number
  url: string
  title: string
  openedAt: Instant
  events: PullEvent[]
  heads: PullHead[]
  /** The commit that merged it into the default branch. */
  landing: string | null
  /** All of its commits on the default branch. */
  landed: string[]
}

type PullState = 'open' | 'closed' | 'merged'

/** Adds a reported event. An event that is already known changes nothing. */
export function withEvent(pull: Pull | undefined, report: PullReport, intoDefault: boolean): Pull {
  const event: PullEvent = { ...report.event, intoDefault }
  const { number, url, title, openedAt } = report
  const reported = { number, url, title, openedAt }
  const unknown = { events: [], heads: [], landing: null, landed: [] }
  // Of a pull request that only git showed so far, title and opening time are not known.
  const known: Pull = pull === undefined || pull.events.length === 0 ? { ...unknown, ...pull, ...reported } : pull
  if (known.events.some((other) => sameEvent(other, event))) return known
  const events = [...known.events, event].sort(byTime)
  const newest = events.at(-1) === event
  return { ...known, events, openedAt: Math.min(known.openedAt, openedAt), ...(newest ? { url, title } : {}) }
}

// A delivery without times that the forge repeats arrives at another time.
function sameEvent(a: PullEvent, b: PullEvent): boolean {
  const isSameTime = a.at === b.at || (a.atReceipt === true && b.atReceipt === true)
  return a.kind === b.kind && isSameTime && a.head === b.head && a.base === b.base
}

// Events of the same second are ordered by a pull request's life cycle.
function byTime(a: PullEvent, b: PullEvent): number {
  return a.at - b.at || pullEventKinds.indexOf(a.kind) - pullEventKinds.indexOf(b.kind) || (a.head < b.head ? -1 : 1)
}

export function stateOf({ events, landing }: Pull): PullState {
  if (landing !== null || events.some(({ kind }) => kind === 'merged')) return 'merged'
  return events.findLast(({ kind }) => kind !== 'updated' && kind !== 'retargeted')?.kind === 'closed'
    ? 'closed'
    : 'open'
}

/** The event that reports the merge into the default branch. */
export function mergeOf({ events }: Pull): PullEvent | undefined {
  return events.findLast(({ kind, intoDefault }) => kind === 'merged' && intoDefault)
}

/** Whether a sync can skip the pull request until the forge reports a new event. */
export function isSettled(pull: Pull): boolean {
  if (!pull.events.some(({ intoDefault }) => intoDefault)) return true
  if (pull.landing !== null) return !hasGuessedBase(pull)
  const state = stateOf(pull)
  return state === 'closed' || (state === 'merged' && !isLandingUnknown(pull))
}

/** Whether the push that merged it has not been reported yet, so that where it began had to be guessed. */
export function hasGuessedBase({ heads }: Pull): boolean {
  return heads.some(({ base }) => base?.from === 'guess')
}

const maxWaitForPushMs = 7 * day

/** Stops waiting for pushes that are probably lost. */
export function withoutOldGuesses(pull: Pull, now: Instant): Pull {
  const isOld = ({ base }: PullHead) => base?.from === 'guess' && Math.abs(now - base.readAt) > maxWaitForPushMs
  if (!pull.heads.some(isOld)) return pull
  const settled = ({ base: _, ...head }: PullHead): PullHead => head
  return { ...pull, heads: pull.heads.map((head) => (isOld(head) ? settled(head) : head)) }
}

/** Whether it was merged into the default branch, may have changed prompts, and its merge commit is unknown. */
export function isLandingUnknown(pull: Pull): boolean {
  const event = mergeOf(pull)
  if (event === undefined || pull.landing !== null) return false
  const head = pull.heads.find(({ sha }) => sha.startsWith(event.head))
  return head === undefined || head.files.length > 0 || head.tooLarge === true
}

/** Identifies a commit across a rebase, which changes its hash but keeps the author, author date and title. */
export function commitTrace(commit: { author: { name: string }; authoredAt: Instant; message: string }): string {
  const title = titleOf(commit.message)
  return hash('sha256', JSON.stringify([commit.author.name, commit.authoredAt, title]), 'base64url').slice(0, 22)
}

/** The first paragraph in one line, as git has it: a rebase by hand may wrap or unwrap it. */
function titleOf(message: string): string {
  const end = message.search(/\n[^\S\n]*(\n|$)/)
  const title = end === -1 ? message : message.slice(0, end)
  const lines = title.split('\n')
  return lines.length === 1 ? title : lines.map((line) => line.trim()).join(' ')
}
