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

/** For each merge and file: who wrote the newest commit on the merged side that touches it. */
export async function sideAuthors(
  mirror: string,
  merges: Commit[],
  options: LogOptions,
): Promise<Map<string, Map<string, Person>>> {
  const found = new Map<string, Map<string, Person>>()
  const bySide = new Map(merges.map((merge) => [merge.parents[1] as string, merge]))
  if (merges.length === 0) return found
  // Nearly always the side's newest commit has touched every file; one call answers for all of those.
  for await (const side of readLog(mirror, ['--no-walk=unsorted', ...bySide.keys()], options)) {
    const merge = bySide.get(side.sha)
    const touched = new Set(side.files.map(({ path }) => path))
    if (merge?.files.every(({ path }) => touched.has(path)) && side.parents.length < 2) {
      found.set(merge.sha, new Map(merge.files.map(({ path }) => [path, side.author])))
    }
  }
  for (const { sha, parents } of merges) {
    if (!found.has(sha)) found.set(sha, await newestAuthors(mirror, [parents[1] as string, `^${parents[0]}`], options))
  }
  return found
}

async function revList(mirror: string, args: string[]): Promise<string[]> {
  return decode(await git(['rev-list', ...args, '--'], { mirror }))
    .split('\n')
    .filter(Boolean)
}
