import { requestData } from '../data.ts'
import type { RequestOptions, Transport } from '../request.ts'
import type { NewPromptSegmentKeys, PromptSegmentKeys, SegmentKeys } from '../types.ts'
import { promptPath } from './prompts.ts'

export type Segments = ReturnType<typeof segments>

/** Which keys of the metadata divide signals into segments. */
export function segments(service: Transport) {
  return {
    /** Returns the keys that apply to every prompt without keys of its own. */
    get(options?: RequestOptions): Promise<SegmentKeys> {
      return requestData(service, { method: 'GET', path: '/segments' }, options)
    },

    /** Replaces these keys. Needs a key with the role `admin`. */
    declare(body: SegmentKeys, options?: RequestOptions): Promise<SegmentKeys> {
      return requestData(service, { method: 'PUT', path: '/segments', body }, options)
    },

    /** Returns the keys that apply to a prompt. */
    ofPrompt(promptId: string, options?: RequestOptions): Promise<PromptSegmentKeys> {
      return requestData(service, { method: 'GET', path: `${promptPath(promptId)}/segments` }, options)
    },

    /** Replaces the keys of a prompt; null for those of the organisation. Needs a key with the role `admin`. */
    declareForPrompt(
      promptId: string,
      body: NewPromptSegmentKeys,
      options?: RequestOptions,
    ): Promise<PromptSegmentKeys> {
      return requestData(service, { method: 'PUT', path: `${promptPath(promptId)}/segments`, body }, options)
    },
  }
}
