import { decode } from './bytes.ts'
import type { Commit, LogOptions } from './commit.ts'
import { readDiff, readHeader, readListed, readTree } from './log.ts'
import { listHashes, revisions } from './rev-list.ts'
import { GitLimitError, git, withinLimit } from './run.ts'

// As many as one git process reads. It holds their messages in memory until it ends.
const maxGroupSize = 1_000
// About 400,000 commits.
const maxListedBytes = 16 * 1024 * 1024

/**
 * The first parents from `from` (exclusive; null for the root) to `to` that change a matching file, oldest first. If a group of
 * them exceeds a limit of git, it is read in smaller and smaller ones, so that one hostile commit does not hide the others.
 */
export async function* readFirstParents(
  mirror: string,
  from: string | null,
  to: string,
  options: LogOptions,
): AsyncGenerator<Commit> {
  for await (const shas of listFirstParents(mirror, from, to)) yield* readGroup(mirror, shas, options)
}

/** The hashes of the first parents, oldest first, in groups. */
function listFirstParents(mirror: string, from: string | null, to: string): AsyncGenerator<string[]> {
  return listHashes(mirror, ['--first-parent', '--reverse', ...revisions(from, to)], to, maxGroupSize, maxListedBytes)
}

/** These commits, as far as they change a matching file, in this order. */
export async function* readGroup(mirror: string, shas: string[], options: LogOptions): AsyncGenerator<Commit> {
  let read = 0
  try {
    for await (const commit of readListed(mirror, shas, options)) {
      read = shas.indexOf(commit.sha, read) + 1
      if (commit.files.length > 0) yield commit
    }
  } catch (error) {
    if (!(error instanceof GitLimitError)) throw error
    const rest = shas.slice(read)
    const [only] = rest
    if (rest.length === 1 && only !== undefined) {
      const commit = await readOversized(mirror, only, options)
      if (commit.files.length > 0) yield commit
      return
    }
    const half = Math.ceil(rest.length / 2)
    yield* readGroup(mirror, rest.slice(0, half), options)
    yield* readGroup(mirror, rest.slice(half), options)
  }
}

const emptyTrees = new Map([
  [40, '4b825dc642cb6eb9a060e54bf8d69288fbee4904'],
  [64, '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321'],
])

/** A commit that `git log` cannot print within its limits: without the message, and with as many files as the limits allow. */
async function readOversized(mirror: string, sha: string, options: LogOptions): Promise<Commit> {
  const commit = await withinLimit(readHeader(mirror, sha), () => readDates(mirror, sha))
  const readFiles = async () => {
    const [parent] = commit.parents
    const before = parent === undefined ? (emptyTrees.get(sha.length) as string) : await readTree(mirror, parent)
    const after = await readTree(mirror, sha)
    // Comparing the contents of moved files may be what exceeds the limits.
    return withinLimit(readDiff(mirror, before, after, options), () =>
      readDiff(mirror, before, after, { ...options, similarity: 100 }),
    )
  }
  const changes = await withinLimit(readFiles(), () => ({ files: [], tooLarge: true }))
  return { ...commit, ...changes, tooLarge: true }
}

/** What `rev-list` knows of a commit whose people git cannot read within its limits. */
async function readDates(mirror: string, sha: string): Promise<Commit> {
  const listed = await git(['rev-list', '--no-walk', '--timestamp', '--parents', sha, '--'], { mirror })
  const [seconds, , ...parents] = decode(listed).trim().split(' ')
  const at = Number(seconds) * 1_000
  const unknown = { name: '', email: '' }
  const people = { author: unknown, committer: unknown, committedAt: at, authoredAt: at }
  return { sha, parents, ...people, message: '', files: [], tooLarge: true }
}
