import { invalidField } from '../errors.ts'
import { validLine } from '../text.ts'
import type { Repository } from './repository.ts'

/** Which URLs are accepted beyond https and ssh. */
interface AllowedUrls {
  /** Folders on this machine. */
  allowLocal: boolean
  /** Plain http, which is neither encrypted nor authenticated. */
  allowHttp: boolean
}

// The scp-like form user@host:path. No part may start with a dash, which ssh or git could take for an option.
const scpAddress = /^\w[\w.-]*@\w[\w.-]*:[^-:\s][^:\s]*$/

/** Accepts only URLs that are safe to pass to git. */
export function validRepositoryUrl(text: string, { allowLocal, allowHttp }: AllowedUrls): string {
  validLine('url', text, 2_000)
  if (scpAddress.test(text)) return text
  if (isLocalUrl(text)) {
    if (allowLocal) return text
    throw invalidField('url', 'must not be a folder on this machine unless ALLOW=local-repositories is set')
  }
  const url = URL.parse(text)
  // URL.parse is more lenient than git, which would read https:host/path as a path on the host "https", and text before a
  // backslash as part of the user name.
  if (url === null || !/^(https?|ssh):\/\/[^/\\]+(\/[^\\]*)?$/.test(text) || url.host.includes('%')) {
    throw invalidField('url', 'must be an https://, ssh:// or git@host:path address')
  }
  if (url.host.startsWith('-') || /^(-|%2d)/i.test(url.username)) {
    throw invalidField('url', 'must not contain a host or user name with a leading dash')
  }
  if (url.password !== '' || (isWebProtocol(url) && url.username !== '')) {
    throw invalidField('url', 'must not contain a user name or password. Pass the token separately')
  }
  if (url.search !== '' || url.hash !== '') throw invalidField('url', 'must not contain a query string or fragment')
  if (url.protocol === 'http:' && !allowHttp) {
    throw invalidField(
      'url',
      'must not be plain http://, which anyone on the way can read and change. Use https://, or allow it: --allow-http for ' +
        'the CLI, ALLOW=http-repositories for the API',
    )
  }
  return text
}

/** Whether the URL is a folder on this machine. */
export function isLocalUrl(url: string): boolean {
  return url.startsWith('/') || url.startsWith('file:///')
}

/** Whether git fetches the URL over https or http, with a token. */
export function isHttpUrl(url: string): boolean {
  return /^https?:/.test(url)
}

/** Whether git fetches the URL over ssh. */
export function isSshUrl(url: string): boolean {
  return !isLocalUrl(url) && !isHttpUrl(url)
}

/** Whether everything, including a token, is sent unencrypted. */
export function isPlainHttpUrl(url: string): boolean {
  return url.startsWith('http:')
}

function isWebProtocol({ protocol }: URL): boolean {
  return protocol === 'https:' || protocol === 'http:'
}

/** The repository's web page: as reported by the forge, or else derived from the URL. */
export function webUrlOf({ webUrl, url }: Pick<Repository, 'webUrl' | 'url'>): string {
  if (webUrl !== null) return webUrl
  const path = url.replace(/\/+$/, '').replace(/\.git$/, '')
  if (path.startsWith('/')) return `file://${path}`
  const [, host, rest] = /^(?:ssh:\/\/)?[\w.-]+@([\w.-]+)(?::\d+)?[:/](.+)$/.exec(path) ?? []
  return host === undefined ? path : `https://${host}/${rest}`
}
