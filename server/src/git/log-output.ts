import { decode, decodePath, splitAtNul } from './bytes.ts'
import type { Changes, Commit, FileChange, LogOptions } from './commit.ts'
import { GitLimitError } from './run.ts'

// About 500,000 paths. More than any change of prompts, and read in a few seconds.
const maxChangeBytes = 64 * 1024 * 1024
// Longer than any hand-written path, and short enough to index on both engines.
const maxPathBytes = 2_000
const maxFieldBytes = 64 * 1024

/** The files of a `git diff`. Stops git when its output exceeds 64 MiB. */
export async function changesOf(chunks: AsyncIterable<Buffer>, options: LogOptions): Promise<Changes> {
  const fields = splitAtNul(chunks, maxFieldBytes)
  const files = collectFiles(options)
  try {
    for (let next = await fields.next(); !next.done; next = await fields.next()) {
      if (!(await files.read(next.value, fields))) break
    }
  } finally {
    await fields.return(undefined)
  }
  return files.changes()
}

/** The commits of a `git log` with our format, and their files. */
export async function* parseCommits(
  chunks: AsyncIterable<Buffer>,
  options: LogOptions,
  maxMessageBytes: number,
): AsyncGenerator<Commit> {
  const fields = splitAtNul(chunks, Math.max(maxMessageBytes, maxPathBytes + 1))
  try {
    let next = await fields.next()
    while (!next.done) {
      const commit = await parseCommit(next.value, fields, maxMessageBytes)
      const files = collectFiles(options)
      next = await fields.next()
      while (!next.done && isFileRecord(next.value)) {
        if (!(await files.read(next.value, fields))) {
          throw new GitLimitError('log', `printed more than ${maxChangeBytes} bytes for one commit`)
        }
        next = await fields.next()
      }
      const changes = files.changes()
      yield { ...commit, files: changes.files, tooLarge: commit.tooLarge || changes.tooLarge }
    }
  } finally {
    // Stops git when the consumer stops reading early.
    await fields.return(undefined)
  }
}

const headerLines = 8
// Of the parents, some eighty.
const maxLineBytes = 4_000

/**
 * The commits of a `git log` without files, whose format has one line for each part and the message last. A name cannot contain a
 * line feed. Three times as fast as one field for each part, which matters where every commit of a repository is read.
 */
export async function* parseHeaders(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Commit> {
  for await (const field of splitAtNul(chunks, maxBytes)) {
    const parts: string[] = []
    let start = 0
    // Each part is decoded on its own: a slice of the decoded text would keep the whole message in memory with the hash.
    while (parts.length < headerLines) {
      const end = field.indexOf(lineFeed, start)
      const length = (end === -1 ? field.length : end) - start
      parts.push(field.toString('utf8', start, start + Math.min(length, maxLineBytes)))
      start += length + 1
    }
    const [sha = '', parents = '', an = '', ae = '', cn = '', ce = '', committed = '', authored = ''] = parts
    checkHash(sha)
    yield {
      sha,
      parents: hashesIn(parents, sha.length),
      author: { name: an, email: ae },
      committer: { name: cn, email: ce },
      committedAt: instant(committed),
      authoredAt: instant(authored),
      message: field.toString('utf8', Math.min(start, field.length)),
      files: [],
      tooLarge: field.length >= maxBytes,
    }
  }
}

/** Reads the files of one change, and keeps at most twice `maxFiles`. */
function collectFiles({ matches, maxFiles, isKnown }: LogOptions) {
  const files: FileChange[] = []
  let count = 0
  let bytes = 0
  return {
    /** Reads one file. Returns false if the change exceeds the limit of bytes. */
    async read(field: Buffer, fields: AsyncGenerator<Buffer>): Promise<boolean> {
      const record = await parseFile(field, fields)
      bytes += record.bytes
      const file = matchingFile(record.file, matches)
      if (file !== null && isEdit(file)) {
        count++
        const isKept = count <= maxFiles || (files.length < 2 * maxFiles && isKnown(file.oldPath ?? file.path))
        if (isKept && Buffer.byteLength(file.path) <= maxPathBytes) files.push(file)
      }
      return bytes <= maxChangeBytes
    },
    changes: (): Changes => ({ files, tooLarge: count > maxFiles || bytes > maxChangeBytes }),
  }
}

/** A file that moves into or out of what the glob matches was added or deleted as far as prompts are concerned. */
function matchingFile(file: FileChange, matches: LogOptions['matches']): FileChange | null {
  if (matches === null) return file
  const { oldPath, path } = file
  const isNewMatch = matches(path)
  if (oldPath === null || oldPath === path) return isNewMatch ? file : null
  const isOldMatch = matches(oldPath)
  if (isOldMatch && !isNewMatch) return { ...file, path: oldPath, newBlob: null }
  if (isNewMatch && !isOldMatch) return { ...file, oldPath: null, oldBlob: null }
  return isNewMatch ? file : null
}

async function parseCommit(field: Buffer, fields: AsyncGenerator<Buffer>, maxMessageBytes: number): Promise<Commit> {
  const sha = decode(field)
  checkHash(sha)
  const [parents, an, ae, cn, ce, committed, authored, message] = await take(fields, 9)
  return {
    sha,
    parents: hashesIn(decode(parents), sha.length),
    author: { name: decodeName(an), email: decodeName(ae) },
    committer: { name: decodeName(cn), email: decodeName(ce) },
    committedAt: instant(decode(committed)),
    authoredAt: instant(decode(authored)),
    message: decode(message.subarray(0, maxMessageBytes)),
    files: [],
    tooLarge: message.length >= maxMessageBytes,
  }
}

function hashesIn(line: string, length: number): string[] {
  // Not filtered: the result of `filter` has room for 16 more, which counts where every head of a repository is kept.
  const hashes = line.split(' ')
  // Empty without parents, and incomplete if the list was cut.
  if (hashes.at(-1)?.length !== length) hashes.pop()
  return hashes
}

function checkHash(sha: string): void {
  if (/^[0-9a-f]{40,64}$/.test(sha)) return
  throw new Error(`git log printed ${JSON.stringify(sha.slice(0, 100))} where a commit hash was expected`)
}

const maxNameBytes = 4_000

function decodeName(name: Buffer): string {
  return decode(name.subarray(0, maxNameBytes))
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

async function parseFile(field: Buffer, fields: AsyncGenerator<Buffer>): Promise<{ file: FileChange; bytes: number }> {
  const [, oldMode, newMode, oldId, newId, status] = fileRecord.exec(decode(field)) ?? []
  if (oldId === undefined || newId === undefined)
    throw new Error('git printed an unexpected line where a changed file was expected')
  const [first] = await take(fields, 1)
  const moved = status === 'R' || status === 'C'
  const path = moved ? (await take(fields, 1))[0] : first
  const oldBlob = blobOrNull(oldMode, oldId)
  const file = {
    oldPath: oldBlob === null || status === 'C' ? null : decodePath(first),
    path: decodePath(path),
    oldBlob: status === 'C' ? null : oldBlob,
    newBlob: blobOrNull(newMode, newId),
  }
  return { file, bytes: field.length + first.length + path.length }
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
function instant(seconds: string): number {
  const at = Number(seconds) * 1_000
  return Number.isSafeInteger(at) && at >= 0 && at < 253_402_300_800_000 ? at : 0
}
