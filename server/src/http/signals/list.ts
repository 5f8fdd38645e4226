import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { notFound } from '../../domain/errors.ts'
import { type Interval, intervalLength, intervalStarts, intervals } from '../../domain/signals/interval.ts'
import { type IntervalTally, type SignalFilter, type StoredSignal, signalValues } from '../../domain/signals/signal.ts'
import type { Tally } from '../../domain/signals/tally.ts'
import { type Instant, isoTime } from '../../domain/time.ts'
import type { Context } from '../context.ts'
import { errorBodySchema, errorSchema, noBodySchema } from '../error-schema.ts'
import { askedPage, renderPageOf } from '../page-body.ts'
import { checkSpan, pathId, type Query, timeParameter, wordParameter } from '../parameters.ts'
import { promptParamsSchema } from '../prompts/id-schema.ts'
import { csvLine } from './csv.ts'
import {
  exportFormats,
  exportQuerySchema,
  exportSchemas,
  signalPageSchema,
  signalParamsSchema,
  signalQuerySchema,
  summaryQuerySchema,
  summarySchema,
} from './schema.ts'

const config = { roles: ['standard', 'admin'] } as const
const errors = { 401: errorBodySchema, 403: errorBodySchema, 404: errorBodySchema, 500: errorBodySchema }
const allErrors = { ...errors, 422: noTime('since') }
const tags = ['Signals']
const month = 30 * 24 * 3_600_000

/** Looking at what users thought. */
export function signalReadingRoutes({ store, clock }: Context) {
  return async (app: FastifyInstance) => {
    app.get(
      '/prompts/:prompt_id/signals',
      {
        schema: {
          operationId: 'listSignals',
          summary: 'List signals',
          description: 'Newest first, with their metadata as they were sent.',
          tags,
          params: promptParamsSchema,
          querystring: signalQuerySchema,
          response: { 200: signalPageSchema, ...allErrors },
        },
        config,
      },
      async (request, reply) => {
        const asked = askedPage(request.query)
        const page = await store.signals.page(request.prompt, filterOf(request.query as Query), asked)
        // The metadata go out as they came in, to the letter.
        const data = `[${page.signals.map(toLine).join(',')}]`
        return reply.type('application/json; charset=utf-8').send(renderPageOf(data, asked, page.totalCount))
      },
    )

    app.get(
      '/prompts/:prompt_id/signals/export',
      {
        schema: {
          operationId: 'exportSignals',
          summary: 'Export signals',
          description: 'All of them in one answer, however many. CSV is safe to open in a spreadsheet.',
          tags,
          params: promptParamsSchema,
          querystring: exportQuerySchema,
          response: {
            200: {
              description: 'A file',
              content: Object.fromEntries(Object.entries(exportSchemas).map(([type, schema]) => [type, { schema }])),
            },
            ...allErrors,
          },
        },
        config,
      },
      async (request, reply) => {
        const query = request.query as Query
        const format = wordParameter(query, 'format', exportFormats) ?? 'ndjson'
        const portions = store.signals.stream(request.prompt, filterOf(query))
        const type = format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson; charset=utf-8'
        return reply
          .type(type)
          .header('Content-Disposition', `attachment; filename="${request.prompt.publicId}-signals.${format}"`)
          .send(Readable.from(format === 'csv' ? csv(portions) : ndjson(portions)))
      },
    )

    app.get(
      '/prompts/:prompt_id/signals/summary',
      {
        schema: {
          operationId: 'summariseSignals',
          summary: 'Get sums of signals',
          description: 'By hour, day or week, with the empty ones.',
          tags,
          params: promptParamsSchema,
          querystring: summaryQuerySchema,
          response: { 200: summarySchema, ...errors, 422: noTime('from') },
        },
        config,
      },
      async (request) => {
        const query = request.query as Query
        const interval = wordParameter(query, 'interval', intervals) ?? 'day'
        const [from, to] = [timeParameter(query, 'from'), timeParameter(query, 'to')]
        const until = to ?? clock()
        const span = { from: from ?? Math.max(0, until - month), until }
        checkSpan(['from', span.from], ['to', span.until])
        const starts = intervalStarts(interval, span)
        const last = (starts.at(-1) as Instant) + intervalLength(interval)
        const sums = await store.signals.sums(request.prompt, { from: starts[0] as Instant, until: last }, interval)
        return summarise(interval, starts, sums)
      },
    )

    app.delete(
      '/prompts/:prompt_id/signals/:signal_id',
      {
        schema: {
          operationId: 'retractSignal',
          summary: 'Take a signal back',
          description: "It leaves every figure; the month's count stays.",
          tags,
          params: signalParamsSchema,
          response: { 204: { type: 'null', description: 'The signal is gone' }, ...errors, 422: noBodySchema },
        },
        config,
      },
      async (request, reply) => {
        const { signal_id: id } = request.params as { signal_id: string }
        const { prompt, access } = request
        if (!(await store.signals.retract(prompt, pathId(id), clock(), access))) throw notFound()
        return reply.status(204).send()
      },
    )
  }
}

function filterOf(query: Query): SignalFilter {
  const [since, until] = [timeParameter(query, 'since'), timeParameter(query, 'until')]
  checkSpan(['since', since], ['until', until])
  return { value: wordParameter(query, 'value', signalValues), since, until }
}

function toLine({ id, value, metadata, createdAt }: StoredSignal): string {
  return `{"id":${id},"value":"${value}","metadata":${metadata ?? 'null'},"created_at":"${isoTime(createdAt)}"}`
}

async function* ndjson(portions: AsyncIterable<StoredSignal[]>): AsyncGenerator<string> {
  for await (const signals of portions) yield signals.map((signal) => `${toLine(signal)}\n`).join('')
}

async function* csv(portions: AsyncIterable<StoredSignal[]>): AsyncGenerator<string> {
  yield csvLine(['id', 'value', 'created_at', 'metadata'])
  for await (const signals of portions) {
    yield signals
      .map(({ id, value, createdAt, metadata }) => csvLine([id, value, isoTime(createdAt), metadata]))
      .join('')
  }
}

function summarise(interval: Interval, starts: Instant[], sums: IntervalTally[]) {
  const sumOf = new Map<Instant, Tally>(sums.map((sum) => [sum.start, sum]))
  const total: Tally = { positive: 0, negative: 0 }
  const data = starts.map((start) => {
    const { positive, negative } = sumOf.get(start) ?? { positive: 0, negative: 0 }
    total.positive += positive
    total.negative += negative
    return { start: isoTime(start), positive, negative }
  })
  return { data, interval, total }
}

function noTime(parameter: string) {
  return errorSchema(
    'validation_error',
    `${parameter} must be an ISO 8601 time with a zone, such as 2026-11-15T09:30:00.000Z`,
  )
}
