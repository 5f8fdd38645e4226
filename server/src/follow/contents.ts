import type { EntryDetails } from '../domain/history/entry.ts'
import { forgeOf } from '../forges/index.ts'
import { readPatch, readText } from '../git/contents.ts'
import { ensureMirror, fetchBranch, fetchCommit, type Mirror, mirrorExists } from '../git/mirror.ts'
import { GitError } from '../git/run.ts'
import { mirrorOf, type SyncContext } from './sync-context.ts'

/** The prompt's text before and after a change, null where git does not have it, or no longer. */
export interface Contents {
  before: string | null
  after: string | null
  patch: string | null
}

const nothing: Contents = { before: null, after: null, patch: null }

export async function readContents(follow: SyncContext, entry: EntryDetails): Promise<Contents> {
  const mirror = await mirrorWith(follow, entry)
  if (mirror === null) return nothing
  const { beforeBlob, afterBlob } = entry
  const [before, after] = await Promise.all([textOf(mirror, beforeBlob), textOf(mirror, afterBlob)])
  const whole = (beforeBlob === null || before !== null) && (afterBlob === null || after !== null)
  const path = entry.path as string
  const paths = { old: entry.oldPath ?? path, new: path }
  return { before, after, patch: whole ? await readPatch(mirror.path, paths, beforeBlob, afterBlob) : null }
}

async function textOf({ path }: Mirror, blob: string | null): Promise<string | null> {
  return blob === null ? null : readText(path, blob)
}

const making = new Map<string, Promise<void>>()

/** The mirror that holds the entry's contents. It is only a copy: where this process has none yet, it is made. */
async function mirrorWith(follow: SyncContext, entry: EntryDetails): Promise<Mirror | null> {
  if (entry.repositoryId === null || entry.path === null) return null
  const repository = await follow.store.repositories.find(entry.repositoryId)
  if (repository?.defaultBranch == null || repository.tip === null) return null
  const { defaultBranch, tip } = repository
  const mirror = mirrorOf(follow, repository)
  try {
    if (!mirrorExists(mirror.path)) {
      if (repository.disconnectedAt !== null) return null
      const made =
        making.get(mirror.path) ??
        ensureMirror(mirror, tip)
          .then(() => fetchBranch(mirror, defaultBranch))
          .then(() => {})
          .finally(() => making.delete(mirror.path))
      making.set(mirror.path, made)
      await made
    }
    // Another process may have fetched what this one's copy lacks, and a copy made anew lacks what only pull requests had.
    if (repository.disconnectedAt === null) {
      const pull = entry.prNumber === null ? null : forgeOf(repository.forge).pullRef(entry.prNumber)
      const landed = entry.action === 'deployed' || entry.action === 'pr_merged'
      await fetchCommit(mirror, entry.commitSha, landed ? [`refs/heads/${defaultBranch}`] : [pull])
    }
    return mirror
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    follow.log.warn({ err: error, repository: repository.id }, 'could not read from git')
    return null
  }
}
