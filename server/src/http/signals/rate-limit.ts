import type { DoneFuncWithErrOrRes, FastifyReply, FastifyRequest } from 'fastify'
import type { Access } from '../../domain/access/api-key.ts'
import type { Allowance } from '../../domain/signals/signal.ts'
import { type Instant, nextMonthStart } from '../../domain/time.ts'
import type { Answer } from '../answer.ts'
import type { Context } from '../context.ts'
import { secondsUntilReset } from '../errors.ts'

/** An onSend hook that adds the headers to responses that recorded nothing, errors included, once the caller is known. */
export function addRateLimitHeaders(context: Context) {
  return (request: FastifyRequest, reply: FastifyReply, payload: unknown, done: DoneFuncWithErrOrRes): void => {
    if (reply.hasHeader('ratelimit-limit') || !request.access) {
      done(null, payload)
      return
    }
    addCurrentRateLimit(context, request.access, reply.statusCode, (headers) => {
      reply.headers(headers)
      done(null, payload)
    })
  }
}

/** Calls `done` with the headers of a response with this status that recorded nothing. */
export function addCurrentRateLimit(
  { store, clock, planLimits }: Context,
  { organisationId, plan }: Access,
  status: number,
  done: (headers: Answer['headers']) => void,
): void {
  const limit = planLimits[plan]
  if (limit === null || status >= 500) {
    done({})
    return
  }
  const now = clock()
  store.signals.usedInMonth(organisationId, now).then(
    (used) => done(rateLimitHeadersOf({ limit, used, resetsAt: nextMonthStart(now) }, now)),
    // The response is still valid without these headers.
    () => done({}),
  )
}

export function rateLimitHeadersOf(allowance: Allowance | null, now: Instant): Answer['headers'] {
  if (allowance === null || allowance.limit === null) return {}
  const { limit, used, resetsAt } = allowance
  return {
    'ratelimit-limit': limit,
    'ratelimit-remaining': Math.max(0, limit - used),
    'ratelimit-reset': secondsUntilReset(resetsAt, now),
  }
}
