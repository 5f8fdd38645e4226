import { decode, decodePath, splitAtNul } from './bytes.ts'
import { git, gitOutput } from './run.ts'

export interface Person {
  name: string
  email: string
}

export interface FileChange {
  /** The path before the change: null for a new file, different from `path` for a moved one. */
  oldPath: string | null
  /** The path after the change. For a deleted file, its last path. */
  path: string
  oldBlob: string | null
  newBlob: string | null
}

export interface Commit {
  sha: string
  parents: string[]
  author: Person
  committer: Person
  committedAt: number
  authoredAt: number
  message: string
  files: FileChange[]
}

export interface LogOptions {
  /** A glob in git's syntax: `**` matches across folders, `*` does not. */
  pattern: string
  /** The percentage of a file that must stay the same to detect a move. At 100, git only compares blob hashes. */
  similarity: number
}

// No message, name or path can contain NUL, so untrusted text cannot forge a separator.
const format = '%H%x00%P%x00%an%x00%ae%x00%cn%x00%ce%x00%ct%x00%at%x00%B%x00'
const timeoutMs = 10 * 60_000

/** Streams `git log` with the files that each commit changed compared with its first parent. */
export async function* readLog(mirror: string, revisions: string[], options: LogOptions): AsyncGenerator<Commit> {
  const args = ['log', ...diffOptions(options), '--diff-merges=first-parent', '--encoding=UTF-8', `--format=${format}`]
  yield* parseLog(gitOutput([...args, ...revisions, '--', pathspec(options.pattern)], { mirror, timeoutMs }))
}

/** The files that differ between two commits. */
export async function readDiff(mirror: string, from: string, to: string, options: LogOptions): Promise<FileChange[]> {
  const args = ['diff', ...diffOptions(options), from, to, '--', pathspec(options.pattern)]
  const fields = splitAtNul(gitOutput(args, { mirror }))
  const files: FileChange[] = []
  try {
    for (let next = await fields.next(); !next.done; next = await fields.next()) {
      files.push(await parseFile(next.value, fields))
    }
  } finally {
    await fields.return(undefined)
  }
  return files.filter(isEdit)
}

/** Commits without their files, newest first. */
export async function readCommits(mirror: string, revisions: string[]): Promise<Commit[]> {
  return Array.fromAsync(streamCommits(mirror, revisions))
}

/** Streams commits without their files, newest first. */
export async function* streamCommits(mirror: string, revisions: string[]): AsyncGenerator<Commit> {
  const args = ['log', '-z', '--no-patch', '--encoding=UTF-8', `--format=${format}`, ...revisions, '--']
  yield* parseLog(gitOutput(args, { mirror, timeoutMs }))
}

export async function isAncestor(mirror: string, ancestor: string, commit: string): Promise<boolean> {
  const found = await git(['rev-list', '-n', '1', ancestor, `^${commit}`, '--'], { mirror })
  return found.length === 0
}

/** The common ancestor of two commits; null if they have none. */
export async function mergeBase(mirror: string, a: string, b: string): Promise<string | null> {
  try {
    return decode(await git(['merge-base', a, b], { mirror })).trim()
  } catch {
    return null
  }
}

function diffOptions({ similarity }: LogOptions): string[] {
  return ['--raw', '--no-abbrev', '-z', '-r', `-M${similarity}%`, '--no-ext-diff', '--no-textconv', '--no-color']
}

function pathspec(pattern: string): string {
  return `:(glob)${pattern}`
}

async function* parseLog(chunks: AsyncIterable<Buffer>): AsyncGenerator<Commit> {
  const fields = splitAtNul(chunks)
  try {
    let next = await fields.next()
    while (!next.done) {
      const commit = await parseCommit(next.value, fields)
      next = await fields.next()
      while (!next.done && isFileRecord(next.value)) {
        commit.files.push(await parseFile(next.value, fields))
        next = await fields.next()
      }
      commit.files = commit.files.filter(isEdit)
      yield commit
    }
  } finally {
    // Stops git when the consumer stops reading early.
    await fields.return(undefined)
  }
}

async function parseCommit(field: Buffer, fields: AsyncGenerator<Buffer>): Promise<Commit> {
  const sha = decode(field)
  if (!/^[0-9a-f]{40,64}$/.test(sha))
    throw new Error(`git log printed ${JSON.stringify(sha)} where a commit hash was expected`)
  const [parents, an, ae, cn, ce, committed, authored, message] = await take(fields, 9)
  return {
    sha,
    parents: decode(parents).split(' ').filter(Boolean),
    author: { name: decode(an), email: decode(ae) },
    committer: { name: decode(cn), email: decode(ce) },
    committedAt: instant(committed),
    authoredAt: instant(authored),
    message: decode(message),
    files: [],
  }
}

type Nine = [Buffer, Buffer, Buffer, Buffer, Buffer, Buffer, Buffer, Buffer, Buffer]

async function take(fields: AsyncGenerator<Buffer>, count: number): Promise<Nine> {
  const taken: Buffer[] = []
  while (taken.length < count) {
    const next = await fields.next()
    if (next.done) throw new Error('git log output ended in the middle of a commit')
    taken.push(next.value)
  }
  return taken as Nine
}

const colon = 0x3a
const lineFeed = 0x0a

function isFileRecord(field: Buffer): boolean {
  return field[0] === colon || (field[0] === lineFeed && field[1] === colon)
}

const fileRecord = /^\n?:(\d+) (\d+) ([0-9a-f]+) ([0-9a-f]+) ([A-Z])\d*$/

async function parseFile(field: Buffer, fields: AsyncGenerator<Buffer>): Promise<FileChange> {
  const [, oldMode, newMode, oldId, newId, status] = fileRecord.exec(decode(field)) ?? []
  if (oldId === undefined || newId === undefined)
    throw new Error('git printed an unexpected line where a changed file was expected')
  const [first] = await take(fields, 1)
  const moved = status === 'R' || status === 'C'
  const path = moved ? (await take(fields, 1))[0] : first
  const oldBlob = blobOrNull(oldMode, oldId)
  return {
    oldPath: oldBlob === null || status === 'C' ? null : decodePath(first),
    path: decodePath(path),
    oldBlob: status === 'C' ? null : oldBlob,
    newBlob: blobOrNull(newMode, newId),
  }
}

const submodule = '160000'

/** A submodule is not a file. */
function blobOrNull(mode: string | undefined, id: string): string | null {
  return mode === submodule || /^0+$/.test(id) ? null : id
}

/** A change of file mode alone is not an edit. */
function isEdit({ oldPath, path, oldBlob, newBlob }: FileChange): boolean {
  return oldBlob !== newBlob || (oldBlob !== null && oldPath !== path)
}

// Git accepts any date. One outside 1970 to 9999 becomes 1970-01-01.
function instant(seconds: Buffer): number {
  const at = Number(decode(seconds)) * 1_000
  return Number.isSafeInteger(at) && at >= 0 && at < 253_402_300_800_000 ? at : 0
}
