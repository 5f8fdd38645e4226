import { decode, decodePath, splitAtNul } from './bytes.ts'
import { GitError, git, gitOutput } from './run.ts'

const maxRecordBytes = 4_200

/** The best common ancestor of two commits; null if they have none. */
export async function mergeBase(mirror: string, a: string, b: string): Promise<string | null> {
  try {
    return decode(await git(['merge-base', a, b], { mirror })).trim() || null
  } catch (error) {
    if (error instanceof GitError && error.exitCode === 1) return null
    throw error
  }
}

/** The blobs at these paths of a commit. Paths without a file are absent. */
export async function listBlobs(mirror: string, commit: string, paths: string[]): Promise<Map<string, string>> {
  const wanted = new Set(paths)
  const blobs = new Map<string, string>()
  for await (const record of splitAtNul(gitOutput(['ls-tree', '-r', '-z', commit], { mirror }), maxRecordBytes)) {
    const [facts = '', path = ''] = splitAtTab(decodePath(record))
    const [, type, blob = ''] = facts.split(' ')
    if (type === 'blob' && wanted.has(path)) blobs.set(path, blob)
  }
  return blobs
}

function splitAtTab(text: string): [string, string] {
  const at = text.indexOf('\t')
  return [text.slice(0, at), text.slice(at + 1)]
}
