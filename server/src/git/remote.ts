import { decode } from './bytes.ts'
import { git } from './run.ts'

/** Where a repository is fetched from, and with what right. */
export interface Remote {
  url: string
  /** The user and the token, to read it with over https. */
  credentials: { user: string; token: string } | null
  /** Whether the address may be a folder of this machine. */
  allowLocal: boolean
  /** Whether the server may send us on to another address. */
  allowRedirects: boolean
}

export interface RemoteHead {
  /** Null where the server does not say. */
  branch: string | null
  /** Null where there is no commit yet. */
  sha: string | null
}

const patience = 30_000

/** The environment in which git may talk to the remote. The token is in no argument and no address: others may read those. */
export function remoteEnvironment({ url, credentials, allowLocal, allowRedirects }: Remote): Record<string, string> {
  const settings: [string, string][] = [['http.followRedirects', allowRedirects ? 'initial' : 'false']]
  if (credentials !== null && url.startsWith('https://')) {
    // For this server only, wherever a redirect might lead.
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

/** What the remote's default branch is called, and where it stands. Where its HEAD leads nowhere, `fallback` may exist. */
export async function readRemoteHead(remote: Remote, fallback: string | null = null): Promise<RemoteHead> {
  const listed = await listRemote(remote, ['--symref'], 'HEAD')
  const branch = /^ref: refs\/heads\/(.+)\tHEAD$/m.exec(listed)?.[1] ?? null
  const sha = /^([0-9a-f]{40,64})\tHEAD$/m.exec(listed)?.[1] ?? null
  if (sha !== null || fallback === null) return { branch, sha }
  const [found] = (await listRemote(remote, ['--refs'], `refs/heads/${fallback}`)).split('\t')
  return found ? { branch: fallback, sha: found } : { branch, sha }
}

/** The names of the remote's refs that fit the pattern. */
export async function listRemoteRefs(remote: Remote, pattern: string): Promise<Set<string>> {
  const listed = await listRemote(remote, ['--refs'], pattern)
  return new Set(listed.split('\n').flatMap((line) => line.split('\t')[1] ?? []))
}

async function listRemote(remote: Remote, options: string[], pattern: string): Promise<string> {
  const args = ['ls-remote', '--quiet', ...options, '--end-of-options', remote.url, pattern]
  return decode(await git(args, { env: remoteEnvironment(remote), timeout: patience }))
}
