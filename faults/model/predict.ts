import { listHistory, listImpact, recordEntry } from './history.ts'
import { createKey, listKeys, revokeKey, rotateKey } from './keys.ts'
import {
  any,
  type Call,
  created,
  ErrorResponse,
  invalid,
  noContent,
  notFound,
  ok,
  type Prediction,
  parseObject,
  type Request,
  reject,
} from './request.ts'
import { deleteSignal, eraseSignals, exportSignals, listSignals, recordSignal, summariseSignals } from './signals.ts'
import {
  existingPrompts,
  isActive,
  iso,
  type Model,
  monthlyLimits,
  monthOf,
  nextMonth,
  type Role,
  usedIn,
} from './state.ts'

type Handler = (call: Call) => Prediction

const everyone: Role[] = ['ingest', 'standard', 'admin']
const readers: Role[] = ['standard', 'admin']
const admins: Role[] = ['admin']

/** The operations whose responses depend on more than their own resource, with the roles that may use them. */
const operations: Record<string, [Role[], Handler]> = {
  'POST prompts/:id/signals': [everyone, recordSignal],
  'GET prompts/:id/signals': [readers, listSignals],
  'GET prompts/:id/signals/export': [readers, exportSignals],
  'GET prompts/:id/signals/summary': [readers, summariseSignals],
  'DELETE prompts/:id/signals/:id': [readers, deleteSignal],
  'POST signals/erase': [admins, eraseSignals],
  'GET prompts/:id/history': [readers, listHistory],
  'POST prompts/:id/history': [admins, recordEntry],
  'GET prompts/:id/impact': [readers, listImpact],
  'POST prompts': [admins, createPrompt],
  'DELETE prompts/:id': [admins, deletePrompt],
  'GET keys': [admins, listKeys],
  'POST keys': [admins, createKey],
  'DELETE keys/:id': [admins, revokeKey],
  'POST keys/:id/rotate': [admins, rotateKey],
  'GET usage': [readers, readUsage],
}

/** Predicts the service's response at this time, and changes the model as the service changes. */
export function predict(model: Model, request: Request, now: number): Prediction {
  try {
    const { organisation, key } = authenticate(model, request, now) ?? reject(401, 'unauthorized')
    const { method, path, query = {} } = request
    const [noun = '', id = '', part = '', partId = ''] = path.slice(1).split('/')
    const fixed = noun === 'signals' ? id : id && ':id'
    const fixedPart = method === 'GET' ? partId : partId && ':id'
    const name = `${method} ${[noun, fixed, part, fixedPart].filter((word) => word !== '').join('/')}`
    const [roles, handle] = operations[name] ?? notFound()
    if (!roles.includes(key.role)) reject(403, 'forbidden')
    return handle({
      model,
      organisation,
      request,
      query,
      now,
      id,
      partId,
      get prompt() {
        return existingPrompts(organisation).find((prompt) => prompt.id === id) ?? notFound()
      },
    })
  } catch (error) {
    if (!(error instanceof ErrorResponse)) throw error
    const { status, code, extra, headers } = error
    return { status, body: { error: { code, message: any, ...extra } }, headers }
  }
}

function authenticate({ organisations }: Model, { key: secret }: Request, now: number) {
  for (const organisation of organisations) {
    const key = organisation.keys.find((key) => key.secret === secret)
    if (key !== undefined) return isActive(key, now) ? { organisation, key } : null
  }
  return null
}

function createPrompt({ organisation, request }: Call): Prediction {
  const { name } = parseObject(request.body)
  if (typeof name !== 'string' || name.trim() === '') return invalid()
  return created<{ data: { id: string } }>({ data: any }, ({ data: { id } }) => {
    organisation.prompts.push({ id, deleted: false, signals: [], entries: [] })
  })
}

function deletePrompt({ prompt }: Call): Prediction {
  prompt.deleted = true
  return noContent()
}

function readUsage({ organisation, now }: Call): Prediction {
  const { plan } = organisation
  const limit = monthlyLimits[plan]
  const used = usedIn(organisation, now)
  const months: object[] = []
  for (let at = now; months.length < 12; at = Date.parse(`${monthOf(at)}-01T00:00:00.000Z`) - 1) {
    months.push({ month: monthOf(at), used: usedIn(organisation, at) })
  }
  const resetsAt = iso(nextMonth(now))
  return ok({ data: { plan, limit, used, remaining: Math.max(0, limit - used), resets_at: resetsAt, months } })
}
