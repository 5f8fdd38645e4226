import type { ForgeName } from '../domain/repositories/repository.ts'
import { bitbucket } from './bitbucket.ts'
import type { Forge } from './forge.ts'
import { forgejo, gitea } from './gitea.ts'
import { github } from './github.ts'
import { gitlab } from './gitlab.ts'

const forges: Record<ForgeName, Forge> = { github, gitlab, gitea, forgejo, bitbucket }

export function forgeOf(name: ForgeName): Forge {
  return forges[name]
}
