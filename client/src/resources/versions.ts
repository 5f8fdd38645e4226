import { requestData } from '../data.ts'
import { createPages, type Pages } from '../page.ts'
import type { RequestOptions, Transport } from '../request.ts'
import type {
  Blame,
  BlameQuery,
  PromptVersion,
  TextMatch,
  TextPage,
  TextQuery,
  VersionPage,
  VersionQuery,
} from '../types.ts'
import { promptPath } from './prompts.ts'

export type Versions = ReturnType<typeof versions>

export function versions(service: Transport) {
  return {
    /** Lists the changes of a prompt that went live, newest first, with when they were live. `q` searches them. */
    list(promptId: string, query?: VersionQuery, options?: RequestOptions): Pages<PromptVersion, VersionPage> {
      return createPages(service, `${promptPath(promptId)}/versions`, query, options)
    },

    /** Finds the versions of all prompts that contain a phrase, live or past. Iterating continues the search to its end. */
    search(phrase: string, query?: Omit<TextQuery, 'q'>, options?: RequestOptions): Pages<TextMatch, TextPage> {
      const wire: TextQuery = { ...query, q: phrase }
      return createPages(service, '/texts', wire, options)
    },

    /** Returns the text of a version, by default the live one, and the change that brought each line. */
    blame(promptId: string, query?: BlameQuery, options?: RequestOptions): Promise<Blame> {
      return requestData(service, { method: 'GET', path: `${promptPath(promptId)}/blame`, query }, options)
    },
  }
}
