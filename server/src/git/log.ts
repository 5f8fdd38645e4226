import { decode, splitAtNul } from './bytes.ts'
import type { Changes, Commit, LogOptions } from './commit.ts'
import { changesOf, parseCommits, parseHeaders } from './log-output.ts'
import { revList } from './rev-list.ts'
import { GitError, GitLimitError, git, gitOutput, originalParents } from './run.ts'

// No message, name or path can contain NUL, so untrusted text cannot forge a separator.
const header = '%H%x00%P%x00%an%x00%ae%x00%cn%x00%ce%x00%ct%x00%at%x00'
const withMessage = `${header}%B%x00`
const withoutMessage = `${header}%x00`
const headerLines = '%H%n%P%n%an%n%ae%n%cn%n%ce%n%ct%n%at%n'
const logTimeoutMs = 5 * 60_000
const diffTimeoutMs = 60_000
const maxMessageBytes = 64 * 1024
// Enough for the subject, which is all that callers need of commits without files.
const maxSubjectBytes = 4 * 1024

/** Streams `git log` with the files that each commit changed compared with its first parent. */
export function readLog(mirror: string, revisions: string[], options: LogOptions): AsyncGenerator<Commit> {
  return logWithFiles(mirror, withMessage, revisions, options)
}

/**
 * Like `readLog`, for these commits, in this order. git prints each commit as soon as it has read it and diffs its trees once;
 * `git log --reverse` first reads all of them, and diffs them twice to leave out those that change no matching file.
 */
export function readListed(mirror: string, shas: string[], options: LogOptions): AsyncGenerator<Commit> {
  const args = ['diff-tree', '--stdin', '--root', ...diffOptions(options), ...commitOptions(withMessage)]
  const input = shas.map((sha) => `${sha}\n`).join('')
  const limits = { mirror, input, timeoutMs: logTimeoutMs }
  return parseCommits(gitOutput([...args, '--', ...pathspecsOf(options)], limits), options, maxMessageBytes)
}

/** Like `readLog`, with an empty message. */
export function readAuthors(mirror: string, revisions: string[], options: LogOptions): AsyncGenerator<Commit> {
  return logWithFiles(mirror, withoutMessage, revisions, options)
}

function logWithFiles(mirror: string, format: string, revisions: string[], options: LogOptions) {
  const args = ['log', ...diffOptions(options), ...commitOptions(format)]
  const output = gitOutput([...args, ...revisions, '--', ...pathspecsOf(options)], { mirror, timeoutMs: logTimeoutMs })
  return parseCommits(output, options, maxMessageBytes)
}

/** The files that differ between two commits. */
export async function readDiff(mirror: string, from: string, to: string, options: LogOptions): Promise<Changes> {
  const args = ['diff', ...diffOptions(options), from, to, '--', ...pathspecsOf(options)]
  return changesOf(gitOutput(args, { mirror, timeoutMs: diffTimeoutMs }), options)
}

/** Commits without their files, newest first. Long messages are cut. */
export async function readCommits(mirror: string, revisions: string[]): Promise<Commit[]> {
  return Array.fromAsync(streamCommits(mirror, revisions))
}

// git holds the messages of all listed commits in memory before it prints the first.
const listedPerProcess = 5_000

/** Streams those of these commits that git has, without their files, in this order. Long messages are cut. */
export async function* streamListed(mirror: string, shas: string[]): AsyncGenerator<Commit> {
  for (let start = 0; start < shas.length; start += listedPerProcess) {
    const input = shas.slice(start, start + listedPerProcess).join('\n')
    const args = [...withoutFiles(`${headerLines}%B`), '--no-walk=unsorted', '--ignore-missing', '--stdin']
    yield* parseHeaders(gitOutput(args, { mirror, input, timeoutMs: logTimeoutMs }), maxSubjectBytes)
  }
}

/** Streams commits without their files, newest first. Long messages are cut. */
export function streamCommits(mirror: string, revisions: string[]): AsyncGenerator<Commit> {
  return commitsWithoutFiles(mirror, `${headerLines}%B`, revisions)
}

