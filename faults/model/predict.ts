import { listHistory, listImpact, listTimeline, readEntry, readLive, recordEntry } from './history.ts'
import { createKey, listKeys, readSession, revokeKey, rotateKey, signIn, signOut } from './keys.ts'
import { createPrompt, deletePrompt, listPrompts, readPrompt, renamePrompt } from './prompts.ts'
import {
  any,
  type Call,
  ErrorResponse,
  notFound,
  ok,
  type Prediction,
  page,
  parseRange,
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
  type Organisation,
  type Role,
  type Session,
  usedIn,
} from './state.ts'

type Handler = (call: Call) => Prediction

const everyone: Role[] = ['ingest', 'standard', 'admin']
const readers: Role[] = ['standard', 'admin']
const admins: Role[] = ['admin']

/** Every operation, with the roles that may use it. */
const operations: Record<string, [Role[], Handler]> = {
  'POST prompts/:id/signals': [everyone, recordSignal],
  'GET prompts/:id/signals': [readers, listSignals],
  'GET prompts/:id/signals/export': [readers, exportSignals],
  'GET prompts/:id/signals/summary': [readers, summariseSignals],
  'DELETE prompts/:id/signals/:id': [readers, deleteSignal],
  'POST signals/erase': [admins, eraseSignals],
  'GET prompts/:id/history': [readers, listHistory],
  'POST prompts/:id/history': [admins, recordEntry],
  'GET prompts/:id/history/:id': [readers, readEntry],
  'GET prompts/:id/live': [readers, readLive],
  'GET prompts/:id/impact': [readers, listImpact],
  'GET prompts/:id/timeline': [readers, listTimeline],
  'GET prompts': [readers, listPrompts],
  'POST prompts': [admins, createPrompt],
  'GET prompts/:id': [readers, readPrompt],
  'PATCH prompts/:id': [admins, renamePrompt],
  'DELETE prompts/:id': [admins, deletePrompt],
  'GET keys': [admins, listKeys],
  'POST keys': [admins, createKey],
  'DELETE keys/:id': [admins, revokeKey],
  'POST keys/:id/rotate': [admins, rotateKey],
  'GET usage': [readers, readUsage],
  'GET audit': [admins, listAudit],
  'POST session': [readers, signIn],
  'GET session': [readers, readSession],
  'DELETE session': [readers, signOut],
}

/** Predicts the service's response at this time and changes the model as the service changes, except for what it has to learn. */
export function predict(model: Model, request: Request, now: number): Prediction {
  try {
    const caller = authenticate(model, request, now) ?? reject(401, 'unauthorized')
    const { method, path, query = {} } = request
    const [noun = '', id = '', part = '', partId = ''] = path.slice(1).split('/')
    const fixed = noun === 'signals' ? id : id && ':id'
    const fixedPart = part === 'signals' && method === 'GET' ? partId : partId && ':id'
    const name = `${method} ${[noun, fixed, part, fixedPart].filter((word) => word !== '').join('/')}`
    const [roles, handle] = operations[name] ?? notFound()
    if (!roles.includes(caller.key.role)) reject(403, 'forbidden')
    return handle({
      model,
      ...caller,
      request,
      query,
      now,
      id,
      partId,
      get prompt() {
        return existingPrompts(caller.organisation).find((prompt) => prompt.id === id) ?? notFound()
      },
    })
  } catch (error) {
    if (!(error instanceof ErrorResponse)) throw error
    const { status, code, extra, headers } = error
    return { status, body: { error: { code, message: any, ...extra } }, headers }
  }
}

type Caller = Pick<Call, 'organisation' | 'key' | 'session'>

function authenticate(model: Model, { key: secret, token = '' }: Request, now: number): Caller | null {
  const caller = secret === undefined ? signedIn(model.sessions.get(token), now) : holderOf(model, secret)
  if (caller === null || !isActive(caller.key, now)) return null
  return caller
}

function signedIn(session: Session | undefined, now: number): Caller | null {
  if (session === undefined || now >= session.expiresAt) return null
  const { organisation, key } = session
  return { organisation, key, session }
}

function holderOf({ organisations }: Model, secret: string): Caller | null {
  for (const organisation of organisations) {
    const key = organisation.keys.find((key) => key.secret === secret)
    if (key !== undefined) return { organisation, key, session: null }
  }
  return null
}

function readUsage({ organisation, now }: Call): Prediction {
  const limit = monthlyLimits[organisation.plan]
  const used = usedIn(organisation, now)
  const months: object[] = []
  for (let at = now; months.length < 12; at = Date.parse(`${monthOf(at)}-01T00:00:00.000Z`) - 1) {
    months.push({ month: monthOf(at), used: usedIn(organisation, at) })
  }
  const resetsAt = iso(nextMonth(now))
  const { plan } = organisation
  return ok({ data: { plan, limit, used, remaining: Math.max(0, limit - used), resets_at: resetsAt, months } })
}

function listAudit({ organisation, query }: Call): Prediction {
  const isInRange = parseRange(query.since, query.until)
  const entries = auditNewestFirst(organisation)
    .filter(({ action, at }) => action === (query.action ?? action) && isInRange(at))
    .map(({ at, ...entry }) => ({ id: any, at: iso(at), ...entry }))
  return ok(page(entries, query))
}

function auditNewestFirst({ audit }: Organisation): Organisation['audit'] {
  return audit.toReversed().sort((a, b) => b.at - a.at)
}
