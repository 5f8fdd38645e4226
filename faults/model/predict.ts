import { auditRejectedKey, listAudit } from './audit.ts'
import { listDeployments, recordDeployment } from './deployments.ts'
import { listHistory, listImpact, readEntry, recordEntry } from './history.ts'
import { createKey, listKeys, revokeKey, rotateKey } from './keys.ts'
import { createPrompt, deletePrompt, listPrompts, readPrompt, renamePrompt } from './prompts.ts'
import { type Call, errorPrediction, isCookie, notFound, ok, type Prediction, type Request, reject } from './request.ts'
import { authenticateSession, readSession, signIn, signOut } from './sessions.ts'
import {
  deleteSignal,
  eraseSignals,
  exportSignals,
  listSignals,
  recordBatch,
  recordSignal,
  summariseSignals,
} from './signals.ts'
import {
  isActive,
  iso,
  type Model,
  monthlyLimits,
  monthOf,
  nextMonth,
  type Prompt,
  type Role,
  usedIn,
  visiblePrompts,
} from './state.ts'

type Handler = (call: Call) => Prediction

const senders: Role[] = ['ingest', 'standard', 'admin']
const recorders: Role[] = ['recorder', 'admin']
const readers: Role[] = ['reader', 'standard', 'admin']
const deleters: Role[] = ['standard', 'admin']
const admins: Role[] = ['admin']

/** The operations whose responses depend on more than their own resource, with the roles that may use them. */
const operations: Record<string, [Role[], Handler]> = {
  'POST prompts/:id/signals': [senders, recordSignal],
  'GET prompts/:id/signals': [readers, listSignals],
  'GET prompts/:id/signals/export': [readers, exportSignals],
  'GET prompts/:id/signals/summary': [readers, summariseSignals],
  'DELETE prompts/:id/signals/:id': [deleters, deleteSignal],
  'POST signals': [senders, recordBatch],
  'POST signals/erase': [admins, eraseSignals],
  'POST prompts/:id/deployments': [recorders, recordDeployment],
  'GET prompts/:id/deployments': [readers, listDeployments],
  'GET prompts/:id/history': [readers, listHistory],
  'POST prompts/:id/history': [recorders, recordEntry],
  'GET prompts/:id/history/:id': [readers, readEntry],
  'GET prompts/:id/impact': [readers, listImpact],
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

/** Predicts the service's response at this time, and changes the model as the service changes. */
export function predict(model: Model, request: Request, now: number): Prediction {
  // Sessions are for browsers, which must not keep what they read.
  const cacheControl: Record<string, string> = isCookie(request.key) ? { 'cache-control': 'no-store' } : {}
  try {
    const { organisation, key } = authenticate(model, request, now) ?? reject(401, 'unauthorized')
    const { method, path, query = {} } = request
    const [noun = '', id = '', part = '', partId = ''] = path.slice(1).split('/')
    const fixed = noun === 'signals' ? id : id && ':id'
    const fixedPart = /^\d+$/.test(partId) ? ':id' : partId
    const name = `${method} ${[noun, fixed, part, fixedPart].filter((word) => word !== '').join('/')}`
    const [roles, handle] = operations[name] ?? notFound()
    if (!roles.includes(key.role)) reject(403, 'forbidden')
    const promptNamed = (reference: string) => {
      const visible = visiblePrompts(organisation, key)
      const isNamed = (prompt: Prompt) => prompt.name === reference
      return visible.find((prompt) => prompt.id === reference) ?? visible.find(isNamed) ?? notFound()
    }
    const prediction = handle({
      model,
      organisation,
      key,
      request,
      query,
      now,
      id,
      partId,
      promptNamed,
      get prompt() {
        return promptNamed(id === '%' ? id : decodeURIComponent(id))
      },
    })
    return { ...prediction, headers: { ...prediction.headers, ...cacheControl } }
  } catch (error) {
    const prediction = errorPrediction(error)
    return { ...prediction, headers: { ...prediction.headers, ...cacheControl } }
  }
}

function authenticate(model: Model, { key: secret }: Request, now: number) {
  if (isCookie(secret)) return authenticateSession(model, secret, now)
  for (const organisation of model.organisations) {
    const key = organisation.keys.find((key) => key.secret === secret)
    if (key === undefined) continue
    if (isActive(key, now)) return { organisation, key }
    auditRejectedKey(model, organisation, key, now)
  }
  return null
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
