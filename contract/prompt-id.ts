import { AmbiguousPromptError } from '../server/src/domain/prompt-reference.ts'
import { errorBody } from '../server/src/http/errors.ts'
import { errorWith } from './schema.ts'

export const promptIdExample = 'pmt_5mVq2Xc8Rj0LwTz7Kb4NyHdA'

export const promptId = {
  type: 'string',
  description:
    "The prompt's public ID (prefix pmt_), or its URL-encoded name or path if only one prompt has it. Names are compared exactly",
  examples: [promptIdExample],
} as const

export const promptParamsSchema = { prompt_id: promptId } as const

const namesakes = [promptIdExample, 'pmt_9Jc1Wd6Tq3XfBn8Zr2LkMvGs'].map((publicId) => ({ publicId }))

/** The response of every operation on a prompt to a name that several prompts have. */
export const ambiguousPromptSchema = {
  ...errorWith(
    'AmbiguousPrompt',
    'validation_error',
    {
      prompt_ids: {
        type: 'array',
        items: { type: 'string' },
        description: 'The IDs of the prompts with this name or path, at most 20',
      },
    },
    ['prompt_ids'],
  ),
  examples: [JSON.parse(errorBody(new AmbiguousPromptError(namesakes)))],
}
