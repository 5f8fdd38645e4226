import { decode } from './bytes.ts'
import { type Remote, withRemoteAccess } from './remote-access.ts'
import { GitError, git } from './run.ts'

export interface RemoteHead {
  /** Null if the server does not announce it. */
  branch: string | null
  /** Null if the repository has no commit yet. */
  sha: string | null
}

const timeoutMs = 30_000
// HEAD comes first. A hostile server can have any number of refs that end with `/HEAD`.
const maxBytes = 1024 * 1024
// With --heads, the server sends no other refs. A pattern alone would make it send all of them.
const onlyBranches = ['--heads', '--refs']

/** The remote's default branch and its newest commit. Tries `fallback` if HEAD points to a missing branch. */
export async function readRemoteHead(remote: Remote, fallback: string | null = null): Promise<RemoteHead> {
  return headOrFallback(remote, headIn(await listRemote(remote, ['--symref'], 'HEAD')), fallback)
}

export async function headOrFallback(remote: Remote, head: RemoteHead, fallback: string | null): Promise<RemoteHead> {
  if (head.sha !== null || fallback === null) return head
  const [sha] = (await listRemote(remote, onlyBranches, `refs/heads/${fallback}`)).split('\t')
  return sha ? { branch: fallback, sha } : head
}

/** HEAD, as `git ls-remote --symref` prints it. */
export function headIn(listed: string): RemoteHead {
  const branch = /^ref: refs\/heads\/(.+)\tHEAD$/m.exec(listed)?.[1] ?? null
  const sha = /^([0-9a-f]{40,64})\tHEAD$/m.exec(listed)?.[1] ?? null
  return { branch, sha }
}

// A branch has some 70 bytes.
const maxBranchBytes = 16 * 1024 * 1024

/** The newest commits of all branches. Only people with write access create and move branches, unlike the refs of pull requests. */
export async function readBranchHeads(remote: Remote): Promise<Set<string>> {
  const listed = await listRemote(remote, onlyBranches, 'refs/heads/*', maxBranchBytes)
  return new Set(listed.split('\n').flatMap((line) => /^([0-9a-f]{40,64})\trefs\/heads\//.exec(line)?.[1] ?? []))
}

/** The newest commit of a branch; null if the remote has none of this name. */
export async function readRemoteBranch(remote: Remote, branch: string): Promise<string | null> {
  const ref = `refs/heads/${branch}`
  const listed = await listRemote(remote, onlyBranches, ref)
  const line = listed.split('\n').find((each) => each.endsWith(`\t${ref}`))
  return line?.split('\t')[0] ?? null
}

/** The key with which the server identifies itself over ssh, even if it refuses access. */
export async function readHostKey(remote: Remote): Promise<string> {
  return withRemoteAccess(remote, 'ls-remote', async ({ url, env, ssh }) => {
    const failed = await runListRemote(url, env, [], 'HEAD').then(
      () => null,
      (error: Error) => error,
    )
    const hostKey = (await ssh?.readHostKey()) ?? null
    if (hostKey !== null) return hostKey
    throw failed ?? new GitError('ls-remote', 'the server did not send an ssh host key')
  })
}

function listRemote(remote: Remote, options: string[], pattern: string, limit = maxBytes): Promise<string> {
  return withRemoteAccess(remote, 'ls-remote', ({ url, env }) => runListRemote(url, env, options, pattern, limit))
}

async function runListRemote(
  url: string,
  env: Record<string, string>,
  options: string[],
  pattern: string,
  limit = maxBytes,
): Promise<string> {
  const args = ['ls-remote', '--quiet', ...options, '--end-of-options', url, pattern]
  return decode(await git(args, { env, timeoutMs, maxBytes: limit, listsRefs: true }))
}

/** The URL that a clone in a folder was cloned from; null if it has none or cannot be read. */
export async function readOriginUrl(folder: string): Promise<string | null> {
  const path = folder.replace(/^file:\/\//, '')
  try {
    return decode(await git(['-C', path, 'config', '--get', 'remote.origin.url'])).trim() || null
  } catch (error) {
    if (error instanceof GitError) return null
    throw error
  }
}
