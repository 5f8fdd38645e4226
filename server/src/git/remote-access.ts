import { type Lookup, publicAddresses } from '../net/address.ts'
import { reasonOf, tellsNetwork } from './failure.ts'
import { GitError } from './run.ts'
import { type DeployKey, machineSshCommand, type SshFiles, withDeployKey } from './ssh.ts'
import { canPinAddresses, minGitVersion } from './version.ts'

/** Where a repository is fetched from, with its credentials. */
export interface Remote {
  url: string
  /** Sent over https, and over plain http if that is allowed. */
  credentials: { user: string; token: string } | null
  /** The key for ssh. Null for the keys of the machine, if those are allowed. */
  deployKey: DeployKey | null
  allowMachineKeys: boolean
  /** Whether the URL may be a folder on this machine. */
  allowLocal: boolean
  /** Whether the URL may be plain http. */
  allowHttp: boolean
  /** Whether git follows redirects of the first request. */
  allowRedirects: boolean
  /** Whether the server may have a private address. */
  allowPrivate: boolean
  /** Whether failures leave out why the server cannot be reached: admins could explore the operator's network with them. */
  hidesNetwork: boolean
  /** How to resolve the host; the system's resolver by default. */
  lookUp?: Lookup | undefined
}

/** How one git command reaches the remote. */
export interface RemoteAccess {
  url: string
  /** The folder, if the URL is one. */
  folder: string | null
  env: Record<string, string>
  ssh: SshFiles | null
}

/**
 * Runs a git command with access to the remote. Unless private addresses are allowed, the host is resolved once, here, and
 * git connects to the checked addresses: a name server that answers differently the second time changes nothing.
 */
export async function withRemoteAccess<T>(
  remote: Remote,
  command: string,
  run: (access: RemoteAccess) => Promise<T>,
): Promise<T> {
  try {
    return await runWithAccess(remote, command, run)
  } catch (error) {
    if (!remote.hidesNetwork || !(error instanceof GitError) || !tellsNetwork(error.failure)) throw error
    throw new GitError(command, reasonOf('connection'), 'connection', error.gitOutput)
  }
}

