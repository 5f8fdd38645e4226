import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { readerRoles } from '../../domain/access/api-key.ts'
import type { StoredSignal } from '../../domain/signals/signal.ts'
import { isoTime } from '../../domain/time.ts'
import type { Context } from '../context.ts'
import { errorBodySchema, invalidTimeSchema } from '../error-schema.ts'
import { enumParameter, type Query } from '../parameters.ts'
import { promptParamsSchema } from '../prompts/id-schema.ts'
import { renderStoredSignal } from './body.ts'
import { csvLine } from './csv.ts'
import { parseSignalFilter } from './filter.ts'
import { exportFormats, exportQuerySchema, exportSchemas } from './schema.ts'

const schema = {
  operationId: 'exportSignals',
  summary: 'Export signals',
  description: 'All signals in one streamed response, oldest first. The CSV format is safe to open in a spreadsheet.',
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

export function exportSignalsRoute({ store }: Context) {
  return async (app: FastifyInstance) => {
    app.get(
      '/prompts/:prompt_id/signals/export',
      { schema, config: { roles: readerRoles } },
      async (request, reply) => {
        const query = request.query as Query
        const format = enumParameter(query, 'format', exportFormats) ?? 'ndjson'
        const filter = parseSignalFilter(query)
        const { access, prompt } = request
        await app.auditThrottle.record({
          organisationId: access.organisationId,
          by: access,
          action: 'signals.exported',
          subject: { id: prompt.publicId, name: prompt.name },
          details: { format },
          about: `${prompt.publicId} ${format}`,
        })
        const batches = store.signals.stream(prompt, filter)
        const type = format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson; charset=utf-8'
        return reply
          .type(type)
          .header('Content-Disposition', `attachment; filename="${prompt.publicId}-signals.${format}"`)
          .send(Readable.from(format === 'csv' ? toCsv(batches) : toNdjson(batches)))
      },
    )
  }
}

async function* toNdjson(batches: AsyncIterable<StoredSignal[]>): AsyncGenerator<string> {
  for await (const signals of batches) yield signals.map((signal) => `${renderStoredSignal(signal)}\n`).join('')
}

async function* toCsv(batches: AsyncIterable<StoredSignal[]>): AsyncGenerator<string> {
  yield csvLine(['id', 'value', 'created_at', 'metadata'])
  for await (const signals of batches) {
    yield signals
      .map(({ id, value, createdAt, metadata }) => csvLine([id, value, isoTime(createdAt), metadata]))
      .join('')
  }
}
