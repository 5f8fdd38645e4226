import { stateOf } from '../domain/history/pull.ts'
import type { Repository } from '../domain/repositories/repository.ts'
import type { Candidate } from '../domain/repositories/repository-service.ts'
import { forgeOf } from '../forges/index.ts'
import { listBlobs, mergeBase } from '../git/candidate.ts'
import { fetchBranch, fetchCommit } from '../git/mirror.ts'
import { openMirror } from './contents.ts'
import type { SyncContext } from './sync-context.ts'

/** Reads the commit that a pull request, or a hash, stands for now, and which of the prompts' files it changes. */
export async function readCandidate(
  context: SyncContext,
  repositoryId: number,
  pullOrCommit: number | string,
): Promise<Candidate | 'unknown' | 'closed'> {
  const { store } = context
  const repository = (await store.repositories.find(repositoryId)) as Repository
  const paths = [...(await store.facts.paths(repository)).keys()]
  const head = await headOf(context, repository, pullOrCommit)
  if (head === null) return 'unknown'
  if (head === 'closed') return head
  let commitSha: string | null = null
  const mirror = await openMirror(context, repositoryId, async (mirror) => {
    await fetchBranch(mirror, repository.defaultBranch as string)
    commitSha = await fetchCommit(
      mirror,
      head,
      typeof pullOrCommit === 'number' ? [pullRef(repository, pullOrCommit)] : [],
    )
  })
  if (mirror === null || commitSha === null) return 'unknown'
  const base = await mergeBase(mirror.path, `refs/heads/${repository.defaultBranch}`, commitSha)
  const [blobs, before] = await Promise.all([
    listBlobs(mirror.path, commitSha, paths),
    base === null ? new Map<string, string>() : listBlobs(mirror.path, base, paths),
  ])
  // Without a common ancestor, the commit does not say which of its texts are meant.
  const changed = base === null ? [] : paths.filter((path) => blobs.get(path) !== before.get(path))
  return { commitSha, blobs, changed, isMerged: base === commitSha }
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

function pullRef({ forge }: Repository, number: number): string | null {
  return forgeOf(forge).pullRef(number)
}
