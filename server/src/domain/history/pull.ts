import { hash } from 'node:crypto'
import type { Instant } from '../time.ts'

export const pullEventKinds = ['opened', 'updated', 'retargeted', 'reopened', 'closed', 'merged', 'unclear'] as const

/** `unclear`: the forge says closed and open in one breath; only git can tell what became of it. */
export type PullEventKind = (typeof pullEventKinds)[number]

/** Something that happened to a pull request, as its forge told it. */
export interface PullEvent {
  kind: PullEventKind
  /** When it happened, by the forge's clock. */
  at: Instant
  /** The newest commit of the pull request at that time. Some forges give only its first twelve digits. */
  head: string
  /** The branch it comes from; `owner:branch` from a fork. */
  headBranch: string
  /** The branch it is meant for. */
  base: string
  /** Whether that was the default branch then. */
  intoDefault: boolean
  /** The commit that landed, where the forge told it. */
  mergeCommit: string | null
  /** How many commits it has, where the forge told it. */
  commitCount: number | null
  /** Who did it, by the name that the forge knows. */
  actor: string | null
}

/** Something happened to a pull request. `intoDefault` is for us to say, who know the default branch. */
export interface PullReport {
  type: 'pull'
  number: number
  url: string
  title: string
  openedAt: Instant
  event: Omit<PullEvent, 'intoDefault'>
}

/** What a pull request changes about a prompt's file, as its newest commit of the time stood. */
export interface PullFile {
  path: string
  oldPath: string | null
  oldBlob: string | null
  newBlob: string | null
  /** Who wrote the newest of its commits that touches the file. */
  author: { name: string; email: string }
  /** Null as long as the file is no prompt of ours, such as one that has not landed yet. */
  promptId: number | null
}

/** A newest commit that the pull request had at some time. */
export interface PullHead {
  sha: string
  files: PullFile[]
  /** What stays the same of its commits when they are rebased: see `commitTrace`. */
  traces: string[]
}

/** Everything we know of a pull request. Nothing of it depends on the order in which it was learned. */
export interface Pull {
  number: number
  url: string
  title: string
  openedAt: Instant
  events: PullEvent[]
  heads: PullHead[]
  /** The commit that brought it to the default branch, and all commits of it there. */
  landing: string | null
  landed: string[]
}

export type PullState = 'open' | 'closed' | 'merged'

/** The pull request with one more thing known about it. */
export function withEvent(pull: Pull | undefined, report: PullReport, intoDefault: boolean): Pull {
  const event: PullEvent = { ...report.event, intoDefault }
  const { number, url, title, openedAt } = report
  const known = pull ?? { number, url, title, openedAt, events: [], heads: [], landing: null, landed: [] }
  if (known.events.some((other) => sameEvent(other, event))) return known
  const events = [...known.events, event].sort(byTime)
  const newest = events.at(-1) === event
  return { ...known, events, openedAt: Math.min(known.openedAt, openedAt), ...(newest ? { url, title } : {}) }
}

function sameEvent(a: PullEvent, b: PullEvent): boolean {
  return a.kind === b.kind && a.at === b.at && a.head === b.head && a.base === b.base
}

// Events of one second keep the order in which a pull request goes through them.
function byTime(a: PullEvent, b: PullEvent): number {
  return a.at - b.at || pullEventKinds.indexOf(a.kind) - pullEventKinds.indexOf(b.kind) || (a.head < b.head ? -1 : 1)
}

export function stateOf({ events, landing }: Pull): PullState {
  if (landing !== null || events.some(({ kind }) => kind === 'merged')) return 'merged'
  return events.findLast(({ kind }) => kind !== 'updated' && kind !== 'retargeted')?.kind === 'closed'
    ? 'closed'
    : 'open'
}

/** The event that says it was merged into the default branch, if there is one. */
export function mergeOf({ events }: Pull): PullEvent | undefined {
  return events.findLast(({ kind, intoDefault }) => kind === 'merged' && intoDefault)
}

/** Nothing more has to be found out about it, unless its forge tells something new. */
export function isSettled(pull: Pull): boolean {
  if (!pull.events.some(({ intoDefault }) => intoDefault) || pull.landing !== null) return true
  const state = stateOf(pull)
  return state === 'closed' || (state === 'merged' && !isMissing(pull))
}

/** It was merged into the default branch, with a change to prompts for all we know, and nobody knows as which commit. */
export function isMissing(pull: Pull): boolean {
  const event = mergeOf(pull)
  if (event === undefined || pull.landing !== null) return false
  const head = pull.heads.find(({ sha }) => sha.startsWith(event.head))
  return head === undefined || head.files.length > 0
}

/** Rebasing changes a commit's name and keeps who wrote it, when, and its first line. */
export function commitTrace(commit: { author: { name: string }; authoredAt: Instant; message: string }): string {
  const [subject] = commit.message.split('\n', 1)
  return hash('sha256', JSON.stringify([commit.author.name, commit.authoredAt, subject]), 'base64url').slice(0, 22)
}
