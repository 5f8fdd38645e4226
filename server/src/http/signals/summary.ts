import type { FastifyInstance } from 'fastify'
import { readerRoles } from '../../domain/access/api-key.ts'
import { type Interval, intervalLength, intervalStarts, intervals } from '../../domain/signals/interval.ts'
import type { IntervalTally } from '../../domain/signals/signal.ts'
import type { Tally } from '../../domain/signals/tally.ts'
import { day, type Instant, isoTime } from '../../domain/time.ts'
import type { Context } from '../context.ts'
import { errorBodySchema, invalidTimeSchema } from '../error-schema.ts'
import { checkTimeRange, enumParameter, type Query, timeParameter } from '../parameters.ts'
import { promptParamsSchema } from '../prompts/id-schema.ts'
import { summaryQuerySchema, summarySchema } from './summary-schema.ts'

const defaultRangeMs = 30 * day

const schema = {
  operationId: 'summariseSignals',
  summary: 'Summarise signals',
  description: 'Counts per hour, day or week, including intervals without signals.',
  tags: ['Signals'],
  params: promptParamsSchema,
  querystring: summaryQuerySchema,
  response: {
    200: summarySchema,
    401: errorBodySchema,
    403: errorBodySchema,
    404: errorBodySchema,
    422: invalidTimeSchema('from'),
    500: errorBodySchema,
  },
}

export function signalSummaryRoute({ store, clock }: Context) {
  return async (app: FastifyInstance) => {
    app.get('/prompts/:prompt_id/signals/summary', { schema, config: { roles: readerRoles } }, async (request) => {
      const query = request.query as Query
      const interval = enumParameter(query, 'interval', intervals) ?? 'day'
      const [from, to] = [timeParameter(query, 'from'), timeParameter(query, 'to')]
      const until = to ?? clock()
      const span = { from: from ?? Math.max(0, until - defaultRangeMs), until }
      checkTimeRange(['from', span.from], ['to', span.until])
      const starts = intervalStarts(interval, span)
      const end = (starts.at(-1) as Instant) + intervalLength(interval)
      const wholeIntervals = { from: starts[0] as Instant, until: end }
      return summarise(interval, starts, await store.signals.tallyByInterval(request.prompt, wholeIntervals, interval))
    })
  }
}

function summarise(interval: Interval, starts: Instant[], tallies: IntervalTally[]) {
  const tallyAt = new Map<Instant, Tally>(tallies.map((tally) => [tally.start, tally]))
  const total: Tally = { positive: 0, negative: 0 }
  const data = starts.map((start) => {
    const { positive, negative } = tallyAt.get(start) ?? { positive: 0, negative: 0 }
    total.positive += positive
    total.negative += negative
    return { start: isoTime(start), positive, negative }
  })
  return { data, interval, total }
}
