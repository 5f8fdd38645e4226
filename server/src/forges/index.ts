import type { ForgeName } from '../domain/repositories/repository.ts'
import { bitbucket } from './bitbucket.ts'
import type { Forge } from './forge.ts'
import { forgejo, gitea } from './gitea.ts'
import { github } from './github.ts'
import { gitlab } from './gitlab.ts'
import type { MergeReference } from './merge-reference.ts'

const forges: Record<ForgeName, Forge> = { github, gitlab, gitea, forgejo, bitbucket }

export function forgeOf(name: ForgeName): Forge {
  return forges[name]
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
