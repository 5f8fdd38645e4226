import type { FastifyInstance } from 'fastify'
import { operations } from '../../../../contract/signals.ts'
import { chooseInterval, type FeedbackSteps, feedbackStepsOf } from '../../domain/impact/feedback-steps.ts'
import { segmentSummariesOf } from '../../domain/impact/segment-summary.ts'
import type { Prompt } from '../../domain/prompt.ts'
import { type Interval, intervalLength, intervalStarts, intervals, type Span } from '../../domain/signals/interval.ts'
import type { IntervalTally } from '../../domain/signals/signal.ts'
import type { Tally } from '../../domain/signals/tally.ts'
import { day, type Instant, isoTime, timeOrNull } from '../../domain/time.ts'
import type { Context } from '../context.ts'
import { requestedSegment } from '../impact/parameters.ts'
import { checkTimeRange, enumParameter, type Query, timeParameter } from '../parameters.ts'
import { route } from '../route.ts'

const defaultRangeMs = 30 * day

export function signalSummaryRoute(app: FastifyInstance, { store, clock }: Context): void {
  async function withSegments<Body>(body: Body, prompt: Prompt, key: string | null, span: Span, starts: Instant[]) {
    if (key === null) return body
    const { segments, others, countedFrom } = await segmentSummariesOf(store.signals, prompt, key, span, starts)
    const data = segments.map(({ value, total, intervals }) => ({
      value,
      total,
      data: intervals.map(({ start, positive, negative }) => ({ start: isoTime(start), positive, negative })),
    }))
    return { ...body, segments: { key, data, others, counted_from: timeOrNull(countedFrom) } }
  }

  route(app, operations.summariseSignals, async (request) => {
    const query = request.query as Query
    const wanted = enumParameter(query, 'interval', [...intervals, 'auto']) ?? 'day'
    const isSplit = enumParameter(query, 'split', ['changes']) !== null
    const [from, to] = [timeParameter(query, 'from'), timeParameter(query, 'to')]
    const by = await requestedSegment(store, request)
    const now = clock()
    const until = to ?? now
    const asked = { from: from ?? Math.max(0, until - defaultRangeMs), until }
    checkTimeRange(['from', asked.from], ['to', asked.until])
    // The interval is chosen for the time up to now. A later end would have any number of empty intervals.
    const span = wanted === 'auto' ? { from: asked.from, until: Math.min(until, Math.max(now, asked.from) + 1) } : asked
    const interval = wanted === 'auto' ? await chooseInterval(store, request.prompt, span, now) : wanted
    if (isSplit) {
      const steps = await feedbackStepsOf(store, request.prompt, span, interval, now)
      const body = toSplitBody(interval, steps)
      const partStarts = steps.steps.map(({ from }) => from)
      // Steps are whole hours.
      const whole = { from: partStarts[0] ?? span.from, until: steps.steps.at(-1)?.until ?? span.until }
      return withSegments(body, request.prompt, by, whole, partStarts)
    }
    const starts = intervalStarts(interval, span)
    const end = (starts.at(-1) as Instant) + intervalLength(interval)
    const wholeIntervals = { from: starts[0] as Instant, until: end }
    const tallies = await store.signals.tallyByInterval(request.prompt, wholeIntervals, interval)
    return withSegments(summarise(interval, starts, tallies), request.prompt, by, wholeIntervals, starts)
  })
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

function toSplitBody(interval: Interval, { steps, isSplit }: FeedbackSteps) {
  const data = steps.map(({ from, until, positive, negative, changes, versions, entryId }) => {
    return { start: isoTime(from), end: isoTime(until), positive, negative, changes, versions, entry_id: entryId }
  })
  const sum = (value: 'positive' | 'negative') => steps.reduce((total, step) => total + step[value], 0)
  return { data, interval, split: isSplit, total: { positive: sum('positive'), negative: sum('negative') } }
}
