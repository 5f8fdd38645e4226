import type { ForgeName } from '../domain/repositories/repository.ts'
import { bitbucket } from './bitbucket.ts'
import { bitbucketApi } from './bitbucket-api.ts'
import type { Forge } from './forge.ts'
import type { ForgeApi } from './forge-api.ts'
import { forgejo, gitea } from './gitea.ts'
import { giteaApi } from './gitea-api.ts'
import { github } from './github.ts'
import { githubApi } from './github-api.ts'
import { gitlab } from './gitlab.ts'
import { gitlabApi } from './gitlab-api.ts'
import type { MergeReference } from './merge-reference.ts'

const forges: Record<ForgeName, Forge> = { github, gitlab, gitea, forgejo, bitbucket }

const apis: Record<ForgeName, ForgeApi> = {
  github: githubApi,
  gitlab: gitlabApi,
  gitea: giteaApi,
  forgejo: giteaApi,
  bitbucket: bitbucketApi,
}

export function forgeOf(name: ForgeName): Forge {
  return forges[name]
}

export function apiOf(name: ForgeName): ForgeApi {
  return apis[name]
}

/** What a message says in the words of any forge. A repository can have moved from one forge to another. */
export function referenceOfAnyForge({
  parents,
  message,
}: {
  parents: string[]
  message: string
}): MergeReference | null {
  const text = { parents: parents.length, subject: message.split('\n', 1)[0] ?? '', message }
  const references = [github, gitlab, gitea, bitbucket].flatMap((forge) => forge.mergeReference(text) ?? [])
  return references.find(({ isForgeText }) => isForgeText) ?? references[0] ?? null
}
