import { DomainError } from '../domain/errors.ts'
import { overviewStart } from '../domain/impact/overview.ts'
import type { Prompt } from '../domain/prompt.ts'
import { findPrompt, lookupName } from '../domain/prompt-reference.ts'
import { quoted } from './quoting.ts'
import { ChoiceError, type ToolContext } from './tool.ts'

export const promptSchema = {
  type: 'string',
  description: 'ID (pmt_…), name, file path, or a unique part of these',
} as const

const maxCandidates = 10

/** Like the API, by ID, name or path, and also by a part of the name or path that only one prompt has. */
export async function promptArgument(
  { store, access, now }: Pick<ToolContext, 'store' | 'access' | 'now'>,
  reference: string,
): Promise<Prompt> {
  const exact = await findPrompt(store.prompts, access, reference)
  if (exact !== null) return exact
  const search = lookupName(reference)
  const order = { by: 'name', descending: false, since: overviewStart(now) } as const
  const { prompts, totalCount } =
    search === ''
      ? { prompts: [], totalCount: 0 }
      : await store.prompts.page(access.organisationId, { search, glob: access.prompts }, order, {
          page: '1',
          limit: maxCandidates,
        })
  const [first] = prompts
  if (first === undefined) throw unknownPrompt()
  if (totalCount > 1) {
    const message = `${totalCount} prompts match. Pass the ID of the one you mean.`
    throw new ChoiceError(message, { prompts: prompts.map(toPromptBody) })
  }
  return first
}

function unknownPrompt(): DomainError {
  return new DomainError('not_found', 'No prompt that this key may read matches. find_prompts lists them.')
}

export function toPromptBody({
  publicId,
  name,
  path = null,
}: {
  publicId: string
  name: string
  path?: string | null
}) {
  return {
    prompt: publicId,
    quoted_name: quoted(name, 200),
    ...(path !== null && path !== name && { quoted_path: quoted(path, 200) }),
  }
}
