import type { BlobTexts } from '../domain/repositories/repository-service.ts'
import { readTexts } from '../git/blobs.ts'
import { fetchBranch } from '../git/mirror.ts'
import { GitError } from '../git/run.ts'
import { openMirror } from './contents.ts'
import type { SyncContext } from './sync-context.ts'

/** Reads blobs that the mirror of a repository has, and that are texts of up to `maxBytes`. Never waits for the remote. */
export async function readBlobTexts(
  context: SyncContext,
  repositoryId: number,
  blobs: string[],
  maxBytes: number,
): Promise<BlobTexts> {
  const found: BlobTexts = { texts: new Map(), tooLarge: [] }
  try {
    const mirror = await openMirror(context, repositoryId, { fetchTimeoutMs: 0 })
    if (mirror === null) return found
    for await (const { blob, size, text } of readTexts(mirror.path, blobs, maxBytes)) {
      // PostgreSQL cannot store NUL, and no prompt has one.
      const isText = text !== null && !text.includes('\0')
      if (isText) found.texts.set(blob, text)
      else if (size !== null) found.tooLarge.push(blob)
    }
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    context.log.warn({ err: error, repository: repositoryId }, 'could not read texts from git')
  }
  return found
}

/** Fetches what is live, which this process may lack if another one syncs the repository. */
export async function fetchLiveTexts(context: SyncContext, repositoryId: number, timeoutMs: number): Promise<void> {
  await openMirror(context, repositoryId, {
    fetchTimeoutMs: timeoutMs,
    prepare: (mirror, { defaultBranch }) => fetchBranch(mirror, defaultBranch as string, timeoutMs),
  })
}
