import type { Repository } from '../domain/repositories/repository.ts'
import { ensureMirror, fetchBranch, isTooLarge, type Mirror, removeMirror } from '../git/mirror.ts'
import { readRemoteHead } from '../git/remote.ts'
import { GitError } from '../git/run.ts'
import type { Arrival } from './arrivals.ts'

export type Fetched = { branch: string; tip: string } | { branch: string | null; tip: null }

/** Brings the default branch up to date. Looks which one it is where that may have changed; `tip` is null where it has no commit. */
export async function fetchDefaultBranch(
  mirror: Mirror,
  repository: Repository,
  arrivals: Arrival[],
  look: boolean,
): Promise<Fetched> {
  const { defaultBranch: known, tip } = repository
  const told = arrivals.findLast(({ report }) => report?.defaultBranch)?.report?.defaultBranch ?? null
  if (!look && known !== null && tip !== null && (told === null || told === known)) {
    await ensureMirror(mirror, tip)
    try {
      return { branch: known, tip: await fetchBranch(mirror, known) }
    } catch (error) {
      if (!isGone(error)) throw error
    }
  }
  const head = await readRemoteHead(mirror.remote, told)
  if (head.sha === null) return { branch: head.branch ?? known, tip: null }
  if (head.branch === null) throw new Error('the repository does not say which of its branches is the default one')
  await ensureMirror(mirror, head.sha)
  if (await isTooLarge(mirror)) {
    // Pull requests may have filled it, which anybody can open; the default branch alone may still fit.
    await removeMirror(mirror.path)
    await ensureMirror(mirror, head.sha)
  }
  return { branch: head.branch, tip: await fetchBranch(mirror, head.branch) }
}

function isGone(error: unknown): boolean {
  return error instanceof GitError && /couldn't find remote ref/.test(error.stderr)
}
