import { invalidField } from '../errors.ts'
import type { ForgeName } from './repository.ts'
import { hostOf } from './repository-identity.ts'

// Forgejo is a fork of Gitea and sends the same webhooks.
const giteaFamily: ForgeName[] = ['forgejo', 'gitea']

/** The forges that a public host can be connected as, the right one first. */
const forgesOfHost: Record<string, ForgeName[]> = {
  'github.com': ['github'],
  'www.github.com': ['github'],
  'ssh.github.com': ['github'],
  'gitlab.com': ['gitlab'],
  'altssh.gitlab.com': ['gitlab'],
  'bitbucket.org': ['bitbucket'],
  'altssh.bitbucket.org': ['bitbucket'],
  'codeberg.org': giteaFamily,
  'gitea.com': giteaFamily.toReversed(),
}

/** Rejects a forge that the host of the URL certainly is not: its webhooks would never verify. */
export function checkForge(forge: ForgeName, url: string): void {
  const host = hostOf(url)
  const forges = forgesOfHost[host]
  if (forges !== undefined && !forges.includes(forge)) {
    throw invalidField('forge', `must be ${forges[0]} for a repository on ${host}`)
  }
}

/** A warning if the name of the host suggests another forge; null otherwise. */
export function forgeWarning(forge: ForgeName, url: string): string | null {
  const host = hostOf(url)
  if (host === '' || Object.hasOwn(forgesOfHost, host)) return null
  const [suggested] = /github|gitlab|gitea|forgejo|bitbucket/.exec(host) ?? []
  if (suggested === undefined || suggested === forge) return null
  if (giteaFamily.includes(forge) && giteaFamily.includes(suggested as ForgeName)) return null
  return `The forge is ${forge}, but the name of the host ${host} suggests ${suggested}. Webhooks of another forge are rejected.`
}
