import type { Repository } from '../domain/repositories/repository.ts'
import { forgeOf } from '../forges/index.ts'
import { readAligned } from '../git/mainline.ts'
import { ensureMirror, fetchBranch, isTooLarge, type Mirror, removeMirror } from '../git/mirror.ts'
import { type PullRefs, readRefs } from '../git/pull-refs.ts'
import { headOrFallback, readRemoteHead } from '../git/remote.ts'
import type { Remote } from '../git/remote-access.ts'
import { GitError } from '../git/run.ts'
import type { IncomingDelivery } from './incoming-deliveries.ts'

/** `tip` is null if the default branch has no commit. `pulls` is null unless the pull requests were listed on the way. */
type FetchedBranch = ({ branch: string; tip: string } | { branch: string | null; tip: null }) & {
  pulls: PullRefs | null
}

/** Fetches the default branch. Asks the remote for its name if that may have changed, or always with `checkName`. */
export async function fetchDefaultBranch(
  mirror: Mirror,
  repository: Repository,
  deliveries: IncomingDelivery[],
  checkName: boolean,
): Promise<FetchedBranch> {
  const { defaultBranch: known, tip } = repository
  const reported = deliveries.findLast(({ report }) => report?.defaultBranch)?.report?.defaultBranch ?? null
  if (!checkName && known !== null && tip !== null && (reported === null || reported === known)) {
    await ensureMirror(mirror, tip)
    try {
      return { branch: known, tip: await fetchBranch(mirror, known), pulls: null }
    } catch (error) {
      if (!isMissingBranch(error)) throw error
    }
  }
  const { head, pulls } = await readHead(mirror.remote, repository, reported)
  if (head.sha === null) return { branch: head.branch ?? known, tip: null, pulls }
  if (head.branch === null) throw new Error('the server does not announce a default branch for the repository')
  if (isTooLarge(mirror)) {
    // Pull requests from strangers may have filled the mirror. The default branch alone may still fit.
    await removeMirror(mirror.path)
  }
  if (head.branch === known && head.sha === tip && (await readAligned(mirror.path)) === tip) {
    // An earlier sync has fetched it. Most polls find nothing new.
    return { branch: known, tip, pulls }
  }
  await ensureMirror(mirror, head.sha)
  return { branch: head.branch, tip: await fetchBranch(mirror, head.branch), pulls }
}

/** Lists the pull requests too if a backfill follows, which needs them. */
async function readHead(remote: Remote, { forge, tip }: Repository, reported: string | null) {
  if (tip !== null) return { head: await readRemoteHead(remote, reported), pulls: null }
  const { head, pulls } = await readRefs(remote, forgeOf(forge).pullRefPattern)
  // Without the refs of pull requests, git needs a third less memory.
  return { head: await headOrFallback(remote, head ?? (await readRemoteHead(remote)), reported), pulls }
}

function isMissingBranch(error: unknown): boolean {
  return error instanceof GitError && error.failure === 'missingRef'
}
