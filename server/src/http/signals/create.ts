import type { FastifyInstance } from 'fastify'
import { operations } from '../../../../contract/signals.ts'
import { type RecordedSignal, recordSignal } from '../../domain/signals/signal.ts'
import type { Instant } from '../../domain/time.ts'
import { type Answer, json, send } from '../answer.ts'
import type { Context } from '../context.ts'
import { route } from '../route.ts'
import { renderSignal } from './body.ts'
import { addRateLimitHeaders, rateLimitHeadersOf } from './rate-limit.ts'
import { parseSignal } from './validation.ts'

export function createSignalRoute(app: FastifyInstance, context: Context): void {
  const { store, clock, planLimits, voters } = context
  const onSend = addRateLimitHeaders(context)
  route(
    app,
    operations.createSignal,
    async (request, reply) => {
      const now = clock()
      const parsed = parseSignal(request, voters, now)
      const recorded = await recordSignal(
        store.signals,
        request.access,
        planLimits,
        parsed instanceof Promise ? await parsed : parsed,
        now,
      )
      return send(reply, recordedAnswer(recorded, now))
    },
    {
      onSend,
    },
  )
}

export function recordedAnswer({ signal, isNew, allowance }: RecordedSignal, now: Instant): Answer {
  return {
    status: isNew ? 201 : 200,
    headers: { ...rateLimitHeadersOf(allowance, now), ...json },
    body: `{"data":${renderSignal(signal)}}`,
  }
}
