import { countOfKind } from '../hidden-text.ts'
import { rangesOf } from '../history/blamed-lines.ts'
import type { EntryDetails, HistoryEntry } from '../history/entry.ts'
import { compareHidden } from '../history/hidden-characters.ts'
import type { Pull, PullFile, PullHead } from '../history/pull.ts'
import { judgeChanges } from '../impact/judged-changes.ts'
import { now as atNow } from '../impact/live/moment.ts'
import type { Drift } from '../impact/model/drift.ts'
import { expectedVerdicts } from '../impact/model/expected-verdict.ts'
import type { LearnedDrift } from '../impact/model/learned-drift.ts'
import { recentTally } from '../impact/ranking.ts'
import { type VoteHistory, voteHistoryOf } from '../impact/reading/vote-history.ts'
import type { Prompt } from '../prompt.ts'
import type { Repository } from '../repositories/repository.ts'
import type { RepositoryService } from '../repositories/repository-service.ts'
import { firstFrom } from '../sorted.ts'
import type { Store } from '../store.ts'
import type { Instant } from '../time.ts'
import {
  type AddedHidden,
  type BriefedFile,
  type BriefedPrompt,
  type Briefing,
  type BroughtBack,
  briefedHead,
  type JudgedEntry,
} from './briefing.ts'

type Stores = Pick<
  Store,
  'history' | 'signals' | 'segments' | 'shifts' | 'telemetry' | 'deployments' | 'prompts' | 'regressions'
>
type Repositories = Pick<RepositoryService, 'candidate' | 'texts' | 'blame'>

export interface BriefingContext {
  stores: Stores
  repositories: Repositories
  learned: LearnedDrift
}

// Strangers can open pull requests, so the cost of a briefing does not depend on their contents.
const maxFiles = 10
const maxTextBytes = 256 * 1024
const maxVersions = 50
const maxReverted = 10
const maxListed = 5
const maxHiddenLines = 5

/** Null if git does not have its texts now. */
export async function briefPull(
  context: BriefingContext,
  repository: Repository,
  pull: Pull,
  now: Instant,
): Promise<Briefing | null> {
  const { head: sha } = briefedHead(pull)
  const head = pull.heads.findLast((each) => each.sha === sha)
  if (head === undefined) return null
  const shown = head.files.slice(0, maxFiles)
  const texts = await textsOf(context.repositories, repository, pull, shown)
  if (texts === null) return null
  const ids = shown.flatMap(({ promptId }) => promptId ?? [])
  const prompts = await context.stores.prompts.withIds(repository.organisationId, ids)
  const promptOf = new Map(prompts.map((prompt) => [prompt.id, prompt]))
  const files: BriefedFile[] = []
  for (const file of shown) {
    const prompt = file.promptId === null ? undefined : promptOf.get(file.promptId)
    files.push(await briefFile(context, repository, file, prompt ?? null, texts, now))
  }
  return { prNumber: pull.number, openedAt: pull.openedAt, commitSha: head.sha, files, more: moreOf(head) }
}

function moreOf({ files }: PullHead): number {
  return Math.max(0, files.length - maxFiles)
}

/** By blob. A text that is too large is absent. Null if git lacks some. */
async function textsOf(
  repositories: Repositories,
  { id }: Repository,
  { number }: Pull,
  files: PullFile[],
): Promise<Map<string, string> | null> {
  const blobs = [...new Set(files.flatMap(({ oldBlob, newBlob }) => [oldBlob ?? [], newBlob ?? []].flat()))]
  const read = async () => {
    const { texts, tooLarge } = await repositories.texts(id, blobs, maxTextBytes)
    return blobs.every((blob) => texts.has(blob) || tooLarge.includes(blob)) ? texts : null
  }
  const found = await read()
  if (found !== null) return found
  // Another machine may have synced the repository.
  await repositories.candidate(id, number)
  return read()
}

