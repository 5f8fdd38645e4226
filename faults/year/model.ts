import { changes, impactOf, newestFirst, recordEntry, timeline } from './model/history.ts'
import { createKey, keyBody, rotate, sessionBody, signIn } from './model/keys.ts'
import { createPrompt, listPrompts, nameIn, overview } from './model/prompts.ts'
import {
  any,
  done,
  notFound,
  ok,
  type Prediction,
  page,
  type Query,
  Refused,
  type Request,
  refuse,
  spanIn,
  timeIn,
} from './model/request.ts'
import { erase, exportSignals, listSignals, recordSignal, retract, summarise, withAllowance } from './model/signals.ts'
import {
  audit,
  type Caller,
  type Key,
  limits,
  type Model,
  type Organisation,
  type Plan,
  type Role,
  usedIn,
  works,
} from './model/state.ts'
import { floor, hour, iso, monthOf, resetOf } from './model/time.ts'

/** What the service has to answer now. The model is changed as the service is, apart from what it has to learn. */
export function predict(model: Model, request: Request, now: number): Prediction {
  try {
    const caller = callerOf(model, request, now)
    if (caller === null) throw new Refused(401, 'unauthorized')
    return answer(model, caller, request, now)
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    return {
      status: error.status,
      body: { error: { code: error.code, message: any, ...error.extra } },
      headers: error.headers,
    }
  }
}

export function changePlan(organisation: Organisation, plan: Plan, now: number): void {
  if (plan === organisation.plan) return
  const { id, name, plan: from } = organisation
  audit(organisation, null, now, 'organisation.plan_changed', id, name, { from, to: plan })
  organisation.plan = plan
}

/** Signals of longer ago are removed, with their idempotency keys: on SQLite whole hours, on PostgreSQL whole months. */
export function removeBefore(model: Model, cutoff: number): void {
  const line = model.engine === 'sqlite' ? floor(cutoff, hour) : Date.parse(`${monthOf(cutoff)}-01T00:00:00.000Z`)
  model.keptSince = Math.max(model.keptSince, line)
  for (const { idempotency } of model.organisations) {
    for (const [key, { createdAt }] of idempotency) if (createdAt < model.keptSince) idempotency.delete(key)
  }
}

/** When keys were used is stored. */
export function storeUses(model: Model): void {
  for (const key of model.organisations.flatMap(({ keys }) => keys)) key.lastUsedAt = key.notedAt ?? key.lastUsedAt
  loseUses(model)
}

export function loseUses(model: Model): void {
  for (const key of model.organisations.flatMap(({ keys }) => keys)) key.notedAt = null
}

function callerOf(model: Model, { key: secret, token }: Request, now: number): Caller | null {
  const caller = secret === undefined ? signedIn(model, token ?? '') : holder(model, secret)
  if (caller === null || !works(caller.key, now)) return null
  if (caller.session !== null && now >= caller.session.expiresAt) return null
  caller.key.notedAt = now
  return caller
}

function holder(model: Model, secret: string): Caller | null {
  for (const organisation of model.organisations) {
    const key = organisation.keys.find((key) => key.secret === secret)
    if (key !== undefined) return { organisation, key, session: null }
  }
  return null
}

function signedIn(model: Model, token: string): Caller | null {
  const session = model.sessions.get(token)
  return session === undefined ? null : { organisation: session.organisation, key: session.key, session }
}

