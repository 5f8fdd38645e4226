import type { DoneFuncWithErrOrRes, FastifyReply, FastifyRequest } from 'fastify'
import type { Allowance } from '../../domain/signals/signal.ts'
import { type Instant, nextMonthStart } from '../../domain/time.ts'
import type { Context } from '../context.ts'

export const rateLimitHeaders = {
  'RateLimit-Limit': { description: "The plan's monthly signal limit", schema: { type: 'integer' } },
  'RateLimit-Remaining': { description: 'Signals left in the current month', schema: { type: 'integer' } },
  'RateLimit-Reset': { description: 'Seconds until the counter resets', schema: { type: 'integer' } },
}

/** An onSend hook that adds the headers to responses that recorded nothing, errors included, once the caller is known. */
export function addRateLimitHeaders({ store, clock, planLimits }: Context) {
  return (request: FastifyRequest, reply: FastifyReply, payload: unknown, done: DoneFuncWithErrOrRes): void => {
    if (reply.hasHeader('RateLimit-Limit') || !request.access || reply.statusCode >= 500) {
      done(null, payload)
      return
    }
    const { organisationId, plan } = request.access
    const limit = planLimits[plan]
    if (limit === null) {
      done(null, payload)
      return
    }
    const now = clock()
    store.signals.usedInMonth(organisationId, now).then(
      (used) => {
        setRateLimitHeaders(reply, { limit, used, resetsAt: nextMonthStart(now) }, now)
        done(null, payload)
      },
      // The response is still valid without these headers.
      () => done(null, payload),
    )
  }
}

export function setRateLimitHeaders(reply: FastifyReply, { limit, used, resetsAt }: Allowance, now: Instant): void {
  if (limit === null) return
  reply.header('RateLimit-Limit', limit)
  reply.header('RateLimit-Remaining', Math.max(0, limit - used))
  reply.header('RateLimit-Reset', Math.max(1, Math.ceil((resetsAt - now) / 1_000)))
}
