import { type Pages, pages } from '../page.ts'
import type { RequestOptions, Transport } from '../request.ts'
import type { TimelineEntry, TimelineQuery } from '../types.ts'
import { promptPath } from './prompts.ts'

export type Timeline = ReturnType<typeof timeline>

export function timeline(service: Transport) {
  return {
    /** The history with all that is known of each change, and what those that went live did. Newest first. */
    list(promptId: string, query?: TimelineQuery, options?: RequestOptions): Pages<TimelineEntry> {
      return pages(service, `${promptPath(promptId)}/timeline`, query, options)
    },
  }
}
