import type { Access } from './access/api-key.ts'
import { DomainError } from './errors.ts'
import { lookupId, matchesPromptGlob, type Prompt, type PromptStore } from './prompt.ts'

/** Several prompts have the name or path. `ids` are public IDs, at most `maxListedIds` of them. */
export class AmbiguousPromptError extends DomainError {
  readonly ids: string[]

  constructor(prompts: Pick<Prompt, 'publicId'>[]) {
    const ids = prompts.slice(0, maxListedIds).map(({ publicId }) => publicId)
    const rest = prompts.length - ids.length
    const list = `${ids.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
    super('validation_error', `Several prompts have this name or path. Use the ID of one of them: ${list}.`)
    this.ids = ids
  }
}

const maxListedIds = 20
// Paths are longer than names: git itself accepts up to 4,096 bytes.
const maxReferenceLength = 4_096

/**
 * The prompt that a client refers to by its public ID, or by its name or path if exactly one prompt that the key can access has
 * it. An existing ID takes precedence over a name. Null for everything else.
 *
 * Every reference without a prompt costs two queries, whether nothing has it or only prompts that are hidden from the key,
 * which may be cached: response times must not tell them apart.
 */
export async function findPrompt(
  prompts: Pick<PromptStore, 'find' | 'named'>,
  { organisationId, prompts: glob }: Pick<Access, 'organisationId' | 'prompts'>,
  reference: string,
): Promise<Prompt | null> {
  const isId = lookupId(reference) === reference
  const byId = isId ? await prompts.find(organisationId, reference) : null
  if (byId !== null && matchesPromptGlob(glob, byId)) return byId
  const named = await prompts.named(organisationId, lookupName(reference))
  const [first = null, ...others] = named.filter((prompt) => matchesPromptGlob(glob, prompt))
  if (first !== null && others.length > 0) throw new AmbiguousPromptError([first, ...others])
  if (first !== null) return first
  if (!isId || byId !== null) await prompts.find(organisationId, lookupId(''))
  if (named.length > 0) await prompts.named(organisationId, lookupName(''))
  return null
}

/** Replaces text that is no name or path, and that a database might not accept, by a name that no prompt has. */
export function lookupName(text: string): string {
  return text.length > maxReferenceLength || text.includes('\0') || !text.isWellFormed() ? '' : text
}
