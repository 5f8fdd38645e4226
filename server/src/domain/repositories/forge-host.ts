import { invalidField } from '../errors.ts'
import type { ForgeName } from './repository.ts'
import { hostOf } from './repository-identity.ts'

// Forgejo is a fork of Gitea and sends the same webhooks.
const giteaFamily: ForgeName[] = ['forgejo', 'gitea']

/** The forges that a public host can be connected as, the right one first. */
const forgesOfHost = new Map<string, ForgeName[]>([
  ['github.com', ['github']],
  ['www.github.com', ['github']],
  ['ssh.github.com', ['github']],
  ['gitlab.com', ['gitlab']],
  ['altssh.gitlab.com', ['gitlab']],
  ['bitbucket.org', ['bitbucket']],
  ['altssh.bitbucket.org', ['bitbucket']],
  ['codeberg.org', giteaFamily],
  ['gitea.com', giteaFamily.toReversed()],
])

/** The forge of the URL's host, if that certainly is another one, whose webhooks would never verify; null otherwise. */
export function rightForge(forge: ForgeName, url: string): ForgeName | null {
  const forges = forgesOfHost.get(hostOf(url)) ?? []
  return forges.includes(forge) ? null : (forges[0] ?? null)
}

export function checkForge(forge: ForgeName, url: string): void {
  const right = rightForge(forge, url)
  if (right !== null) throw invalidField('forge', `must be ${right} for a repository on ${hostOf(url)}`)
}

/** A warning if the name of the host suggests another forge; null otherwise. */
export function forgeWarning(forge: ForgeName, url: string): string | null {
  const host = hostOf(url)
  if (host === '' || forgesOfHost.has(host)) return null
  const [suggested] = /github|gitlab|gitea|forgejo|bitbucket/.exec(host) ?? []
  if (suggested === undefined || suggested === forge) return null
  if (giteaFamily.includes(forge) && giteaFamily.includes(suggested as ForgeName)) return null
  return `The forge is ${forge}, but the name of the host ${host} suggests ${suggested}. Webhooks of another forge are rejected.`
}
