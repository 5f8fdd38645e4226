import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decode, decodePath, splitAtNul } from './bytes.ts'
import { listTree } from './contents.ts'
import { GitError, git, gitOutput, originalParents } from './run.ts'

/** How a file was before and after a change. A null blob stands for a file that does not exist. */
export interface UndoneFile {
  path: string
  /** Where the file was before the change, if it was moved. */
  oldPath: string | null
  before: string | null
  after: string | null
  /** The mode before the change, if it is known. */
  mode?: string
}

/** Files of a new tree. */
interface WrittenFile {
  path: string
  mode: string
  /** Null deletes the file. */
  blob: string | null
}

interface UndoneTree {
  /** Null if the commit has everything undone already. */
  tree: string | null
  /** Files whose later changes overlap with what is to be undone. */
  overlapping: string[]
}

const maxRecordBytes = 4_200
const regular = '100644'

/** The files that differ between two commits, up to `limit` and one more. Moves are a deletion and an addition. */
export async function readUndoneFiles(
  mirror: string,
  before: string,
  after: string,
  limit: number,
): Promise<UndoneFile[]> {
  const files: UndoneFile[] = []
  const args = ['diff-tree', '-r', '-z', '--no-renames', '--no-commit-id', before, after]
  let facts: string[] | null = null
  for await (const field of splitAtNul(gitOutput(args, { mirror }), maxRecordBytes)) {
    if (facts === null) {
      facts = decode(field).slice(1).split(' ')
      continue
    }
    const [mode = regular, , old = '', current = ''] = facts
    facts = null
    const blobs = { before: orNull(old), after: orNull(current) }
    files.push({ path: decodePath(field), oldPath: null, ...blobs, ...(blobs.before !== null && { mode }) })
    if (files.length > limit) break
  }
  return files
}

function orNull(blob: string): string | null {
  return /^0+$/.test(blob) ? null : blob
}

/**
 * The tree of `commit` without the change of these files. With `keepsLater`, later changes of a file stay, and are merged as `git revert`
 * does; otherwise the files get their texts from before. Written without a working tree, and without a merge of the whole
 * repository: git compares three texts for each file that has changed since.
 */
export async function undoInTree(
  mirror: string,
  commit: string,
  files: UndoneFile[],
  keepsLater: boolean,
): Promise<UndoneTree> {
  const current = await entriesAt(
    mirror,
    commit,
    files.flatMap(({ path, oldPath }) => [path, oldPath ?? path]),
  )
  const written: WrittenFile[] = []
  const overlapping: string[] = []
  for (const file of files) {
    const { path, before, after } = file
    const oldPath = file.oldPath ?? path
    const there = current.get(path)
    const isMoved = oldPath !== path
    const isAtOldPlace = isMoved && there === undefined && current.has(oldPath)
    const found = isAtOldPlace ? current.get(oldPath) : there
    const place = isAtOldPlace ? oldPath : path
    const text = await undoneText(mirror, found?.blob ?? null, before, after, keepsLater)
    const target = before === null ? path : oldPath
    if (text === 'overlap' || (isMoved && target !== place && current.has(target))) {
      overlapping.push(path)
      continue
    }
    if (text === (found?.blob ?? null) && place === target) continue
    if (place !== target && found !== undefined) written.push({ path: place, mode: found.mode, blob: null })
    written.push({ path: target, mode: found?.mode ?? file.mode ?? regular, blob: text })
  }
  if (overlapping.length > 0 || written.length === 0) return { tree: null, overlapping }
  return { tree: await writeTree(mirror, commit, written), overlapping }
}

/** The text without the change; null if the file is gone without it. */
async function undoneText(
  mirror: string,
  current: string | null,
  before: string | null,
  after: string | null,
  keepsLater: boolean,
): Promise<string | null | 'overlap'> {
  if (!keepsLater || current === after || current === before) return before
  if (current === null || before === null || after === null) return 'overlap'
  return mergeTexts(mirror, current, after, before)
}

const maxMergedBytes = 4 * 1024 * 1024

/** What `git revert` does with a text: takes the difference from `base` to `other` over to `current`. */
async function mergeTexts(mirror: string, current: string, base: string, other: string): Promise<string | 'overlap'> {
  const folder = await mkdtemp(join(tmpdir(), 'promptledger-undo-'))
  try {
    const paths: string[] = []
    for (const blob of [current, base, other]) {
      const path = join(folder, String(paths.length))
      await writeFile(path, await git(['cat-file', 'blob', blob], { mirror, maxBytes: maxMergedBytes }))
      paths.push(path)
    }
    const merged = await git(['merge-file', '-p', '--quiet', ...paths], { maxBytes: 3 * maxMergedBytes })
    const path = join(folder, 'merged')
    await writeFile(path, merged)
    return decode(await git(['hash-object', '-w', '--no-filters', '--', path], { mirror })).trim()
  } catch (error) {
    // Its exit code is the number of conflicts. It refuses binary files.
    if (error instanceof GitError) return 'overlap'
    throw error
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The files at these paths of a commit. */
async function entriesAt(
  mirror: string,
  commit: string,
  paths: string[],
): Promise<Map<string, { mode: string; blob: string }>> {
  const entries = new Map<string, { mode: string; blob: string }>()
  const wanted = [...new Set(paths)]
  const perProcess = 200
  for (let start = 0; start < wanted.length; start += perProcess) {
    // Paths, not patterns, unlike with most other commands.
    const args = ['--full-tree', commit, '--', ...wanted.slice(start, start + perProcess)]
    for await (const { mode, blob, path } of listTree(mirror, args)) entries.set(path, { mode, blob })
  }
  return entries
}

async function writeTree(mirror: string, commit: string, files: WrittenFile[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'promptledger-undo-'))
  const env = { GIT_INDEX_FILE: join(folder, 'index') }
  try {
    await git(['read-tree', commit], { mirror, env })
    const none = '0'.repeat(commit.length)
    // Deletions first: a file may take the place of a folder.
    const deleted = files.filter(({ blob }) => blob === null)
    const inOrder = [...deleted, ...files.filter(({ blob }) => blob !== null)]
    const input = inOrder
      .map(({ path, mode, blob }) => `${blob === null ? '0' : mode} ${blob ?? none}\t${path}\0`)
      .join('')
    await git(['update-index', '-z', '--index-info'], { mirror, env, input })
    return decode(await git(['write-tree'], { mirror, env })).trim()
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

interface NewCommit {
  tree: string
  parent: string
  message: string
  person: { name: string; email: string }
  /** In milliseconds. The same commit at the same time has the same hash. */
  at: number
}

export async function writeCommit(mirror: string, { tree, parent, message, person, at }: NewCommit): Promise<string> {
  const date = `${Math.floor(at / 1_000)} +0000`
  const env = {
    ...originalParents,
    GIT_AUTHOR_NAME: person.name,
    GIT_AUTHOR_EMAIL: person.email,
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_NAME: person.name,
    GIT_COMMITTER_EMAIL: person.email,
    GIT_COMMITTER_DATE: date,
  }
  return decode(await git(['commit-tree', tree, '-p', parent], { mirror, env, input: message })).trim()
}
