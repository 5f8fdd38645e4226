import { timeline as generated } from '../generated/resources.ts'
import { parseLines } from '../lines.ts'
import type { RequestOptions, Transport } from '../request.ts'
import type { TimelineEntry, TimelineExportQuery } from '../types.ts'

export type Timeline = ReturnType<typeof timeline>

export function timeline(service: Transport) {
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
    const text = service.text(
      { method: 'GET', path: `/prompts/${encodeURIComponent(promptId)}/timeline/export`, query },
      options,
    )
    return query.format === 'csv' ? text : parseLines<TimelineEntry>(text)
  }

  return {
    ...generated(service),

    /**
     * Streams the whole history with its figures, newest first, or with the format `csv` the text of a CSV file in chunks.
     * An export that breaks off is not retried.
     */
    export: exportTimeline,
  }
}
