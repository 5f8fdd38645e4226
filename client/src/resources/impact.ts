import { createPages, type Pages } from '../page.ts'
import type { RequestOptions, Transport } from '../request.ts'
import type { AttributedPage, ChangeImpact, ImpactQuery } from '../types.ts'
import { promptPath } from './prompts.ts'

export type Impact = ReturnType<typeof impact>

export function impact(service: Transport) {
  return {
    /** Lists the changes that went live, newest first, each with the user feedback before and after it. */
    list(
      promptId: string,
      query?: ImpactQuery,
      options?: RequestOptions,
    ): Pages<ChangeImpact, AttributedPage<ChangeImpact>> {
      return createPages(service, `${promptPath(promptId)}/impact`, query, options)
    },
  }
}
