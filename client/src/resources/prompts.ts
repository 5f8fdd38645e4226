import { dataOf } from '../data.ts'
import { type Pages, pages } from '../page.ts'
import type { RequestOptions, Transport } from '../request.ts'
import type { Prompt, PromptName, PromptQuery } from '../types.ts'

export type Prompts = ReturnType<typeof prompts>

/** The path of a prompt, below which all that belongs to it lives. */
export function promptPath(promptId: string): string {
  return `/prompts/${encodeURIComponent(promptId)}`
}

export function prompts(service: Transport) {
  return {
    /** By name, then age, unless `sort` says otherwise. */
    list(query?: PromptQuery, options?: RequestOptions): Pages<Prompt> {
      return pages(service, '/prompts', query, options)
    },

    /** One of them. */
    get(promptId: string, options?: RequestOptions): Promise<Prompt> {
      return dataOf(service, { method: 'GET', path: promptPath(promptId) }, options)
    },

    /** For a prompt that is in no repository. For keys of role `admin`. */
    create(body: PromptName, options?: RequestOptions): Promise<Prompt> {
      return dataOf(service, { method: 'POST', path: '/prompts', body }, options)
    },

    /** The prompt under its new name. For keys of role `admin`. */
    rename(promptId: string, body: PromptName, options?: RequestOptions): Promise<Prompt> {
      return dataOf(service, { method: 'PATCH', path: promptPath(promptId), body }, options)
    },

    /** Not found from then on; what was recorded stays counted for the month. For keys of role `admin`. */
    delete(promptId: string, options?: RequestOptions): Promise<void> {
      return service.json({ method: 'DELETE', path: promptPath(promptId) }, options)
    },
  }
}
