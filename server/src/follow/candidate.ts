import { isFullSha } from '../domain/history/entry.ts'
import { stateOf } from '../domain/history/pull.ts'
import type { Repository } from '../domain/repositories/repository.ts'
import type { Candidate, NoCandidate } from '../domain/repositories/repository-service.ts'
import { forgeOf } from '../forges/index.ts'
import { listBlobs } from '../git/contents.ts'
import { commonAncestor } from '../git/log.ts'
import { fetchBranch, fetchCommit, type Mirror } from '../git/mirror.ts'
import { readBranchHeads } from '../git/remote.ts'
import { GitError } from '../git/run.ts'
import { openMirror } from './contents.ts'
import { remoteOf, type SyncContext } from './sync-context.ts'

/** Reads the commit that a pull request, or a full hash, stands for now, and which of the prompts' files it changes. */
export async function readCandidate(
  context: SyncContext,
  repositoryId: number,
  pullOrCommit: number | string,
): Promise<Candidate | NoCandidate> {
  const { store } = context
  const repository = (await store.repositories.find(repositoryId)) as Repository
  const head = await headOf(context, repository, pullOrCommit)
  if (head === null) return 'unknown'
  if (head === 'closed') return head
  try {
    const branches = await readBranchHeads(remoteOf(context, repository))
    const commitSha = fullHash(head, branches)
    if (commitSha === null) return 'unknown'
    const refs = typeof pullOrCommit === 'number' ? [forgeOf(repository.forge).pullRef(pullOrCommit)] : []
    const found = await fetchCandidate(context, repository, commitSha, refs)
    if (found === null) return 'unknown'
    const compared = await compare(found, repository, commitSha, [...(await store.facts.paths(repository)).keys()])
    return { commitSha, isOwnBranch: branches.has(commitSha), ...compared }
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    context.log.warn({ err: error, repository: repositoryId }, 'could not read a candidate from git')
    return { unreadable: error.message }
  }
}

/** The mirror with the commit; null if the repository does not have it. */
async function fetchCandidate(
  context: SyncContext,
  repository: Repository,
  commitSha: string,
  refs: (string | null)[],
): Promise<Mirror | null> {
  const result: { isFound: boolean; failure: unknown } = { isFound: false, failure: null }
  const mirror = await openMirror(context, repository.id, {
    async prepare(mirror) {
      try {
        await fetchBranch(mirror, repository.defaultBranch as string)
        result.isFound = (await fetchCommit(mirror, commitSha, refs)) !== null
      } catch (error) {
        result.failure = error
        throw error
      }
    },
  })
  if (mirror === null) throw result.failure ?? new GitError('fetch', 'the repository has not been read yet')
  return result.isFound ? mirror : null
}

async function compare({ path }: Mirror, { defaultBranch }: Repository, commitSha: string, paths: string[]) {
  const base = await commonAncestor(path, `refs/heads/${defaultBranch}`, commitSha)
  const [blobs, before] = await Promise.all([
    listBlobs(path, commitSha, paths),
    base === null ? new Map<string, string>() : listBlobs(path, base, paths),
  ])
  // Without a common ancestor, the commit does not say which of its texts are meant.
  const changed = base === null ? [] : paths.filter((path) => blobs.get(path) !== before.get(path))
  return { blobs, changed, isMerged: base === commitSha }
}

/** Null for a pull request that is not known. */
async function headOf(
  { store }: SyncContext,
  repository: Repository,
  pullOrCommit: number | string,
): Promise<string | 'closed' | null> {
  if (typeof pullOrCommit === 'string') return pullOrCommit
  const [pull] = await store.facts.pulls(repository, [pullOrCommit])
  if (pull === undefined) return null
  if (stateOf(pull) !== 'open') return 'closed'
  // Without deliveries, git shows its heads.
  return pull.events.at(-1)?.head ?? pull.heads.at(-1)?.sha ?? null
}

/** Bitbucket sends the first 12 digits of a head. Anyone can make a commit that begins with them, but only members a branch of it. */
function fullHash(head: string, branches: ReadonlySet<string>): string | null {
  if (isFullSha(head)) return head
  const [only, another] = [...branches].filter((sha) => sha.startsWith(head))
  return another === undefined ? (only ?? null) : null
}
