import { requestData } from '../data.ts'
import { createPages, type Pages } from '../page.ts'
import type { RequestOptions, Transport } from '../request.ts'
import type { Blame, BlameQuery, PromptVersion, VersionPage, VersionQuery } from '../types.ts'
import { promptPath } from './prompts.ts'

export type Versions = ReturnType<typeof versions>

export function versions(service: Transport) {
  return {
    /** Lists the changes of a prompt that went live, newest first, with when they were live. `q` searches them. */
    list(promptId: string, query?: VersionQuery, options?: RequestOptions): Pages<PromptVersion, VersionPage> {
      return createPages(service, `${promptPath(promptId)}/versions`, query, options)
    },

    /** Returns the text of a version, by default the live one, and the change that brought each line. */
    blame(promptId: string, query?: BlameQuery, options?: RequestOptions): Promise<Blame> {
      return requestData(service, { method: 'GET', path: `${promptPath(promptId)}/blame`, query }, options)
    },
  }
}
