import { createPages, type Pages } from '../page.ts'
import type { RequestOptions, Transport } from '../request.ts'
import type { AttributedPage, TimelineEntry, TimelineQuery } from '../types.ts'
import { promptPath } from './prompts.ts'

export type Timeline = ReturnType<typeof timeline>

export function timeline(service: Transport) {
  return {
    /** Lists the history, newest first, with the details of each change and the effect of those that went live. */
    list(
      promptId: string,
      query?: TimelineQuery,
      options?: RequestOptions,
    ): Pages<TimelineEntry, AttributedPage<TimelineEntry>> {
      return createPages(service, `${promptPath(promptId)}/timeline`, query, options)
    },
  }
}