/** Everything that can be asked, each with who may. */
export function answer(model: Model, caller: Caller, request: Request, now: number): Prediction {
  const { organisation, key } = caller
  const { method, path, query = {} } = request
  const [noun = '', id = '', part = '', partId = ''] = path.slice(1).split('/')
  const named = `${method} ${[noun, id && (noun === 'signals' ? id : ':id'), part, partId && ':id'].filter((word) => word !== '').join('/')}`
  const readers = () => mayOnly(key, ['standard', 'admin'])
  const admins = () => mayOnly(key, ['admin'])
  const prompt = () => organisation.prompts.find((prompt) => prompt.id === id && !prompt.deleted) ?? refuse(notFound())
  switch (named) {
    case 'POST prompts/:id/signals':
      return withAllowance(organisation, now, () => recordSignal(model, organisation, prompt(), request, now))
    case 'GET prompts/:id/signals':
      readers()
      return ok(listSignals(model, prompt(), query))
    case 'GET prompts/:id/signals/:id': {
      readers()
      if (partId === 'export') return ok(exportSignals(model, prompt(), query))
      if (partId === 'summary') return ok(summarise(prompt(), query, now))
      throw notFound()
    }
    case 'DELETE prompts/:id/signals/:id':
      readers()
      return retract(model, caller, prompt(), Number(partId), now)
    case 'POST signals/erase':
      admins()
      return erase(model, caller, request, now)
    case 'GET prompts/:id/history':
      readers()
      return ok(page(newestFirst(prompt().entries), query))
    case 'POST prompts/:id/history':
      admins()
      return recordEntry(prompt(), request)
    case 'GET prompts/:id/history/:id': {
      readers()
      const entry = prompt().entries.find((entry) => String(entry.id) === partId) ?? refuse(notFound())
      return ok({ data: { ...entry, message: null, actor: null, path: null, before: null, after: null, patch: null } })
    }
    case 'GET prompts/:id/live': {
      readers()
      const { entries } = prompt()
      const at = query.at === undefined ? now : timeIn(query.at)
      const entry = changes(entries).find(({ created_at }) => Date.parse(created_at) <= at) ?? refuse(notFound())
      return ok({ data: { entry, path: null, content: null } })
    }
    case 'GET prompts/:id/impact': {
      readers()
      const of = prompt()
      return ok(
        page(
          changes(of.entries).map((entry) => ({ entry, ...impactOf(model, of, entry) })),
          query,
        ),
      )
    }
    case 'GET prompts/:id/timeline':
      readers()
      return ok(timeline(model, prompt(), query))
    case 'GET prompts':
      readers()
      return ok(listPrompts(model, organisation, query, now))
    case 'POST prompts':
      admins()
      return createPrompt(model, caller, request, now)
    case 'GET prompts/:id':
      readers()
      return ok({ data: overview(model, prompt(), now) })
    case 'PATCH prompts/:id': {
      admins()
      const of = prompt()
      const name = nameIn(request)
      audit(organisation, key, now, 'prompt.renamed', of.id, name, { from: of.name })
      of.name = name
      return ok({ data: overview(model, of, now) })
    }
    case 'DELETE prompts/:id': {
      admins()
      const of = prompt()
      of.deleted = true
      audit(organisation, key, now, 'prompt.deleted', of.id, of.name)
      return done()
    }
    case 'GET keys':
      admins()
      return ok(
        page(
          organisation.keys.toSorted((a, b) => a.id - b.id).map((key) => keyBody(organisation, key)),
          query,
        ),
      )
    case 'POST keys':
      admins()
      return createKey(caller, request, now)
    case 'DELETE keys/:id': {
      admins()
      const of = organisation.keys.find((key) => String(key.id) === id) ?? refuse(notFound())
      if (of.revokedAt === null) audit(organisation, key, now, 'key.revoked', of.id, of.name)
      of.revokedAt ??= now
      return done()
    }
    case 'POST keys/:id/rotate':
      admins()
      return rotate(caller, id, request, now)
    case 'GET usage':
      readers()
      return ok({ data: usage(organisation, now) })
    case 'GET audit':
      admins()
      return ok(listAudit(organisation, query))
    case 'POST session':
      readers()
      return signIn(model, caller, now)
    case 'GET session':
      readers()
      return ok({ data: sessionBody(caller) })
    case 'DELETE session':
      readers()
      model.sessions.delete(request.token ?? '')
      return done()
    default:
      throw notFound()
  }
}

function mayOnly(key: Key, roles: Role[]): void {
  if (!roles.includes(key.role)) throw new Refused(403, 'forbidden')
}

function usage(organisation: Organisation, now: number): object {
  const { plan } = organisation
  const [limit, used] = [limits[plan], usedIn(organisation, now)]
  const months: object[] = []
  for (let at = now; months.length < 12; at = Date.parse(`${monthOf(at)}-01T00:00:00.000Z`) - 1) {
    months.push({ month: monthOf(at), used: usedIn(organisation, at) })
  }
  return { plan, limit, used, remaining: Math.max(0, limit - used), resets_at: iso(resetOf(now)), months }
}

function listAudit({ audit }: Organisation, query: Query): object {
  const [since, until] = spanIn(query.since, query.until)
  const entries = audit
    .filter(({ action }) => action === (query.action ?? action))
    .filter(({ at }) => (since ?? 0) <= at && at < (until ?? Number.POSITIVE_INFINITY))
    .map(({ at, ...entry }) => ({ id: any, at: iso(at), ...entry }))
  return page(entries.reverse(), query)
}