async function briefFile(
  context: BriefingContext,
  repository: Repository,
  file: PullFile,
  prompt: Prompt | null,
  texts: ReadonlyMap<string, string>,
  now: Instant,
): Promise<BriefedFile> {
  const textOf = (blob: string | null) => (blob === null ? '' : (texts.get(blob) ?? null))
  const [before, after] = [textOf(file.oldBlob), textOf(file.newBlob)]
  const isReadable = before !== null && after !== null
  const compared = isReadable ? { before, after } : null
  return {
    path: file.path,
    prompt: prompt && (await briefPrompt(context, repository, file, prompt, compared, now)),
    isDeleted: file.newBlob === null,
    hidden: compared && hiddenIn(compared),
  }
}

interface Compared {
  before: string
  after: string
}

function hiddenIn({ before, after }: Compared): AddedHidden {
  const { kinds, positions } = compareHidden(before, after)
  const lines = new Set(positions.filter(({ added }) => added).map(({ line }) => line))
  return {
    kinds: kinds.filter(({ added }) => added > 0).map(({ kind, added }) => countOfKind(kind, added)),
    lines: [...lines].slice(0, maxHiddenLines),
  }
}

async function briefPrompt(
  { stores, repositories, learned }: BriefingContext,
  repository: Repository,
  file: PullFile,
  prompt: Prompt,
  compared: Compared | null,
  now: Instant,
): Promise<BriefedPrompt> {
  const [history, drift] = await Promise.all([voteHistoryOf(stores, prompt, atNow(now)), learned.of(prompt)])
  const ids = history.periods.slice(-maxVersions).map(({ change }) => change.id)
  const versions = await stores.history.entries(prompt.organisationId, ids)
  const [earlier, reverted] =
    compared === null
      ? [[], []]
      : await Promise.all([
          earlierChanges(stores, repositories, file, prompt, versions, compared),
          broughtBack(stores, repositories, repository, file, prompt, versions, compared),
        ])
  const judged = await judgedEntries(stores, history, drift, [...earlier, ...reverted.map(({ change }) => change)])
  return {
    prompt: { publicId: prompt.publicId, name: prompt.name },
    signals: recentTally(history, now),
    ...(await expectedVerdicts(history, drift, now)),
    earlier: earlier.map(judged),
    broughtBack: reverted.map((each) => ({ ...each, change: judged(each.change) })),
  }
}

async function judgedEntries(
  stores: Stores,
  history: VoteHistory,
  drift: Readonly<Drift>,
  entries: HistoryEntry[],
): Promise<(entry: HistoryEntry) => JudgedEntry> {
  const ids = new Set(entries.map(({ id }) => id))
  const periods = history.periods.filter(({ change }) => ids.has(change.id))
  const changes = periods.length === 0 ? [] : await judgeChanges(stores, history, periods, drift)
  const judged = new Map(changes.map((change) => [change.period.change.id, change]))
  return (entry) => {
    const change = judged.get(entry.id)
    const isComparable = change !== undefined && change.period.earlier !== null
    return isComparable
      ? { entry, verdict: change.verdict, difference: change.difference }
      : { entry, verdict: null, difference: null }
  }
}

/** The changes that brought the lines which the pull request changes or removes, as of the version that it is based on. */
async function earlierChanges(
  stores: Stores,
  repositories: Repositories,
  { oldBlob }: PullFile,
  prompt: Prompt,
  versions: EntryDetails[],
  { before, after }: Compared,
): Promise<EntryDetails[]> {
  const base = versions.findLast(({ afterBlob }) => afterBlob !== null && afterBlob === oldBlob)
  const removed = removedLines(before, after)
  if (base === undefined || removed.length === 0) return []
  const { lines } = await repositories.blame(base)
  const touched = lines.filter(({ start, end }) => hasBetween(removed, start, end))
  const commits = [...new Set(touched.map(({ commit }) => commit))]
  const ranges = rangesOf(touched, await stores.history.entriesOfCommits(prompt, commits))
  const entries = new Map(ranges.flatMap(({ entry }) => (entry === null ? [] : [[entry.id, entry] as const])))
  return [...entries.values()].sort((a, b) => b.createdAt - a.createdAt || b.id - a.id).slice(0, maxListed)
}

