import type { Changes, Commit, FileChange, LogOptions, Person } from './commit.ts'
import { readAuthors, readCommits, readDiff, readTree } from './log.ts'
import { findPullBase, type PullBase, type PullBaseQuery } from './pull-base.ts'
import { withinLimit } from './run.ts'

export interface PullHeadChanges {
  files: (FileChange & { author: Person })[]
  commits: Commit[]
  /** Whether files are missing because a limit was reached. */
  tooLarge: boolean
  /** What the base that they are compared with follows from. */
  baseFrom: PullBase['from']
}

const maxCommits = 1_000

/** What a pull request changes compared with its base. `knownPaths` are those of prompts. */
export async function readPullHead(
  mirror: string,
  pull: PullBaseQuery,
  options: LogOptions,
  knownPaths: string[],
): Promise<PullHeadChanges> {
  const { head } = pull
  const { base, from: baseFrom } = await findPullBase(mirror, pull)
  const revisions = base === null ? [head] : [head, `^${base}`]
  const commits = await withinLimit(readCommits(mirror, ['-n', String(maxCommits), ...revisions]), () => null)
  if (base === null) return { files: [], commits: commits ?? [], tooLarge: commits === null, baseFrom }
  const { files, tooLarge } = await readFiles(mirror, base, head, options, knownPaths)
  const authors = await withinLimit(authorsOf(), () => new Map<string, Person>())
  /** Empty if the author of the newest commit is that of every file. */
  async function authorsOf(): Promise<Map<string, Person>> {
    if (commits === null || hasOneAuthor(commits)) return new Map()
    const onlyPaths = tooLarge ? files.map(({ path }) => path).slice(0, maxPathArguments) : undefined
    return newestAuthors(mirror, revisions, files, { ...options, onlyPaths })
  }
  const newest = commits?.[0]?.author ?? { name: '', email: '' }
  return {
    files: files.map((file) => ({ ...file, author: authors.get(file.path) ?? newest })),
    commits: commits ?? [],
    tooLarge: tooLarge || commits === null,
    baseFrom,
  }
}

function hasOneAuthor(commits: Commit[]): boolean {
  return (
    new Set(commits.map(({ author: { name, email } }) => `${name}\0${email}`)).size === 1 && commits.length < maxCommits
  )
}

// Of up to 2,000 bytes each, which Linux still accepts as arguments of one command.
const maxPathArguments = 500

/** The files that differ. If there are too many for git, only some of the known ones: git then reads no other folders. */
function readFiles(mirror: string, from: string, to: string, options: LogOptions, known: string[]): Promise<Changes> {
  const tooLarge: Changes = { files: [], tooLarge: true }
  return withinLimit(readDiff(mirror, from, to, options), () => {
    if (known.length === 0) return tooLarge
    const readKnown = async () => {
      const [before, after] = [await readTree(mirror, from), await readTree(mirror, to)]
      const { files } = await readDiff(mirror, before, after, {
        ...options,
        onlyPaths: known.slice(0, maxPathArguments),
      })
      return { files, tooLarge: true }
    }
    return withinLimit(readKnown(), () => tooLarge)
  })
}

/** The author of the newest commit that touches each of the files. */
async function newestAuthors(
  mirror: string,
  revisions: string[],
  files: FileChange[],
  options: LogOptions,
): Promise<Map<string, Person>> {
  const authors = new Map<string, Person>()
  const wanted = new Set(files.map(({ path }) => path))
  if (wanted.size === 0) return authors
  const order = ['--topo-order', '--no-merges']
  for await (const commit of readAuthors(mirror, [...order, ...revisions], {
    ...options,
    isKnown: wanted.has.bind(wanted),
  })) {
    for (const path of touchedPaths(commit)) if (wanted.delete(path)) authors.set(path, commit.author)
    if (wanted.size === 0) break
  }
  return authors
}

/** A commit that moves a file also touches its old path: if later edits hide the move, the whole looks like a deletion there. */
function touchedPaths({ files }: Commit): string[] {
  return files.flatMap(({ oldPath, path }) => (oldPath === null || oldPath === path ? [path] : [path, oldPath]))
}

// Commits on no merged side. Infinity wins over every index in `claim`.
const mainline = Number.POSITIVE_INFINITY

/**
 * For each merge and file, the author of the newest commit on the merged side that touches the file. `merges` must be in
 * default-branch order. One `git log`, newest first, covers all sides.
 */
export async function sideAuthors(
  mirror: string,
  merges: Commit[],
  options: LogOptions,
): Promise<Map<string, Map<string, Person>>> {
  const authorsByMerge = new Map(merges.map(({ sha }) => [sha, new Map<string, Person>()]))
  const wanted = new Map(merges.map(({ sha, files }) => [sha, new Set(files.map(({ path }) => path))]))
  const isKnown = (path: string) => wanted.values().some((paths) => paths.has(path))
  const [first, last] = [merges[0], merges.at(-1)]
  if (first === undefined || last === undefined) return authorsByMerge
  const sides: string[] = []
  const sideOf = new Map<string, number>()
  // A commit reachable from several merges came with the oldest, which the log reaches last.
  const claim = (sha: string, side: number) => sideOf.set(sha, Math.max(side, sideOf.get(sha) ?? 0))
  // `--parents` rewrites parents to skip commits that touch no prompt.
  const order = ['--topo-order', '--full-history', '--parents']
  for await (const commit of readAuthors(mirror, [...order, last.sha, `^${first.parents[0]}`], {
    ...options,
    isKnown,
  })) {
    const { sha, author } = commit
    const [parent, ...merged] = commit.parents
    const side = authorsByMerge.has(sha) ? mainline : (sideOf.get(sha) ?? mainline)
    sideOf.delete(sha)
    if (parent !== undefined) claim(parent, side)
    const joined = side === mainline && merged.length > 0 ? sides.push(sha) - 1 : side
    for (const other of merged) claim(other, joined)
    const merge = merged.length > 0 ? undefined : sides[side]
    if (merge === undefined) continue
    const [paths, authors] = [wanted.get(merge), authorsByMerge.get(merge)]
    for (const path of touchedPaths(commit)) if (paths?.delete(path)) authors?.set(path, author)
  }
  return authorsByMerge
}