/** A commit as far as its message can tell of a merge. */
export type MergeText = Pick<Commit, 'sha' | 'parents' | 'committer' | 'committedAt' | 'message'>

/** Streams commits, newest first, with the parents in the order of the remote instead of that of our mirror (`mainline.ts`). */
export async function* streamOriginals(mirror: string, revisions: string[]): AsyncGenerator<MergeText> {
  const format = '--format=%H%n%P%n%cn%n%ce%n%ct%n%B'
  const args = ['log', '-z', '--no-patch', '--encoding=UTF-8', format, ...revisions, '--']
  const output = gitOutput(args, { mirror, env: originalParents, timeoutMs: logTimeoutMs })
  for await (const field of splitAtNul(output, maxMessageBytes)) {
    const [sha = '', parents = '', name = '', email = '', seconds, ...message] = decode(field).split('\n')
    yield {
      sha,
      parents: parents.split(' ').filter(Boolean),
      committer: { name, email },
      committedAt: Number(seconds) * 1_000,
      message: message.join('\n'),
    }
  }
}

/** Like `streamCommits`, with messages that are long enough for the trailers at their end. */
export function streamMessages(mirror: string, revisions: string[]): AsyncGenerator<Commit> {
  return commitsWithoutFiles(mirror, `${headerLines}%B`, revisions, maxMessageBytes)
}

/** A commit without its files and its message. */
export async function readHeader(mirror: string, sha: string): Promise<Commit> {
  const [commit] = await Array.fromAsync(commitsWithoutFiles(mirror, headerLines, ['--no-walk', sha]))
  return commit as Commit
}

function commitsWithoutFiles(mirror: string, format: string, revisions: string[], maxBytes = maxSubjectBytes) {
  const args = [...withoutFiles(format), ...revisions, '--']
  return parseHeaders(gitOutput(args, { mirror, timeoutMs: logTimeoutMs }), maxBytes)
}

function withoutFiles(format: string): string[] {
  return ['log', '-z', '--no-patch', '--encoding=UTF-8', `--format=${format}`]
}

/** The tree of a commit. A diff of two trees does not hold the messages of their commits in memory. */
export async function readTree(mirror: string, commit: string): Promise<string> {
  return decode(await git(['rev-parse', '--verify', '--end-of-options', `${commit}^{tree}`], { mirror })).trim()
}

export async function isAncestor(mirror: string, ancestor: string, commit: string): Promise<boolean> {
  return (await revList(mirror, ['-n', '1', ancestor, `^${commit}`])).length === 0
}

/** The common ancestor of two commits; null if they have none. */
export async function mergeBase(mirror: string, a: string, b: string): Promise<string | null> {
  try {
    return decode(await git(['merge-base', a, b], { mirror })).trim()
  } catch (error) {
    if (error instanceof GitLimitError) throw error
    return null
  }
}

/** The same, but throws if git fails. */
export async function commonAncestor(mirror: string, a: string, b: string): Promise<string | null> {
  try {
    return decode(await git(['merge-base', a, b], { mirror })).trim()
  } catch (error) {
    if (error instanceof GitError && error.exitCode === 1) return null
    throw error
  }
}

function commitOptions(format: string): string[] {
  return ['--diff-merges=first-parent', '--encoding=UTF-8', `--format=${format}`]
}

// git compares every file that is gone with every new one, unless their names or contents are the same. Beyond this many of
// either, it leaves the others unmoved.
const maxRenameCandidates = 1_000

function diffOptions({ similarity }: LogOptions): string[] {
  const renames = [`-M${similarity}%`, `-l${maxRenameCandidates}`]
  return ['--raw', '--no-abbrev', '-z', '-r', ...renames, '--no-ext-diff', '--no-textconv', '--no-color']
}

function pathspecsOf({ pathspecs, onlyPaths }: LogOptions): string[] {
  return onlyPaths?.map((path) => `:(literal)${path}`) ?? pathspecs
}
