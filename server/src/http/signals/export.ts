import type { FastifyInstance } from 'fastify'
import { readerRoles } from '../../domain/access/api-key.ts'
import type { Prompt } from '../../domain/prompt.ts'
import { type CountedSignals, searchedSpans } from '../../domain/signals/counted-signals.ts'
import type { SignalFilter, SignalStore, StoredSignal } from '../../domain/signals/signal.ts'
import { sentVersion } from '../../domain/signals/version.ts'
import { isoTime } from '../../domain/time.ts'
import { auditExport } from '../audit/exports.ts'
import type { Context } from '../context.ts'
import { csvLine } from '../csv.ts'
import { errorBodySchema, invalidTimeSchema } from '../error-schema.ts'
import { exportFormats, sendExport, untilClosed } from '../export-stream.ts'
import { enumParameter, type Query } from '../parameters.ts'
import { promptParamsSchema } from '../prompts/id-schema.ts'
import { allowSilence } from '../silent-request.ts'
import { renderSignalLine } from './body.ts'
import { csvColumns, exportQuerySchema, exportSchemas } from './export-schema.ts'
import { readSignalFilter } from './filter.ts'

const schema = {
  operationId: 'exportSignals',
  summary: 'Export signals',
  description:
    'All signals in one streamed response, oldest first, with the same filters as the list. The CSV format is safe to open ' +
    'in a spreadsheet.',
  tags: ['Signals'],
  params: promptParamsSchema,
  querystring: exportQuerySchema,
  response: {
    200: {
      description: 'A file',
      content: Object.fromEntries(Object.entries(exportSchemas).map(([type, schema]) => [type, { schema }])),
    },
    401: errorBodySchema,
    403: errorBodySchema,
    404: errorBodySchema,
    422: invalidTimeSchema('since'),
    500: errorBodySchema,
  },
}

export function exportSignalsRoute({ store, clock }: Context) {
  return async (app: FastifyInstance) => {
    const { takeSlot, inTurns } = app.exports
    app.get(
      '/prompts/:prompt_id/signals/export',
      { schema, config: { roles: readerRoles } },
      async (request, reply) => {
        const query = request.query as Query
        const format = enumParameter(query, 'format', exportFormats) ?? 'ndjson'
        const { prompt } = request
        const { filter, counted } = await readSignalFilter(store, prompt, query, clock())
        takeSlot(request, reply)
        await auditExport(app.auditThrottle, request, 'signals.exported', format)
        // A search may find nothing for a while.
        if (filter.content !== null) allowSilence(request)
        const parts = counted === null ? [filter] : partsOf(filter, counted)
        const batches = untilClosed(reply.raw, inTurns(streamParts(store.signals, prompt, parts)))
        const lines = format === 'csv' ? toCsv(batches) : toNdjson(batches)
        return sendExport(reply, `${prompt.publicId}-signals`, format, lines)
      },
    )
  }
}

/** The times that have signals of the change, oldest first. */
function partsOf(filter: SignalFilter, counted: CountedSignals): SignalFilter[] {
  return searchedSpans(counted, filter)
    .reverse()
    .map(({ from, until }) => ({ ...filter, since: from, until }))
}

async function* streamParts(
  signals: Pick<SignalStore, 'stream'>,
  prompt: Prompt,
  parts: SignalFilter[],
): AsyncGenerator<StoredSignal[]> {
  for (const part of parts) yield* signals.stream(prompt, part)
}

async function* toNdjson(batches: AsyncIterable<StoredSignal[]>): AsyncGenerator<string> {
  for await (const signals of batches) for (const signal of signals) yield `${renderSignalLine(signal)}\n`
}

async function* toCsv(batches: AsyncIterable<StoredSignal[]>): AsyncGenerator<string> {
  yield csvLine(csvColumns)
  for await (const signals of batches) {
    for (const { id, value, createdAt, metadata, occurredAt, ...details } of signals) {
      const { version, subject, voter, comment, traceId } = details
      const times = [isoTime(createdAt), isoTime(occurredAt)] as const
      const sent = version === null ? null : sentVersion(version)
      yield csvLine([id, value, times[0], metadata, sent, subject, voter, comment, times[1], traceId])
    }
  }
}
