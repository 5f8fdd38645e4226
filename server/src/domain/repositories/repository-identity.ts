import { isHttpUrl, isLocalUrl } from './repository-url.ts'

/** The server that a URL leads to, which credentials are bound to: protocol, host and port. Null for a folder. */
export function serverOf(url: string): string | null {
  const { protocol, host, port } = partsOf(url)
  return protocol === 'file' ? null : `${protocol}://${host}${port && `:${port}`}`
}

/** The host in lower case; empty for a folder on this machine. */
export function hostOf(url: string): string {
  return partsOf(url).host
}

// These ignore the case of the path for certain.
const caseInsensitiveHosts = new Set(['github.com', 'gitlab.com', 'bitbucket.org', 'codeberg.org'])

/** Equal for URLs that differ only in spelling, such as …/prompts, …/prompts/ and …/prompts.git. */
export function repositoryIdentity(url: string): string {
  const { protocol, path, host } = partsOf(url)
  // Two folders prompts and prompts.git can be two repositories.
  if (protocol === 'file') return `file://${path}`
  const name = path.replace(/\.git$/, '')
  return `${serverOf(url)}/${caseInsensitiveHosts.has(host) ? name.replace(/^\//, '').toLowerCase() : name}`
}

/** Equal for URLs that probably lead to the same repository, over whatever protocol and port. */
export function repositoryPlace(url: string): string {
  const { protocol, host, path } = partsOf(url)
  if (protocol === 'file') return repositoryIdentity(url)
  return `${host}/${path
    .replace(/^\//, '')
    .replace(/\.git$/, '')
    .toLowerCase()}`
}

interface UrlParts {
  protocol: 'https' | 'http' | 'ssh' | 'file'
  /** In lower case; empty for a folder. */
  host: string
  /** Empty for the default. */
  port: string
  /** Without a slash at the end. Starts with one unless it is relative to the home folder of an ssh user. */
  path: string
}

function partsOf(url: string): UrlParts {
  if (isLocalUrl(url)) return { protocol: 'file', host: '', port: '', path: plainPath(url.replace(/^file:\/\//, '')) }
  const isScp = !isHttpUrl(url) && !url.startsWith('ssh:')
  const [, scpHost, scpPath] = (isScp && /^[^@]*@([^:]+):(.*)$/s.exec(url)) || []
  if (scpHost !== undefined && scpPath !== undefined) {
    return { protocol: 'ssh', host: plainHost(scpHost), port: '', path: plainPath(scpPath) }
  }
  const { protocol, hostname, port, pathname } = new URL(url)
  return {
    protocol: protocol.slice(0, -1) as UrlParts['protocol'],
    host: plainHost(hostname),
    port: protocol === 'ssh:' && port === '22' ? '' : port,
    path: plainPath(pathname),
  }
}

function plainHost(host: string): string {
  return host.toLowerCase().replace(/\.$/, '')
}

function plainPath(path: string): string {
  return path.replaceAll(/\/{2,}/g, '/').replace(/\/$/, '')
}
