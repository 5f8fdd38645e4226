import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { readerRoles } from '../../domain/access/api-key.ts'
import type { StoredSignal } from '../../domain/signals/signal.ts'
import { sentVersion } from '../../domain/signals/version.ts'
import { isoTime } from '../../domain/time.ts'
import type { Context } from '../context.ts'
import { errorBodySchema, invalidTimeSchema } from '../error-schema.ts'
import { enumParameter, type Query } from '../parameters.ts'
import { promptParamsSchema } from '../prompts/id-schema.ts'
import { allowSilence } from '../silent-request.ts'
import { renderSignalLine } from './body.ts'
import { csvLine } from './csv.ts'
import { createExportSlots } from './export-slots.ts'
import { readSignalFilter } from './filter.ts'
import { csvColumns, exportFormats, exportQuerySchema, exportSchemas } from './schema.ts'

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

const chunkLength = 64 * 1024

export function exportSignalsRoute({ store }: Context) {
  const inTurns = createTurns()

  return async (app: FastifyInstance) => {
    const takeSlot = createExportSlots(app.loadShedder)
    app.get(
      '/prompts/:prompt_id/signals/export',
      { schema, config: { roles: readerRoles } },
      async (request, reply) => {
        const query = request.query as Query
        const format = enumParameter(query, 'format', exportFormats) ?? 'ndjson'
        const { access, prompt } = request
        const filter = await readSignalFilter(store, prompt, query)
        takeSlot(request, reply)
        await app.auditThrottle.record({
          organisationId: access.organisationId,
          by: access,
          action: 'signals.exported',
          subject: { id: prompt.publicId, name: prompt.name },
          details: { format },
          about: `${prompt.publicId} ${format}`,
        })
        // A search may find nothing for a while.
        if (filter.content !== null) allowSilence(request)
        const batches = untilClosed(reply.raw, inTurns(store.signals.stream(prompt, filter)))
        const type = format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson; charset=utf-8'
        return reply
          .type(type)
          .header('Content-Disposition', `attachment; filename="${prompt.publicId}-signals.${format}"`)
          .send(Readable.from(inChunks(format === 'csv' ? toCsv(batches) : toNdjson(batches)), { objectMode: false }))
      },
    )
  }
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

/** Stops reading when the client is gone, which a search without matches would not notice. */
async function* untilClosed<T>(response: ServerResponse, batches: AsyncIterable<T>): AsyncGenerator<T> {
  for await (const batch of batches) {
    if (response.destroyed) return
    yield batch
  }
}

/** Joins lines to chunks of one size, so that the memory of an export does not depend on the size of its metadata. */
async function* inChunks(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let chunk = ''
  for await (const line of lines) {
    chunk += line
    if (chunk.length < chunkLength) continue
    yield chunk
    chunk = ''
  }
  if (chunk !== '') yield chunk
}

/** Reads one batch per turn of the event loop, of all exports together. Otherwise large exports would slow down everyone. */
function createTurns(): <T>(batches: AsyncIterable<T>) => AsyncGenerator<T> {
  let lastTurn: Promise<void> = Promise.resolve()
  return async function* (batches) {
    for await (const batch of batches) {
      yield batch
      lastTurn = lastTurn.then(() => nextTurn())
      await lastTurn
    }
  }
}
