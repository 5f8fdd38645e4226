import type { EntryDetails } from '../domain/history/entry.ts'
import type { Repository } from '../domain/repositories/repository.ts'
import type { Contents } from '../domain/repositories/repository-service.ts'
import { forgeOf } from '../forges/index.ts'
import { readPatch, readText } from '../git/contents.ts'
import { ensureMirror, fetchBranch, fetchCommit, type Mirror, mirrorExists } from '../git/mirror.ts'
import { GitError } from '../git/run.ts'
import { mirrorOf, type SyncContext } from './sync-context.ts'

const noContents: Contents = { before: null, after: null, patch: null }

/** Reads the prompt's text before and after a change from the mirror. */
export async function readContents(context: SyncContext, entry: EntryDetails): Promise<Contents> {
  const mirror = await mirrorWith(context, entry)
  if (mirror === null) return noContents
  const { beforeBlob, afterBlob } = entry
  const [before, after] = await Promise.all([textOf(mirror, beforeBlob), textOf(mirror, afterBlob)])
  const isComplete = (beforeBlob === null || before !== null) && (afterBlob === null || after !== null)
  const path = entry.path as string
  const paths = { old: entry.oldPath ?? path, new: path }
  return { before, after, patch: isComplete ? await readPatch(mirror.path, paths, beforeBlob, afterBlob) : null }
}

async function textOf({ path }: Mirror, blob: string | null): Promise<string | null> {
  return blob === null ? null : readText(path, blob)
}

/** The mirror with the entry's commit. Creates the mirror if this process has none yet; null if git cannot provide it. */
async function mirrorWith(context: SyncContext, entry: EntryDetails): Promise<Mirror | null> {
  if (entry.repositoryId === null || entry.path === null) return null
  const repository = await context.store.repositories.find(entry.repositoryId)
  if (repository?.defaultBranch == null || repository.tip === null) return null
  const mirror = mirrorOf(context, repository)
  const isConnected = repository.disconnectedAt === null
  try {
    if (!mirrorExists(mirror.path)) {
      if (!isConnected) return null
      await createMirror(mirror, repository.defaultBranch, repository.tip)
    }
    // The commit can be missing if another process fetched it, or if only a pull request had it when the mirror was created.
    if (isConnected) await fetchCommit(mirror, entry.commitSha, refsOf(entry, repository))
    return mirror
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    context.log.warn({ err: error, repository: repository.id }, 'could not read from git')
    return null
  }
}

// Concurrent requests for the same mirror share one fetch.
const creations = new Map<string, Promise<void>>()

async function createMirror(mirror: Mirror, branch: string, tip: string): Promise<void> {
  const creation =
    creations.get(mirror.path) ??
    ensureMirror(mirror, tip)
      .then(() => fetchBranch(mirror, branch))
      .then(() => {})
      .finally(() => creations.delete(mirror.path))
  creations.set(mirror.path, creation)
  await creation
}

/** The refs that can lead to the entry's commit. */
function refsOf({ action, prNumber }: EntryDetails, { forge, defaultBranch }: Repository): (string | null)[] {
  if (action === 'deployed' || action === 'pr_merged') return [`refs/heads/${defaultBranch}`]
  return [prNumber === null ? null : forgeOf(forge).pullRef(prNumber)]
}
