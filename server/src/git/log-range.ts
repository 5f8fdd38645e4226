import { decode } from './bytes.ts'
import type { Commit, LogOptions } from './commit.ts'
import { readDiff, readHeader, readLog, readTree } from './log.ts'
import { GitLimitError, git, withinLimit } from './run.ts'

/**
 * The first parents from `from` (exclusive; null for the root) to `to`, oldest first. `git log` holds all their messages
 * in memory at once. If that exceeds its limit, they are read in smaller and smaller groups, so that one hostile commit
 * does not hide the others.
 */
export async function* readFirstParents(
  mirror: string,
  from: string | null,
  to: string,
  options: LogOptions,
): AsyncGenerator<Commit> {
  let last = from
  try {
    for await (const commit of readLog(mirror, ['--first-parent', '--reverse', ...revisions(from, to)], options)) {
      last = commit.sha
      yield commit
    }
  } catch (error) {
    if (!(error instanceof GitLimitError)) throw error
    const listed = await git(['rev-list', '--first-parent', '--reverse', ...revisions(last, to), '--'], { mirror })
    const shas = decode(listed).split('\n').filter(Boolean)
    for (let start = 0; start < shas.length; start += maxGroupSize) {
      yield* readGroup(mirror, shas.slice(start, start + maxGroupSize), options)
    }
  }
}

const maxGroupSize = 64

async function* readGroup(mirror: string, shas: string[], options: LogOptions): AsyncGenerator<Commit> {
  let read = 0
  try {
    for await (const commit of readLog(mirror, ['--no-walk=unsorted', ...shas], options)) {
      read = shas.indexOf(commit.sha) + 1
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
    return readDiff(mirror, before, await readTree(mirror, sha), options)
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

export function revisions(from: string | null, to: string): string[] {
  return from === null ? [to] : [to, `^${from}`]
}
