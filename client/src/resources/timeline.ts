import { requestData } from '../data.ts'
import { parseLines } from '../lines.ts'
import { createPages, type Pages } from '../page.ts'
import type { RequestOptions, Transport } from '../request.ts'
import type { AttributedPage, TimelineEntry, TimelineEntryQuery, TimelineExportQuery, TimelineQuery } from '../types.ts'
import { promptPath } from './prompts.ts'

export type Timeline = ReturnType<typeof timeline>

export function timeline(service: Transport) {
  const pathOf = (promptId: string) => `${promptPath(promptId)}/timeline`

  function exportTimeline(
    promptId: string,
    query?: TimelineExportQuery & { format?: 'ndjson' | undefined },
    options?: RequestOptions,
  ): AsyncGenerator<TimelineEntry, void>
  function exportTimeline(
    promptId: string,
    query: TimelineExportQuery & { format: 'csv' },
    options?: RequestOptions,
  ): AsyncGenerator<string, void>
  function exportTimeline(promptId: string, query: TimelineExportQuery = {}, options?: RequestOptions) {
    const text = service.text({ method: 'GET', path: `${pathOf(promptId)}/export`, query }, options)
    return query.format === 'csv' ? text : parseLines<TimelineEntry>(text)
  }

  return {
    /**
     * Streams the whole history with its figures, newest first, or with the format `csv` the text of a CSV file in chunks.
     * An export that breaks off is not retried.
     */
    export: exportTimeline,

    /** Lists the history, newest first, with the details of each change and the effect of those that went live. */
    list(
      promptId: string,
      query?: TimelineQuery,
      options?: RequestOptions,
    ): Pages<TimelineEntry, AttributedPage<TimelineEntry>> {
      return createPages(service, pathOf(promptId), query, options)
    },

    /** Returns one change of any age, with its details and its effect if it went live. `by` adds the effect in each segment. */
    get(
      promptId: string,
      entryId: number,
      query?: TimelineEntryQuery,
      options?: RequestOptions,
    ): Promise<TimelineEntry> {
      return requestData(service, { method: 'GET', path: `${pathOf(promptId)}/${entryId}`, query }, options)
    },
  }
}
