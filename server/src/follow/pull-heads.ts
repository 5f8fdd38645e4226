import { commitTrace, type Pull, type PullEvent, type PullFile, type PullHead } from '../domain/history/pull.ts'
import { forgeOf } from '../forges/index.ts'
import { fetchCommit } from '../git/mirror.ts'
import { type PullHeadChanges, readPullHead } from '../git/pull-head.ts'
import { withinLimit } from '../git/run.ts'
import { sanitisedPerson } from './edits.ts'
import { pullReportsOf, pushesTo } from './incoming-deliveries.ts'
import { findPushedFrom } from './pushers.ts'
import type { SyncRun } from './sync-run.ts'

interface PullWithHeads {
  pull: Pull
  /** The newest reported head, if git does not have it. */
  missingHead: string | null
}

// Further files of a pull request are recorded only if they are prompts already.
const maxFilesPerHead = 1_000
// The size of all heads in the pull request's document, roughly. It is loaded by every sync while the pull request is open.
const maxPullBytes = 1_000_000

/**
 * Reads the head commits that deliveries reported, and reads those again whose base is now better known. `paths` are those of
 * the known prompts.
 */
export async function withReportedHeads(
  run: SyncRun,
  pull: Pull,
  paths: ReadonlyMap<string, number>,
): Promise<PullWithHeads> {
  const reports = run.deliveries.flatMap(pullReportsOf).filter(({ number }) => number === pull.number)
  const reported = new Set(reports.map(({ event }) => event.head))
  const hasPushes = pushesTo(run.branch, run.deliveries).length > 0
  // A delivery of this sync may tell where the pull request began, which git does not show.
  const isOutdated = ({ sha, base }: PullHead) =>
    base !== undefined &&
    (reported.values().some((head) => sha.startsWith(head)) || (base.from === 'guess' && hasPushes))
  const outdated = new Set(pull.heads.filter(isOutdated))
  let heads = pull.heads
  let missingHead: string | null = null
  for (const event of pull.events) {
    const known = heads.find(({ sha }) => sha.startsWith(event.head))
    const isWanted = known === undefined ? reported.has(event.head) : outdated.has(known)
    if (!event.intoDefault || !isWanted) continue
    const others = heads.filter((head) => head !== known)
    const read = fetchHead(run, pull, event, paths, maxPullBytes - bytesOf(others))
    const head = await withinLimit(read, () => ({ sha: event.head, files: [], traces: [], tooLarge: true }))
    if (head !== null) heads = [...others, head]
    else if (event === pull.events.at(-1)) missingHead = event.head
  }
  return { pull: { ...pull, heads: withNewestTraces(pull.events, heads) }, missingHead }
}

// A fork's branch is in another repository. Only the forge's pull request ref leads to it.
function branchRef({ headBranch }: PullEvent): string | null {
  return headBranch.includes(':') ? null : `refs/heads/${headBranch}`
}

// Only the last heads are needed to find where a rebase landed. A pull request can have hundreds.
const headsWithTraces = 2

function withNewestTraces(events: PullEvent[], heads: PullHead[]): PullHead[] {
  const newestFirst = new Set(events.map(({ head }) => head).toReversed())
  const read = [...newestFirst].flatMap((head) => heads.find(({ sha }) => sha.startsWith(head)) ?? [])
  const newest = read.slice(0, headsWithTraces)
  return heads.map((head) => (newest.includes(head) ? head : { ...head, traces: [] }))
}

/** Null if git does not have it. */
async function fetchHead(
  run: SyncRun,
  pull: Pull,
  event: PullEvent,
  paths: ReadonlyMap<string, number>,
  maxBytes: number,
): Promise<PullHead | null> {
  const refs = [forgeOf(run.lease.repository.forge).pullRef(pull.number), branchRef(event)]
  const sha = await fetchCommit(run.mirror, event.head, refs)
  if (sha === null) return null
  const { files, commits, tooLarge, baseFrom } = await readChanges(run, pull, sha, paths)
  const read = files.map((file): PullFile => ({ ...file, author: sanitisedPerson(file.author), promptId: null }))
  const kept = withinBytes(read, paths, maxBytes)
  const [newest] = commits
  return {
    sha,
    files: kept,
    traces: commits.map(commitTrace),
    ...(tooLarge || kept.length < read.length ? { tooLarge: true } : {}),
    ...(newest === undefined ? {} : { committedAt: newest.committedAt }),
    ...(baseFrom === 'git' ? {} : { base: { from: baseFrom, readAt: run.now } }),
  }
}

async function readChanges(
  run: SyncRun,
  { events }: Pull,
  sha: string,
  paths: ReadonlyMap<string, number>,
): Promise<PullHeadChanges> {
  const ofHead = events.filter(({ head }) => sha.startsWith(head))
  const query = {
    head: sha,
    tip: run.tip,
    mergeBases: ofHead.flatMap(({ mergeBase }) => mergeBase ?? []),
    commitCount: ofHead.findLast(({ commitCount }) => commitCount !== null)?.commitCount ?? null,
    pushedFrom: () => findPushedFrom(run, sha),
  }
  const options = { ...run.options, maxFiles: maxFilesPerHead, isKnown: (path: string) => paths.has(path) }
  // A retry would cost as much again, and fail again.
  return withinLimit(readPullHead(run.mirror.path, query, options, [...paths.keys()]), () => ({
    files: [],
    commits: [],
    tooLarge: true,
    baseFrom: 'git',
  }))
}

/** As many files as fit. Those that are prompts already come first. */
function withinBytes(files: PullFile[], paths: ReadonlyMap<string, number>, maxBytes: number): PullFile[] {
  const isKnown = ({ oldPath, path }: PullFile) => paths.has(oldPath ?? path)
  let left = maxBytes
  const fits = new Set(
    [...files.filter(isKnown), ...files.filter((file) => !isKnown(file))].filter((file) => {
      left -= bytesOfFile(file)
      return left >= 0
    }),
  )
  return files.filter((file) => fits.has(file))
}

const bytesOfFields = 250

function bytesOfFile({ path, oldPath, author }: PullFile): number {
  return bytesOfFields + path.length + (oldPath?.length ?? 0) + author.name.length + author.email.length
}

function bytesOf(heads: PullHead[]): number {
  return heads.flatMap(({ files }) => files).reduce((total, file) => total + bytesOfFile(file), 0)
}
