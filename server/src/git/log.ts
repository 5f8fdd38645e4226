import { decode, decodePath, nulFields } from './bytes.ts'
import { git, gitOutput } from './run.ts'

export interface Person {
  name: string
  email: string
}

export interface FileChange {
  /** Null where the file is new, and `path` tells where it went; equal to `path` where it stayed. */
  oldPath: string | null
  /** The path it has now or, where it is gone, had. */
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
  /** Which files, as a glob in git's manner: `**` spans folders, `*` does not. */
  pattern: string
  /** How much of a file must stay, in per cent, for a move to count as one. 100 compares names of contents only. */
  similarity: number
}

// NUL is the one byte that no message, name or path can hold, so nothing that somebody wrote can pass for a separator.
const format = '%H%x00%P%x00%an%x00%ae%x00%cn%x00%ce%x00%ct%x00%at%x00%B%x00'
const longest = 10 * 60_000

/** Reads `git log` for the revisions given, with the files of each commit as against its first parent. */
export async function* readLog(mirror: string, revisions: string[], options: LogOptions): AsyncGenerator<Commit> {
  const args = ['log', ...diffOptions(options), '--diff-merges=first-parent', '--encoding=UTF-8', `--format=${format}`]
  yield* parseLog(gitOutput([...args, ...revisions, '--', pathspec(options.pattern)], { mirror, timeout: longest }))
}

/** The files that differ between two commits. */
export async function readDiff(mirror: string, from: string, to: string, options: LogOptions): Promise<FileChange[]> {
  const args = ['diff', ...diffOptions(options), from, to, '--', pathspec(options.pattern)]
  const fields = nulFields(gitOutput(args, { mirror }))
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

/** The same as they come. */
export async function* streamCommits(mirror: string, revisions: string[]): AsyncGenerator<Commit> {
  const args = ['log', '-z', '--no-patch', '--encoding=UTF-8', `--format=${format}`, ...revisions, '--']
  yield* parseLog(gitOutput(args, { mirror, timeout: longest }))
}

export async function isAncestor(mirror: string, ancestor: string, commit: string): Promise<boolean> {
  const found = await git(['rev-list', '-n', '1', ancestor, `^${commit}`, '--'], { mirror })
  return found.length === 0
}

/** Where two lines of history parted, null where they have nothing in common. */
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
  const fields = nulFields(chunks)
  try {
    let next = await fields.next()
    while (!next.done) {
      const commit = await parseCommit(next.value, fields)
      next = await fields.next()
      while (!next.done && isRecord(next.value)) {
        commit.files.push(await parseFile(next.value, fields))
        next = await fields.next()
      }
      commit.files = commit.files.filter(isEdit)
      yield commit
    }
  } finally {
    // Whoever has read enough ends git with it.
    await fields.return(undefined)
  }
}

async function parseCommit(field: Buffer, fields: AsyncGenerator<Buffer>): Promise<Commit> {
  const sha = decode(field)
  if (!/^[0-9a-f]{40,64}$/.test(sha)) throw new Error(`git log gave ${JSON.stringify(sha)} in the place of a commit`)
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
    if (next.done) throw new Error('git log ended in the middle of a commit')
    taken.push(next.value)
  }
  return taken as Nine
}

const colon = 0x3a
const lineFeed = 0x0a

function isRecord(field: Buffer): boolean {
  return field[0] === colon || (field[0] === lineFeed && field[1] === colon)
}

const record = /^\n?:(\d+) (\d+) ([0-9a-f]+) ([0-9a-f]+) ([A-Z])\d*$/

async function parseFile(field: Buffer, fields: AsyncGenerator<Buffer>): Promise<FileChange> {
  const [, oldMode, newMode, oldId, newId, status] = record.exec(decode(field)) ?? []
  if (oldId === undefined || newId === undefined) throw new Error('git gave something in the place of a changed file')
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

/** Another repository that is mounted there is no file. */
function blobOrNull(mode: string | undefined, id: string): string | null {
  return mode === submodule || /^0+$/.test(id) ? null : id
}

/** A file that only became executable has not changed. */
function isEdit({ oldPath, path, oldBlob, newBlob }: FileChange): boolean {
  return oldBlob !== newBlob || (oldBlob !== null && oldPath !== path)
}

// A date that nobody could have meant becomes the first instant there is.
function instant(seconds: Buffer): number {
  const at = Number(decode(seconds)) * 1_000
  return Number.isSafeInteger(at) && at >= 0 && at < 253_402_300_800_000 ? at : 0
}
