import { isUtf8 } from 'node:buffer'
import { type Clone, gitBytes } from './git.ts'
import type { LineCommit } from './line.ts'

export interface Change {
  path: string
  /** Null for a new file, different from `path` for a moved one. */
  oldPath: string | null
  oldBlob: string | null
  newBlob: string | null
}

export interface ChangeOptions {
  glob: string
  similarity: number
}

/**
 * The files that each commit of the line changed compared with the commit before it, in the order of the line. Skips
 * commits that change none.
 */
export async function* readChanges(
  clone: Clone,
  commits: LineCommit[],
  { glob, similarity }: ChangeOptions,
): AsyncGenerator<{ sha: string; changes: Change[] }> {
  const options = ['--stdin', '--root', '-r', '-z', '--raw', '--no-abbrev', `-M${similarity}%`]
  const paths = withoutBraces(glob).map((pattern) => `:(glob)${pattern}`)
  const fields = gitBytes(clone, ['diff-tree', ...options, '--', ...paths], '\0', pairs(commits))
  let sha = ''
  let changes: Change[] = []
  for await (const field of fields) {
    const record = field.toString()
    if (!record.startsWith(':')) {
      if (changes.length > 0) yield { sha, changes }
      sha = record
      changes = []
      continue
    }
    const change = await readChange(record, fields)
    if (isEdit(change)) changes.push(change)
  }
  if (changes.length > 0) yield { sha, changes }
}

function* pairs(commits: LineCommit[]): Generator<string> {
  for (const { sha, before } of commits) yield before === null ? `${sha}\n` : `${sha} ${before}\n`
}

async function readChange(record: string, fields: AsyncGenerator<Buffer>): Promise<Change> {
  const [oldMode, newMode, oldId = '', newId = '', status = ''] = record.slice(1).split(' ')
  const first = await nextPath(fields)
  const isMove = status.startsWith('R')
  const path = isMove ? await nextPath(fields) : first
  const oldBlob = blobOf(oldMode, oldId)
  return { path, oldPath: oldBlob === null ? null : first, oldBlob, newBlob: blobOf(newMode, newId) }
}

async function nextPath(fields: AsyncGenerator<Buffer>): Promise<string> {
  const { value } = await fields.next()
  return shown(value as Buffer)
}

const submodule = '160000'

function blobOf(mode: string | undefined, id: string): string | null {
  return mode === submodule || /^0+$/.test(id) ? null : id
}

/** A change of file mode alone is none. */
function isEdit({ path, oldPath, oldBlob, newBlob }: Change): boolean {
  return oldBlob !== newBlob || (oldBlob !== null && path !== oldPath)
}

/** The path as the API shows it: bytes that are not UTF-8 as `\xHH`. */
function shown(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString()
  const [head, rest] = [bytes.subarray(0, 1), bytes.subarray(1)]
  for (let length = 1; length <= 4 && length <= bytes.length; length++) {
    const character = bytes.subarray(0, length)
    if (isUtf8(character)) return character.toString() + (length < bytes.length ? shown(bytes.subarray(length)) : '')
  }
  return `\\x${head.toString('hex')}${rest.length > 0 ? shown(rest) : ''}`
}

/** `a.{md,txt}` as `a.md` and `a.txt`, because git has no braces. */
export function withoutBraces(glob: string): string[] {
  const [whole, start = '', choices, end = ''] = /^(.*?)\{([^{}]*,[^{}]*)\}(.*)$/s.exec(glob) ?? []
  if (whole === undefined || choices === undefined) return [glob]
  return choices.split(',').flatMap((choice) => withoutBraces(start + choice + end))
}
