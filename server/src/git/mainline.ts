import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AddedCommits } from './added-commits.ts'
import type { Commit, LogOptions } from './commit.ts'
import { type CrossingJudge, createCrossingJudge, type MainlineRules } from './crossing.ts'
import { isAncestor, streamMessages } from './log.ts'
import { readFirstParents, readGroup } from './log-range.ts'
import { resolveCommit } from './mirror.ts'
import { listRefs } from './refs.ts'
import { revList } from './rev-list.ts'
import { mainlineRefs, withinLimit } from './run.ts'
import { type SwappedMerge, swapParents } from './swapped-parents.ts'

interface Range {
  /** The last commit that was read before; null to read from the root. */
  from: string | null
  to: string
}

/** The commits that the default branch went through, oldest first, each with the files it changed. */
export function readMainline(
  mirror: string,
  { from, to }: Range,
  options: LogOptions,
  added: AddedCommits | null = null,
): AsyncGenerator<Commit> {
  if (added === null || added.from !== from) return readFirstParents(mirror, from, to, options)
  return readGroup(mirror, added.line.map(({ sha }) => sha).reverse(), options)
}

/**
 * Makes the first parents in the mirror the commits that the default branch went through, up to `tip`. At a merge of the
 * default branch into local work they are not. There, git reads a copy of the merge with its parents swapped (`git replace`),
 * so that everything that reads the mirror can follow the first parents and compare with them.
 *
 * `recorded` is the last commit that was recorded: the default branch certainly went through it. `added` are the commits since,
 * if they are few. Returns whether any parents were swapped.
 */
export async function alignMainline(
  mirror: string,
  { tip, recorded, added }: { tip: string; recorded: string | null; added: AddedCommits | null },
  readRules: () => Promise<MainlineRules>,
): Promise<boolean> {
  const aligned = await readAligned(mirror)
  if (aligned === tip) return false
  let crossings: SwappedMerge[] = []
  if (added === null || aligned !== added.from || !added.isLinear) {
    const walk = { mirror, tip, added, replaced: await readReplaced(mirror), readRules }
    const isKnown = added !== null && added.from === (aligned ?? recorded)
    const since = isKnown ? added.from : await newestAncestor(mirror, tip, [aligned, recorded])
    // If messages are too large to be searched, the first parents are the default branch.
    crossings = await withinLimit(findCrossings(walk, since, aligned === null ? null : since), () => [])
    await swapParents(mirror, crossings)
  }
  await writeAligned(mirror, tip)
  return crossings.length > 0
}

// In a file of our own. A ref would take a git process for every push.
const alignedFile = 'aligned'

/** The commit up to which the merges were judged. */
export async function readAligned(mirror: string): Promise<string | null> {
  const text = await readFile(join(mirror, alignedFile), 'latin1').catch(() => '')
  return /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(text) ? text : null
}

async function writeAligned(mirror: string, tip: string): Promise<void> {
  const file = join(mirror, alignedFile)
  await writeFile(`${file}.new`, tip)
  await rename(`${file}.new`, file)
}

interface Walk {
  mirror: string
  tip: string
  added: AddedCommits | null
  /** The merges that were judged before. */
  replaced: Set<string>
  readRules: () => Promise<MainlineRules>
}

/** `since` is a commit that the default branch went through. Merges before `until` were judged before. */
async function findCrossings(walk: Walk, since: string | null, until: string | null): Promise<SwappedMerge[]> {
  const places = new Set<string>()
  const first = await followMainline(walk, { since, until, known: null }, places)
  // What turned out on the way can decide about newer merges too.
  const found = first.learnedLate ? await followMainline(walk, { since, until, known: null }, places) : first
  if (since === null || found.passedSince) return found.crossings
  // Where the default branch was is proof. The messages did not tell.
  const known = await descendants(walk.mirror, since, walk.tip)
  return (await followMainline(walk, { since, until, known }, places)).crossings
}

interface Course {
  since: string | null
  until: string | null
  /** The descendants of `since`. If a merge has only one parent among them, the default branch continues there. */
  known: Set<string> | null
}

async function followMainline({ mirror, tip, added, replaced, readRules }: Walk, course: Course, places: Set<string>) {
  const crossings: SwappedMerge[] = []
  let judge: CrossingJudge | null = null
  let passedSince = false

  async function parentOnMainline(merge: Commit): Promise<string | undefined> {
    const { parents } = merge
    const leading = passedSince || course.known === null ? [] : parents.filter((parent) => course.known?.has(parent))
    if (leading.length === 1) return leading[0]
    judge ??= createCrossingJudge(mirror, await readRules(), places)
    return (await judge.isCrossed(merge)) ? parents[1] : parents[0]
  }

  /** Follows the first parents up to a crossing, and returns where to continue. */
  async function followFrom(start: string): Promise<string | undefined> {
    for await (const commit of firstParents(start)) {
      passedSince ||= commit.sha === course.since
      if (commit.sha === course.until) return undefined
      if (commit.parents.length < 2 || replaced.has(commit.sha)) continue
      const parent = await parentOnMainline(commit)
      if (parent === undefined || parent === commit.parents[0]) continue
      crossings.push({ merge: commit.sha, parents: [parent, ...commit.parents.filter((each) => each !== parent)] })
      return parent
    }
    return undefined
  }

  /** From memory as far as possible, then from git. */
  async function* firstParents(start: string): AsyncGenerator<Commit> {
    let next: string | undefined = start
    for (let commit = added?.commit(start); commit !== undefined; commit = added?.commit(next ?? '')) {
      yield commit
      next = commit.parents[0]
    }
    if (next === undefined) return
    if (next === course.until) passedSince = true
    else yield* streamMessages(mirror, ['--first-parent', ...(course.since === null ? ['--merges'] : []), next])
  }

  for (let next: string | undefined = tip; next !== undefined; ) next = await followFrom(next)
  // The assignment inside the closure is invisible to the type checker.
  const learnedLate = (judge as CrossingJudge | null)?.learnedLate() === true
  return { crossings, passedSince, learnedLate }
}

async function newestAncestor(mirror: string, tip: string, commits: (string | null)[]): Promise<string | null> {
  for (const commit of commits) {
    const known = commit === null ? null : await resolveCommit(mirror, commit)
    if (known !== null && (await isAncestor(mirror, known, tip))) return known
  }
  return null
}

/** The commit, and its descendants up to `to`. */
async function descendants(mirror: string, commit: string, to: string): Promise<Set<string>> {
  return new Set([commit, ...(await revList(mirror, ['--ancestry-path', to, `^${commit}`]))])
}

export async function readReplaced(mirror: string): Promise<Set<string>> {
  const refs = await listRefs(mirror, mainlineRefs)
  return new Set(refs.keys().map((ref) => ref.slice(mainlineRefs.length)))
}
