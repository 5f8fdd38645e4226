import type { Repository } from '../domain/repositories/repository.ts'
import { ensureMirror, fetchBranch, isTooLarge, type Mirror, removeMirror } from '../git/mirror.ts'
import { readRemoteHead } from '../git/remote.ts'
import { GitError } from '../git/run.ts'
import type { IncomingDelivery } from './incoming-deliveries.ts'

/** `tip` is null if the default branch has no commit. */
export type FetchedBranch = { branch: string; tip: string } | { branch: string | null; tip: null }

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
      return { branch: known, tip: await fetchBranch(mirror, known) }
    } catch (error) {
      if (!isMissingBranch(error)) throw error
    }
  }
  const head = await readRemoteHead(mirror.remote, reported)
  if (head.sha === null) return { branch: head.branch ?? known, tip: null }
  if (head.branch === null) throw new Error('the server does not announce a default branch for the repository')
  await ensureMirror(mirror, head.sha)
  if (isTooLarge(mirror)) {
    // Pull requests from strangers may have filled the mirror. The default branch alone may still fit.
    await removeMirror(mirror.path)
    await ensureMirror(mirror, head.sha)
  }
  return { branch: head.branch, tip: await fetchBranch(mirror, head.branch) }
}

function isMissingBranch(error: unknown): boolean {
  return error instanceof GitError && error.failure === 'missingRef'
}