async function runWithAccess<T>(
  remote: Remote,
  command: string,
  run: (access: RemoteAccess) => Promise<T>,
): Promise<T> {
  const target = targetOf(remote.url)
  const { url } = remote
  if (target === null) {
    const folder = url.replace(/^file:\/\//, '')
    return run({ url, folder, env: remoteEnvironment(remote), ssh: null })
  }
  if (target.protocol === 'http' && !remote.allowHttp) throw new GitError(command, plainHttpNotAllowed)
  const addresses = remote.allowPrivate ? null : await checkedAddresses(remote, target.host, command)
  if (target.protocol !== 'ssh') {
    const pinnedUrl = urlWithHost(url, target)
    const port = target.port || (target.protocol === 'https' ? '443' : '80')
    const pins = addresses === null ? null : `${target.host}:${port}:${addresses.map(bracketed).join()}`
    const env = remoteEnvironment({ ...remote, url: pinnedUrl }, pins)
    return run({ url: pinnedUrl, folder: null, env, ssh: null })
  }
  const [address = null] = addresses ?? []
  const access = { url, folder: null, env: remoteEnvironment(remote), ssh: null }
  if (remote.deployKey !== null) return runWithDeployKey(remote.deployKey, address, access, run)
  if (!remote.allowMachineKeys) throw new GitError(command, missingDeployKey, 'access')
  if (address === null) return run(access)
  return run({ ...access, env: { ...access.env, GIT_SSH_COMMAND: machineSshCommand({ ...target, address }) } })
}

function runWithDeployKey<T>(
  key: DeployKey,
  address: string | null,
  access: RemoteAccess,
  run: (access: RemoteAccess) => Promise<T>,
): Promise<T> {
  return withDeployKey(key, address, (ssh) =>
    run({ ...access, env: { ...access.env, GIT_SSH_COMMAND: ssh.command }, ssh }),
  )
}

export const missingDeployKey =
  "a repository fetched over ssh needs a deploy key. The machine's own keys are used only with ALLOW=machine-ssh-keys"

const plainHttpNotAllowed = 'plain http:// is not allowed. Use https://, or set ALLOW=http-repositories'

const serverSettings = [
  'core.packedGitWindowSize=16m',
  'core.packedGitLimit=64m',
  'core.deltaBaseCacheLimit=16m',
  'pack.threads=1',
  'pack.windowMemory=16m',
]

/** Arguments of a fetch from a folder: git also does the server's part on this machine, with its defaults in as much memory as it likes. */
export function folderArguments(folder: string | null, more: string[] = []): string[] {
  if (folder === null) return []
  return [`--upload-pack=git ${[...serverSettings, ...more].map((each) => `-c ${each}`).join(' ')} upload-pack`]
}

/** The environment for git. Arguments and URLs are visible to other processes, so the token is in neither. */
export function remoteEnvironment(remote: Remote, pins: string | null = null): Record<string, string> {
  const { url, credentials, allowLocal, allowHttp, allowRedirects, allowPrivate } = remote
  // The target of a redirect is not checked, so redirects are followed only if any address is allowed.
  const redirects = allowRedirects && allowPrivate ? 'initial' : 'false'
  const settings: [string, string][] = [['http.followRedirects', redirects]]
  if (pins !== null) settings.push(['http.curloptResolve', pins])
  const isPlainHttp = allowHttp && url.startsWith('http://')
  if (credentials !== null && (isPlainHttp || url.startsWith('https://'))) {
    // Limited to this server, so that a redirect cannot leak the token.
    const basic = Buffer.from(`${credentials.user}:${credentials.token}`).toString('base64')
    settings.push([`http.${new URL('/', url).href}.extraHeader`, `Authorization: Basic ${basic}`])
  }
  return {
    GIT_ALLOW_PROTOCOL: `https:ssh${allowLocal ? ':file' : ''}${isPlainHttp ? ':http' : ''}`,
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(
      settings.flatMap(([key, value], i) => [
        [`GIT_CONFIG_KEY_${i}`, key],
        [`GIT_CONFIG_VALUE_${i}`, value],
      ]),
    ),
  }
}

async function checkedAddresses({ url, lookUp }: Remote, host: string, command: string): Promise<string[]> {
  // One reason for both cases: otherwise it would tell which names exist in the internal network.
  const addresses = await publicAddresses(host.replace(/^\[|\]$/g, ''), lookUp)
  if (addresses === null) {
    const hint = 'Private addresses need ALLOW=private-repository-addresses'
    throw new GitError(command, `the host cannot be resolved, or has no public address. ${hint}`, 'connection')
  }
  if (/^https?:/.test(url) && !(await canPinAddresses())) {
    throw new GitError(command, `git ${minGitVersion.join('.')} or newer is required on the machine of the service`)
  }
  return addresses
}

interface Target {
  protocol: 'https' | 'http' | 'ssh'
  host: string
  /** Empty for the default. */
  port: string
}

/** Null for a folder on this machine. */
function targetOf(url: string): Target | null {
  const scp = /^[^@/]+@([^:/]+):/.exec(url)
  if (scp !== null) return { protocol: 'ssh', host: scp[1] as string, port: '' }
  const parsed = /^(https?|ssh):/.test(url) ? URL.parse(url) : null
  if (parsed === null) return null
  const protocol = parsed.protocol.slice(0, -1) as Target['protocol']
  return { protocol, host: parsed.hostname.replace(/\.$/, ''), port: parsed.port }
}

/** The URL with the host spelt as in the pin: curl could read another spelling as another host, and resolve that. */
function urlWithHost(url: string, { protocol, host, port }: Target): string {
  return url.replace(/^https?:\/\/[^/]+/, `${protocol}://${host}${port && `:${port}`}`)
}

function bracketed(address: string): string {
  return address.includes(':') ? `[${address}]` : address
}