/** Whether one of these numbers, which are in order, is between the two. */
function hasBetween(numbers: readonly number[], first: number, last: number): boolean {
  const next = numbers[firstFrom(numbers, first)]
  return next !== undefined && next <= last
}

interface Reverted {
  change: EntryDetails
  by: EntryDetails
}

type FoundAgain = Omit<BroughtBack, 'change'> & { change: EntryDetails }

async function broughtBack(
  stores: Stores,
  repositories: Repositories,
  { id }: Repository,
  { newBlob }: PullFile,
  prompt: Prompt,
  versions: EntryDetails[],
  { before, after }: Compared,
): Promise<FoundAgain[]> {
  const reverted = revertedChanges(versions, await repairsOf(stores, prompt)).slice(-maxReverted)
  if (newBlob === null || reverted.length === 0) return []
  const blobs = reverted.flatMap(({ change, by }) => [change.beforeBlob, change.afterBlob, by.afterBlob])
  const { texts } = await repositories.texts(id, [...new Set(blobs.filter((blob) => blob !== null))], maxTextBytes)
  const added = addedLines(before, after)
  const found = reverted.flatMap(({ change, by }): FoundAgain[] => {
    if (change.afterBlob === newBlob) return [{ change, revertedBy: by, lines: null }]
    const textOf = (blob: string | null) => texts.get(blob ?? '') ?? ''
    const brought = addedLines(textOf(change.beforeBlob), textOf(change.afterBlob))
    const kept = addedLines('', textOf(by.afterBlob))
    const lines = [...brought].filter((line) => added.has(line) && !kept.has(line)).length
    return lines === 0 ? [] : [{ change, revertedBy: by, lines }]
  })
  return found.reverse().slice(0, maxListed)
}

/** Which change repaired which, by the IDs of their entries. A proposal need not bring back exactly the text of before. */
async function repairsOf({ regressions }: Stores, prompt: Prompt): Promise<Map<number, number>> {
  const all = await regressions.ofPrompt(prompt)
  return new Map(
    all.flatMap(({ entryId, repairedBy, repairedEntryId }) =>
      repairedBy === 'revert' && repairedEntryId !== null ? [[entryId, repairedEntryId] as const] : [],
    ),
  )
}

/** Changes that a later one took back, in the order of the branch: the text was that of before again, or the regression was repaired so. */
function revertedChanges(versions: EntryDetails[], repairs: ReadonlyMap<number, number>): Reverted[] {
  return versions.flatMap((change, i) => {
    const later = versions.slice(i + 1)
    const by =
      later.find(({ id }) => id === repairs.get(change.id)) ??
      later.find(({ afterBlob }) => afterBlob !== null && afterBlob === change.beforeBlob)
    return by === undefined || change.afterBlob === change.beforeBlob ? [] : [{ change, by }]
  })
}

// Lines are compared as sets: a line that only moves is not changed, and texts of any size take linear time.

/** The numbers of the lines of `before`, from 1, that `after` no longer has. */
function removedLines(before: string, after: string): number[] {
  const left = new Map<string, number>()
  for (const line of linesOf(after)) left.set(line, (left.get(line) ?? 0) + 1)
  return linesOf(before).flatMap((line, i) => {
    const count = left.get(line) ?? 0
    left.set(line, count - 1)
    return count > 0 ? [] : [i + 1]
  })
}

/** Rules, fences and brackets are in every text. */
function hasWords(line: string): boolean {
  return (line.slice(0, 200).match(/[\p{L}\p{N}]/gu)?.length ?? 0) >= 3
}

/** The lines with words that `after` has and `before` has not, whatever their indentation. */
function addedLines(before: string, after: string): Set<string> {
  const known = new Set(linesOf(before).map((line) => line.trim()))
  const lines = linesOf(after).map((line) => line.trim())
  return new Set(lines.filter((line) => !known.has(line) && hasWords(line)))
}

function linesOf(text: string): string[] {
  const lines = text.split(/\r?\n/)
  if (lines.at(-1) === '') lines.pop()
  return lines
}
