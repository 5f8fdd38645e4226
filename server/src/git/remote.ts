import { decode } from './bytes.ts'
import { git } from './run.ts'

/** Where a repository is fetched from, with its credentials. */
export interface Remote {
  url: string
  /** Sent over https only. */
  credentials: { user: string; token: string } | null
  /** Whether the URL may be a folder on this machine. */
  allowLocal: boolean
  /** Whether git follows redirects of the first request. */
  allowRedirects: boolean
}

export interface RemoteHead {
  /** Null if the server does not announce it. */
  branch: string | null
  /** Null if the repository has no commit yet. */
  sha: string | null
}

const timeoutMs = 30_000

/** The environment for git to access the remote. Arguments and URLs are visible to other processes, so the token is in neither. */
export function remoteEnvironment({ url, credentials, allowLocal, allowRedirects }: Remote): Record<string, string> {
  const settings: [string, string][] = [['http.followRedirects', allowRedirects ? 'initial' : 'false']]
  if (credentials !== null && url.startsWith('https://')) {
    // Limited to this server, so that a redirect cannot leak the token.
    const basic = Buffer.from(`${credentials.user}:${credentials.token}`).toString('base64')
    settings.push([`http.${new URL('/', url).href}.extraHeader`, `Authorization: Basic ${basic}`])
  }
  return {
    GIT_ALLOW_PROTOCOL: allowLocal ? 'https:ssh:file' : 'https:ssh',
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(
      settings.flatMap(([key, value], i) => [
        [`GIT_CONFIG_KEY_${i}`, key],
        [`GIT_CONFIG_VALUE_${i}`, value],
      ]),
    ),
  }
}

/** The remote's default branch and its newest commit. Tries `fallback` if HEAD points to a missing branch. */
export async function readRemoteHead(remote: Remote, fallback: string | null = null): Promise<RemoteHead> {
  const listed = await listRemote(remote, ['--symref'], 'HEAD')
  const branch = /^ref: refs\/heads\/(.+)\tHEAD$/m.exec(listed)?.[1] ?? null
  const sha = /^([0-9a-f]{40,64})\tHEAD$/m.exec(listed)?.[1] ?? null
  if (sha !== null || fallback === null) return { branch, sha }
  const [fallbackSha] = (await listRemote(remote, ['--refs'], `refs/heads/${fallback}`)).split('\t')
  return fallbackSha ? { branch: fallback, sha: fallbackSha } : { branch, sha }
}

/** The names of the remote's refs that match the pattern. */
export async function listRemoteRefs(remote: Remote, pattern: string): Promise<Set<string>> {
  const listed = await listRemote(remote, ['--refs'], pattern)
  return new Set(listed.split('\n').flatMap((line) => line.split('\t')[1] ?? []))
}

async function listRemote(remote: Remote, options: string[], pattern: string): Promise<string> {
  const args = ['ls-remote', '--quiet', ...options, '--end-of-options', remote.url, pattern]
  return decode(await git(args, { env: remoteEnvironment(remote), timeoutMs }))
}
