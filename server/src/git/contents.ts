import { decode, decodePath, splitAtNul } from './bytes.ts'
import { GitError, git, gitOutput } from './run.ts'

const maxPatchBytes = 4 * 1024 * 1024

/** The text of a blob of this size; null if the mirror lacks it. */
export async function readText(mirror: string, blob: string, size: number): Promise<string | null> {
  try {
    return decode(await git(['cat-file', 'blob', blob], { mirror, maxBytes: size }))
  } catch (error) {
    if (error instanceof GitError) return null
    throw error
  }
}

const maxListedFiles = 1_000_000
const maxPathBytes = 4_000

/** The paths of the files of a commit, up to a million. */
export async function* listFiles(mirror: string, commit: string): AsyncGenerator<string> {
  let count = 0
  for await (const path of splitAtNul(
    gitOutput(['ls-tree', '-r', '-z', '--name-only', commit], { mirror }),
    maxPathBytes,
  )) {
    if (++count > maxListedFiles) break
    yield decodePath(path)
  }
}

/** The blob at a path of a commit; null if there is none. */
export async function findBlob(mirror: string, commit: string, path: string): Promise<string | null> {
  try {
    return decode(
      await git(['rev-parse', '--verify', '--quiet', '--end-of-options', `${commit}:${path}`], { mirror }),
    ).trim()
  } catch (error) {
    if (error instanceof GitError) return null
    throw error
  }
}

/** The unified diff between two blobs, up to 4 MiB. A null blob stands for a file that does not exist. */
export async function readPatch(
  mirror: string,
  path: { old: string; new: string },
  before: string | null,
  after: string | null,
): Promise<string | null> {
  try {
    const blobs = [before ?? (await writeEmptyBlob(mirror)), after ?? (await writeEmptyBlob(mirror))]
    const diff = decode(
      await git(['diff', '--no-color', '--no-ext-diff', '--no-textconv', '--text', ...blobs], {
        mirror,
        maxBytes: maxPatchBytes,
      }),
    )
    // Replace git's header, which names blob hashes, with one that names paths.
    const start = diff.indexOf('\n@@ ')
    const hunks = start === -1 ? '' : diff.slice(start + 1)
    return `--- ${label('a', path.old, before)}\n+++ ${label('b', path.new, after)}\n${hunks}`
  } catch (error) {
    if (error instanceof GitError) return null
    throw error
  }
}

/** Written every time it is needed, because the mirror may have been created again. */
async function writeEmptyBlob(mirror: string): Promise<string> {
  return decode(await git(['hash-object', '-w', '--stdin'], { mirror, input: '' })).trim()
}

function label(side: string, path: string, blob: string | null): string {
  if (blob === null) return '/dev/null'
  const name = `${side}/${path}`
  // Like git, quote a name that could break the line.
  return /[\p{Cc}"\\]/u.test(name) ? JSON.stringify(name) : name
}

const maxRecordBytes = 4_200

/** What `git ls-tree` lists. */
export async function* listTree(mirror: string, args: string[]) {
  for await (const record of splitAtNul(gitOutput(['ls-tree', '-z', ...args], { mirror }), maxRecordBytes)) {
    const text = decodePath(record)
    const tab = text.indexOf('\t')
    const [mode = '', type, blob = ''] = text.slice(0, tab).split(' ')
    yield { mode, type, blob, path: text.slice(tab + 1) }
  }
}

/** The blobs at these paths of a commit. Paths without a file are absent. */
export async function listBlobs(mirror: string, commit: string, paths: string[]): Promise<Map<string, string>> {
  const wanted = new Set(paths)
  const blobs = new Map<string, string>()
  for await (const { type, blob, path } of listTree(mirror, ['-r', commit])) {
    if (type === 'blob' && wanted.has(path)) blobs.set(path, blob)
  }
  return blobs
}
