import type { Access } from '../access/api-key.ts'
import { DomainError } from '../errors.ts'
import type { Prompt, PromptStore } from '../prompt.ts'
import { AmbiguousPromptError, findPrompt } from '../prompt-reference.ts'
import type { Rejection } from './evaluation.ts'

// Each name that is not known costs two queries.
const maxNames = 200

/** Finds the prompts that the records of one request name, each once. */
export function createPromptLookup(
  prompts: Pick<PromptStore, 'find' | 'named'>,
  access: Access,
): (name: string) => Promise<Prompt | Rejection> {
  const found = new Map<string, Prompt | Rejection>()
  return async (name) => {
    const known = found.get(name)
    if (known !== undefined) return known
    if (found.size >= maxNames) return { reason: 'too_many', detail: name }
    const result = await find(name)
    found.set(name, result)
    return result
  }

  async function find(name: string): Promise<Prompt | Rejection> {
    try {
      return (await findPrompt(prompts, access, name)) ?? { reason: 'unknown_prompt', detail: name }
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      return { reason: error instanceof AmbiguousPromptError ? 'ambiguous_prompt' : 'unknown_prompt', detail: name }
    }
  }
}

export function isPrompt(found: Prompt | Rejection): found is Prompt {
  return 'publicId' in found
}
