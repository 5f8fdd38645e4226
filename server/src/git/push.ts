import type { Mirror } from './mirror.ts'
import { withRemoteAccess } from './remote-access.ts'
import { GitError, git, originalParents } from './run.ts'

const pushTimeoutMs = 40_000
const lowMemory = ['-c', 'pack.threads=1', '-c', 'pack.windowMemory=16m']
const push = [...lowMemory, 'push', '--quiet', '--no-verify', '--end-of-options']

/** `denied`: the credentials may not write. `protected`: they may, but not this branch. */
type PushResult = { kind: 'pushed' } | { kind: 'denied' } | { kind: 'protected' } | { kind: 'failed'; reason: string }

/** Pushes a commit as a new branch. Fails if the branch exists with other commits. */
export async function pushBranch({ path, remote }: Mirror, commit: string, branch: string): Promise<PushResult> {
  try {
    await withRemoteAccess(remote, 'push', ({ url, env }) =>
      git([...push, url, `${commit}:refs/heads/${branch}`], {
        mirror: path,
        env: { ...env, ...originalParents },
        timeoutMs: pushTimeoutMs,
      }),
    )
    return { kind: 'pushed' }
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    if (error.failure === 'rejectedPush') return { kind: 'protected' }
    const isDenied = error.failure === 'access' || error.failure === 'permission'
    return isDenied ? { kind: 'denied' } : { kind: 'failed', reason: error.reason }
  }
}
