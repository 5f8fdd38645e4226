import { type Pages, pages } from '../page.ts'
import type { RequestOptions, Transport } from '../request.ts'
import type { ChangeImpact, PageQuery } from '../types.ts'
import { promptPath } from './prompts.ts'

export type Impact = ReturnType<typeof impact>

export function impact(service: Transport) {
  return {
    /** The changes that went live, newest first, each with what users thought before and after. */
    list(promptId: string, query?: PageQuery, options?: RequestOptions): Pages<ChangeImpact> {
      return pages(service, `${promptPath(promptId)}/impact`, query, options)
    },
  }
}
