import { createKey, revokeKey, rotateKey } from './keys.ts'
import { type Call, findPrompt, notFound, ok, orError, type Prediction, type Request, reject } from './request.ts'
import { deleteSignal, eraseSignals, listSignals, recordBatch, recordSignal, summariseSignals } from './signals.ts'
import {
  isActive,
  iso,
  type Model,
  monthlyLimits,
  monthOf,
  monthStart,
  nextMonth,
  type Organisation,
  remaining,
  usedIn,
} from './state.ts'

const operations: Record<string, (call: Call) => Prediction> = {
  'POST /prompts/:id/signals': recordSignal,
  'GET /prompts/:id/signals': listSignals,
  'GET /prompts/:id/signals/summary': summariseSignals,
  'DELETE /prompts/:id/signals/:id': deleteSignal,
  'POST /signals': recordBatch,
  'POST /signals/erase': eraseSignals,
  'POST /keys': createKey,
  'DELETE /keys/:id': revokeKey,
  'POST /keys/:id/rotate': rotateKey,
  'GET /usage': readUsage,
}

/** Predicts the service's response at this time, and changes the model as the service changes. */
export function predict(model: Model, request: Request, now: number): Prediction {
  return orError(() => {
    const organisation = authenticate(model, request, now) ?? reject(401, 'unauthorized')
    const { method, path, query = {} } = request
    const id = /(?<=\/)(pmt_\w+|\d+)/g
    const operation = operations[`${method} ${path.replace(id, ':id')}`] ?? notFound()
    const ids = path.match(id) ?? []
    return operation({
      model,
      organisation,
      request,
      query,
      now,
      ids,
      get prompt() {
        return findPrompt(organisation, ids[0])
      },
    })
  })
}

function authenticate({ organisations }: Model, { key }: Request, now: number): Organisation | undefined {
  return organisations.find(({ keys }) => keys.some((known) => known.secret === key && isActive(known, now)))
}

function readUsage({ organisation, now }: Call): Prediction {
  const { plan } = organisation
  const months: object[] = []
  for (let at = now; months.length < 12; at = monthStart(at) - 1) {
    months.push({ month: monthOf(at), used: usedIn(organisation, at) })
  }
  const rest = { remaining: remaining(organisation, now), resets_at: iso(nextMonth(now)) }
  return ok({ data: { plan, limit: monthlyLimits[plan], used: usedIn(organisation, now), ...rest, months } })
}
