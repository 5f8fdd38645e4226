import type { EntryDetails } from '../domain/history/entry.ts'
import type { Blame, BlameState } from '../domain/repositories/repository-service.ts'
import { readBlame } from '../git/blame.ts'
import { readSizes } from '../git/blobs.ts'
import { findBlob } from '../git/contents.ts'
import { GitError, withinLimit } from '../git/run.ts'
import { mirrorWith, readTextUpTo } from './contents.ts'
import type { SyncContext } from './sync-context.ts'

// Git compares every version of the file. A prompt is far smaller.
const maxBytes = 1024 * 1024
const maxLines = 20_000
// Like git, which looks for a NUL at the start of a file.
const searchedForNul = 8_000

/** Reads which commits of the default branch last changed the lines of the prompt's text after a change. */
export async function readEntryBlame(context: SyncContext, entry: EntryDetails): Promise<Blame> {
  const { repositoryId, path, afterBlob, commitSha, action } = entry
  if (repositoryId === null || path === null) return without('unavailable')
  if (action !== 'deployed' && action !== 'pr_merged') return without('not_landed')
  if (afterBlob === null) return without('absent')
  const mirror = (await mirrorWith(context, entry))?.path
  // The commit may be gone, or have another text at this path.
  if (mirror === undefined || (await findBlob(mirror, commitSha, path)) !== afterBlob) return without('unavailable')
  const sizes = await readSizes(mirror, [afterBlob])
  const { text, state } = await readTextUpTo(mirror, afterBlob, sizes, maxBytes)
  if (text === null) return without(state)
  if (text.lastIndexOf('\0', searchedForNul) !== -1) return without('binary')
  if (countLines(text) > maxLines) return without('too_large')
  try {
    const lines = text === '' ? [] : await withinLimit(readBlame(mirror, commitSha, path), () => null)
    return lines === null ? without('too_large') : { state: 'available', text, lines }
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    context.log.warn({ err: error, repository: repositoryId }, 'could not read the blame from git')
    return without('unavailable')
  }
}

function without(state: BlameState): Blame {
  return { state, text: null, lines: [] }
}

function countLines(text: string): number {
  let count = text.endsWith('\n') || text === '' ? 0 : 1
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++
  return count
}
