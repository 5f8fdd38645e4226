import { requestData } from '../data.ts'
import { createPages, type Pages } from '../page.ts'
import type { RequestOptions, Transport } from '../request.ts'
import type { Prompt, PromptName, PromptQuery } from '../types.ts'

export type Prompts = ReturnType<typeof prompts>

/** Everything that belongs to a prompt is below this path. */
export function promptPath(promptId: string): string {
  return `/prompts/${encodeURIComponent(promptId)}`
}

export function prompts(service: Transport) {
  return {
    /** Lists prompts by name, then by age, unless `sort` is set. */
    list(query?: PromptQuery, options?: RequestOptions): Pages<Prompt> {
      return createPages(service, '/prompts', query, options)
    },

    get(promptId: string, options?: RequestOptions): Promise<Prompt> {
      return requestData(service, { method: 'GET', path: promptPath(promptId) }, options)
    },

    /** Creates a prompt that is in no connected repository. Needs a key with the role `admin`. */
    create(body: PromptName, options?: RequestOptions): Promise<Prompt> {
      return requestData(service, { method: 'POST', path: '/prompts', body }, options)
    },

    /** Renames a prompt and returns it. Needs a key with the role `admin`. */
    rename(promptId: string, body: PromptName, options?: RequestOptions): Promise<Prompt> {
      return requestData(service, { method: 'PATCH', path: promptPath(promptId), body }, options)
    },

    /** Deletes a prompt. Its signals still count towards the monthly limit. Needs a key with the role `admin`. */
    delete(promptId: string, options?: RequestOptions): Promise<void> {
      return service.json({ method: 'DELETE', path: promptPath(promptId) }, options)
    },
  }
}
