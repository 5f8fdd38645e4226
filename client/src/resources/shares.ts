import { requestData } from '../data.ts'
import { createPages, type Pages } from '../page.ts'
import type { RequestOptions, Transport } from '../request.ts'
import type { CreatedShare, NewShare, PageQuery, Share } from '../types.ts'
import { promptPath } from './prompts.ts'

export type Shares = ReturnType<typeof shares>

export function shares(service: Transport) {
  const pathOf = (promptId: string) => `${promptPath(promptId)}/shares`

  return {
    /** Lists the share links of all prompts, newest first. Needs a key with the role `standard` or `admin`, like the others. */
    list(query?: PageQuery, options?: RequestOptions): Pages<Share> {
      return createPages(service, '/shares', query, options)
    },

    /** Lists the share links of a prompt, newest first. */
    listOfPrompt(promptId: string, query?: PageQuery, options?: RequestOptions): Pages<Share> {
      return createPages(service, pathOf(promptId), query, options)
    },

    /** Creates a link that shows the prompt to people without a key. Its `url` is shown only once. */
    create(promptId: string, body: NewShare = {}, options?: RequestOptions): Promise<CreatedShare> {
      return requestData(service, { method: 'POST', path: pathOf(promptId), body }, options)
    },

    /** Revokes a link. */
    revoke(promptId: string, shareId: number, options?: RequestOptions): Promise<void> {
      return service.json({ method: 'DELETE', path: `${pathOf(promptId)}/${shareId}` }, options)
    },
  }
}
