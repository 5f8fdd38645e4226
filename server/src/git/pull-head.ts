import { decode } from './bytes.ts'
import {
  type Commit,
  type FileChange,
  type LogOptions,
  mergeBase,
  type Person,
  readCommits,
  readDiff,
  readLog,
} from './log.ts'
import { git } from './run.ts'

export interface PullHeadChanges {
  files: (FileChange & { author: Person })[]
  commits: Commit[]
}

const mostCommits = 1_000

/**
 * What a pull request changes as against where it started. `tip` is the default branch now. Where the pull request's own
 * commits became the default branch, only `commitCount`, or the commit that they were pushed upon, tells where it started.
 */
export async function readPullHead(
  mirror: string,
  started: { head: string; tip: string; commitCount: number | null; pushedFrom: string | null },
  options: LogOptions,
): Promise<PullHeadChanges> {
  const { head } = started
  const base = await startOf(mirror, started)
  const revisions = base === null ? [head] : [head, `^${base}`]
  const commits = await readCommits(mirror, ['-n', String(mostCommits), ...revisions])
  if (base === null) return { files: [], commits }
  const files = await readDiff(mirror, base, head, options)
  const authors = files.length === 0 ? new Map<string, Person>() : await newestAuthors(mirror, revisions, options)
  const [newest] = commits
  return {
    files: files.map((file) => ({ ...file, author: authors.get(file.path) ?? (newest as Commit).author })),
    commits,
  }
}

/** The commit of the default branch that brought `commit` to it: itself, or the merge. Null where it is not on it. */
export async function landingOf(mirror: string, commit: string, tip: string): Promise<string | null> {
  const since = await revList(mirror, ['--first-parent', `^${commit}`, tip])
  if (since.length === 0) return commit === tip ? commit : null
  const descendants = new Set(await revList(mirror, ['--ancestry-path', `^${commit}`, tip]))
  const first = since.findLast((sha) => descendants.has(sha))
  if (first === undefined) return null
  const [, firstParent] = (await revList(mirror, ['--parents', '-n', '1', first]))[0]?.split(' ') ?? []
  return firstParent === commit ? commit : first
}

async function startOf(
  mirror: string,
  {
    head,
    tip,
    commitCount,
    pushedFrom,
  }: { head: string; tip: string; commitCount: number | null; pushedFrom: string | null },
): Promise<string | null> {
  const landing = await landingOf(mirror, head, tip)
  if (landing === null) return mergeBase(mirror, tip, head)
  if (landing !== head) return mergeBase(mirror, `${landing}^1`, head)
  if (commitCount === null && pushedFrom !== null) return mergeBase(mirror, pushedFrom, head)
  const [start] = await revList(mirror, ['--first-parent', '--skip', String(commitCount ?? 1), '-n', '1', head])
  return start ?? null
}

/** Who wrote the newest commit on each file. */
async function newestAuthors(mirror: string, revisions: string[], options: LogOptions): Promise<Map<string, Person>> {
  const authors = new Map<string, Person>()
  for await (const { files, author } of readLog(mirror, ['--topo-order', '--no-merges', ...revisions], options)) {
    for (const { path } of files) if (!authors.has(path)) authors.set(path, author)
  }
  return authors
}

// What is on no merge's side; it counts before all of them.
const mainline = Number.POSITIVE_INFINITY

/**
 * For each merge and file: who wrote the newest commit on the merged side that touches it. The merges come in their order on
 * the default branch; all of their sides are read in one go, from the newest commit back.
 */
export async function sideAuthors(
  mirror: string,
  merges: Commit[],
  options: LogOptions,
): Promise<Map<string, Map<string, Person>>> {
  const found = new Map(merges.map(({ sha }) => [sha, new Map<string, Person>()]))
  const [first, last] = [merges[0], merges.at(-1)]
  if (first === undefined || last === undefined) return found
  const sides: (Map<string, Person> | undefined)[] = []
  const sideOf = new Map<string, number>()
  // What several merges could have brought came with the oldest of them, which is met last.
  const claim = (sha: string, side: number) => sideOf.set(sha, Math.max(side, sideOf.get(sha) ?? 0))
  // Parents are given as they are once commits that touch no prompt are left out.
  const order = ['--topo-order', '--full-history', '--parents']
  for await (const commit of readLog(mirror, [...order, last.sha, `^${first.parents[0]}`], options)) {
    const { sha, files, author } = commit
    const [parent, ...merged] = commit.parents
    const side = found.has(sha) ? mainline : (sideOf.get(sha) ?? mainline)
    sideOf.delete(sha)
    if (parent !== undefined) claim(parent, side)
    const joined = side === mainline && merged.length > 0 ? sides.push(found.get(sha)) - 1 : side
    for (const other of merged) claim(other, joined)
    const authors = merged.length > 0 ? undefined : sides[side]
    for (const { path } of files) if (authors?.has(path) === false) authors.set(path, author)
  }
  return found
}

async function revList(mirror: string, args: string[]): Promise<string[]> {
  return decode(await git(['rev-list', ...args, '--'], { mirror }))
    .split('\n')
    .filter(Boolean)
}
