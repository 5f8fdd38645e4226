import { isDeepStrictEqual } from 'node:util'
// What a verdict says has tests of its own; here it matters which signals it is made of.
import { differenceOf, verdictOf } from '../server/src/domain/verdict.ts'
import type { EngineName } from './fault.ts'

/** What the service ought to be, as docs/interface.md tells it: lists and sums, nothing kept in two places, nothing fast. */
export interface Model {
  engine: EngineName
  organisations: Organisation[]
  /** By their tokens. */
  sessions: Map<string, Session>
  signalIds: Set<number>
  /** Signals from before are removed and only counted. */
  keptSince: number
}

export interface Organisation {
  id: number
  name: string
  plan: Plan
  keys: Key[]
  prompts: Prompt[]
  /** How many signals were recorded in each month, by its name. */
  used: Map<string, number>
  idempotency: Map<string, { promptId: string; body: string; answer: object }>
  /** Oldest first. */
  audit: AuditEntry[]
}

export type Plan = 'free' | 'team' | 'business'
export type Role = 'ingest' | 'standard' | 'admin'

export interface Key {
  id: number
  secret: string
  name: string
  role: Role
  createdAt: number
  expiresAt: number | null
  revokedAt: number | null
  lastUsedAt: number | null
  /** Used then, which is not stored yet. */
  notedAt: number | null
}

export interface Prompt {
  id: string
  name: string
  createdAt: number
  deleted: boolean
  signals: Signal[]
  entries: Entry[]
}

export interface Signal {
  id: number
  value: 'positive' | 'negative'
  metadata: Record<string, unknown> | null
  createdAt: number
}

export interface Entry {
  id: number
  action: string
  user: { name: string; email: string }
  commit_sha: string
  pr_number: number | null
  pr_url: string | null
  branch_name: string
  created_at: string
}

interface AuditEntry {
  at: number
  actor: { key_id: number; name: string } | null
  action: string
  subject: { id: string; name: string }
  details: object | null
}

interface Session {
  organisation: Organisation
  key: Key
  expiresAt: number
}

export interface Request {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** After /api/v1. */
  path: string
  query?: Record<string, string>
  key?: string
  /** A session's. */
  token?: string
  body?: string
  idempotencyKey?: string
}

export interface Prediction {
  status: number
  /** What the body has; `any` stands for what nobody can tell. Null where there is none. */
  body: unknown
  headers: Record<string, string>
  /** Takes in what only the service could tell. */
  learn?: (body: never) => void
}

export const any = Symbol('anything')

export const limits: Record<Plan, number> = { free: 1_000, team: 10_000, business: 100_000 }

const hour = 3_600_000
const day = 24 * hour

export function newModel(engine: EngineName): Model {
  return { engine, organisations: [], sessions: new Map(), signalIds: new Set(), keptSince: 0 }
}

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

export function roomOf(organisation: Organisation, now: number): number {
  return limits[organisation.plan] - usedIn(organisation, now)
}

export function works(key: Key, now: number): boolean {
  return key.revokedAt === null && (key.expiresAt === null || now < key.expiresAt)
}

export function changePlan(organisation: Organisation, plan: Plan, now: number): void {
  if (plan === organisation.plan) return
  const { id, name, plan: from } = organisation
  audit(organisation, null, now, 'organisation.plan_changed', id, name, { from, to: plan })
  organisation.plan = plan
}

/** Signals of longer ago are removed: on SQLite whole hours, on PostgreSQL whole months. */
export function removeBefore(model: Model, cutoff: number): void {
  const line = model.engine === 'sqlite' ? floor(cutoff, hour) : Date.parse(`${monthOf(cutoff)}-01T00:00:00.000Z`)
  model.keptSince = Math.max(model.keptSince, line)
}

/** When keys were used is stored. */
export function storeUses(model: Model): void {
  for (const key of model.organisations.flatMap(({ keys }) => keys)) key.lastUsedAt = key.notedAt ?? key.lastUsedAt
  loseUses(model)
}

export function loseUses(model: Model): void {
  for (const key of model.organisations.flatMap(({ keys }) => keys)) key.notedAt = null
}

export function audit(
  organisation: Organisation,
  by: Key | null,
  at: number,
  action: string,
  id: string | number,
  name: string,
  details: object | null = null,
): void {
  const actor = by && { key_id: by.id, name: by.name }
  organisation.audit.push({ at, actor, action, subject: { id: String(id), name }, details })
}

class Refused extends Error {
  status: number
  code: string
  extra: object
  headers: Record<string, string>

  constructor(status: number, code: string, extra: object = {}, headers: Record<string, string> = {}) {
    super(code)
    this.status = status
    this.code = code
    this.extra = extra
    this.headers = headers
  }
}

const notFound = () => new Refused(404, 'not_found')
const invalid = () => new Refused(422, 'validation_error')

interface Caller {
  organisation: Organisation
  key: Key
  session: Session | null
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

type Query = Record<string, string>

/** Everything that can be asked, each with who may. */
function answer(model: Model, caller: Caller, request: Request, now: number): Prediction {
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

function refuse(refused: Refused): never {
  throw refused
}

function ok(body: unknown): Prediction {
  return { status: 200, body, headers: {} }
}

function done(): Prediction {
  return { status: 204, body: null, headers: {} }
}

// Recording

function recordSignal(
  model: Model,
  organisation: Organisation,
  prompt: Prompt,
  { body = '', idempotencyKey: key }: Request,
  now: number,
): Prediction {
  const { value, metadata } = parsed(body)
  if (value !== 'positive' && value !== 'negative') throw invalid()
  if (metadata != null && !isObject(metadata)) throw invalid()
  if (key !== undefined && !/^[!-~]{1,255}$/.test(key)) throw invalid()
  const before = key === undefined ? undefined : organisation.idempotency.get(key)
  if (before !== undefined) {
    if (before.promptId !== prompt.id || before.body !== body) throw invalid()
    return { status: 201, body: before.answer, headers: {} }
  }
  const [used, limit] = [usedIn(organisation, now), limits[organisation.plan]]
  if (used >= limit) {
    const seconds = String(Math.ceil((resetOf(now) - now) / 1_000))
    throw new Refused(429, 'rate_limited', { limit, used, resets_at: iso(resetOf(now)) }, { 'retry-after': seconds })
  }
  organisation.used.set(monthOf(now), used + 1)
  return {
    status: 201,
    body: { data: { id: any, value, created_at: iso(now) } },
    headers: {},
    learn(answer: { data: { id: number } }) {
      const { id } = answer.data
      if (model.signalIds.has(id)) throw new Error(`the id ${id} is given twice`)
      model.signalIds.add(id)
      prompt.signals.push({ id, value, metadata: (metadata as Signal['metadata']) ?? null, createdAt: now })
      if (key !== undefined) organisation.idempotency.set(key, { promptId: prompt.id, body, answer })
    },
  }
}

/** What is left of the limit goes with every answer. */
function withAllowance(organisation: Organisation, now: number, act: () => Prediction): Prediction {
  const allowance = () => ({
    'ratelimit-limit': String(limits[organisation.plan]),
    'ratelimit-remaining': String(Math.max(0, roomOf(organisation, now))),
    'ratelimit-reset': String(Math.ceil((resetOf(now) - now) / 1_000)),
  })
  try {
    const prediction = act()
    return { ...prediction, headers: { ...prediction.headers, ...allowance() } }
  } catch (error) {
    if (error instanceof Refused) Object.assign(error.headers, allowance())
    throw error
  }
}

function retract(model: Model, { organisation, key }: Caller, prompt: Prompt, id: number, now: number): Prediction {
  const at = prompt.signals.findIndex((signal) => signal.id === id && isKept(model, signal))
  if (at === -1) throw notFound()
  prompt.signals.splice(at, 1)
  audit(organisation, key, now, 'signal.retracted', id, prompt.name, { prompt_id: prompt.id })
  return done()
}

function erase(model: Model, { organisation, key }: Caller, { body = '' }: Request, now: number): Prediction {
  const { metadata: sought } = parsed(body)
  if (!isObject(sought) || Object.keys(sought).length === 0) throw invalid()
  let erased = 0
  for (const prompt of organisation.prompts) {
    const left = prompt.signals.filter((signal) => !isKept(model, signal) || !has(signal.metadata, sought))
    erased += prompt.signals.length - left.length
    prompt.signals = left
  }
  audit(organisation, key, now, 'signals.erased', organisation.id, organisation.name, { erased })
  return ok({ data: { erased } })
}

function has(metadata: Signal['metadata'], sought: Record<string, unknown>): boolean {
  if (metadata === null) return false
  return Object.entries(sought).every(
    ([name, value]) => Object.hasOwn(metadata, name) && isDeepStrictEqual(metadata[name], value),
  )
}

function recordEntry(prompt: Prompt, { body = '' }: Request): Prediction {
  const told = parsed(body) as unknown as Omit<Entry, 'id'>
  const isPull = told.action !== 'deployed'
  const sound =
    ['deployed', 'pr_opened', 'pr_merged', 'pr_closed'].includes(told.action) &&
    /^[0-9a-f]{40}$/i.test(told.commit_sha) &&
    (isPull ? told.pr_number !== null && told.pr_url !== null : told.pr_number === null && told.pr_url === null)
  if (!sound) throw invalid()
  const entry = { ...told, commit_sha: told.commit_sha.toLowerCase(), created_at: iso(timeIn(told.created_at)) }
  const same = prompt.entries.find(({ id: _, ...known }) => isDeepStrictEqual(known, entry))
  if (same !== undefined) return { status: 201, body: { data: same }, headers: {} }
  return {
    status: 201,
    body: { data: { id: any, ...entry } },
    headers: {},
    learn: ({ data }: { data: Entry }) => prompt.entries.push(data),
  }
}

// Reading

function listSignals(model: Model, prompt: Prompt, query: Query): object {
  return page(filtered(model, prompt, query).reverse().map(signalBody), query)
}

function exportSignals(model: Model, prompt: Prompt, query: Query): object {
  return filtered(model, prompt, query).map(signalBody)
}

/** Those that are kept and asked for, oldest first. */
function filtered(model: Model, { signals }: Prompt, query: Query): Signal[] {
  const [since, until] = spanIn(query.since, query.until)
  if (query.value !== undefined && query.value !== 'positive' && query.value !== 'negative') throw invalid()
  return signals
    .filter((signal) => isKept(model, signal))
    .filter(({ value, createdAt }) => {
      return (
        (query.value ?? value) === value && (since ?? 0) <= createdAt && createdAt < (until ?? Number.POSITIVE_INFINITY)
      )
    })
    .sort((a, b) => a.createdAt - b.createdAt || a.id - b.id)
}

function isKept({ keptSince }: Model, { createdAt }: Signal): boolean {
  return createdAt >= keptSince
}

function signalBody({ id, value, metadata, createdAt }: Signal): object {
  return { id, value, metadata, created_at: iso(createdAt) }
}

const lengths: Record<string, number> = { hour, day, week: 7 * day }
// A Monday.
const monday = Date.UTC(2024, 0, 1)

function summarise({ signals }: Prompt, query: Query, now: number): object {
  const interval = query.interval ?? 'day'
  const length = lengths[interval]
  if (length === undefined) throw invalid()
  const [from, to] = spanIn(query.from, query.to)
  const until = to ?? now
  const since = from ?? until - 30 * day
  if (until <= since) throw invalid()
  const data: object[] = []
  const all: Signal[] = []
  for (let start = monday + floor(since - monday, length); start < until; start += length) {
    const of = signals.filter(({ createdAt }) => createdAt >= start && createdAt < start + length)
    data.push({ start: iso(start), ...tally(of) })
    all.push(...of)
  }
  return { data, interval, total: tally(all) }
}

function tally(signals: Signal[]): { positive: number; negative: number } {
  const positive = signals.filter(({ value }) => value === 'positive').length
  return { positive, negative: signals.length - positive }
}

/** What went live, newest first. */
function changes(entries: Entry[]): Entry[] {
  return newestFirst(entries).filter(({ action }) => action === 'deployed' || action === 'pr_merged')
}

function newestFirst(entries: Entry[]): Entry[] {
  return entries.toSorted((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at) || b.id - a.id)
}

function impactOf(model: Model, prompt: Prompt, entry: Entry): object {
  const all = changes(prompt.entries)
  const at = all.indexOf(entry)
  const [next, earlier] = [all[at - 1], all[at + 1]]
  const before = earlier === undefined ? tally([]) : tallyBetween(model, prompt, earlier, entry)
  const after = tallyBetween(model, prompt, entry, next)
  const found = differenceOf(before, after)
  return {
    live_from: entry.created_at,
    live_until: next?.created_at ?? null,
    before: { ...before, rate: rate(before) },
    after: { ...after, rate: rate(after) },
    difference: found && rounded(found.difference),
    interval: found?.interval.map(rounded) ?? null,
    verdict: verdictOf(before, after),
  }
}

/** While a change was live. Of signals that are removed only the hour is known: all of it counts for what went live in it. */
function tallyBetween(model: Model, { signals }: Prompt, entry: Entry, next: Entry | undefined) {
  const known = (time: string) =>
    Date.parse(time) < model.keptSince ? floor(Date.parse(time), hour) : Date.parse(time)
  const [from, until] = [
    known(entry.created_at),
    next === undefined ? Number.POSITIVE_INFINITY : known(next.created_at),
  ]
  return tally(signals.filter(({ createdAt }) => createdAt >= from && createdAt < until))
}

function rate({ positive, negative }: { positive: number; negative: number }): number | null {
  return positive + negative === 0 ? null : positive / (positive + negative)
}

function rounded(share: number): number {
  return Math.round(share * 1e6) / 1e6
}

function timeline(model: Model, prompt: Prompt, query: Query): object {
  const [since, until] = spanIn(query.since, query.until)
  const actions = query.action?.split(',')
  if (actions?.some((action) => !['deployed', 'pr_opened', 'pr_merged', 'pr_closed'].includes(action))) throw invalid()
  const live = changes(prompt.entries)
  const entries = newestFirst(prompt.entries).filter(({ action, created_at }) => {
    const at = Date.parse(created_at)
    return (actions?.includes(action) ?? true) && (since ?? 0) <= at && at < (until ?? Number.POSITIVE_INFINITY)
  })
  return page(
    entries.map((entry) => {
      const impact = live.includes(entry) ? impactOf(model, prompt, entry) : null
      return { entry, message: null, actor: null, path: null, commit_url: null, impact }
    }),
    query,
  )
}

// Prompts

/** Signals of the last thirty days, today included. */
function lately({ signals }: Prompt, now: number): Signal[] {
  return signals.filter(({ createdAt }) => createdAt >= floor(now, day) - 29 * day)
}

function overview(model: Model, prompt: Prompt, now: number): object {
  const { id, name, createdAt } = prompt
  const [last] = changes(prompt.entries)
  const signals = lately(prompt, now)
  const days = Array.from({ length: 30 }, (_, i) => floor(now, day) - (29 - i) * day).map((start) => {
    return { start: iso(start), ...tally(signals.filter((signal) => floor(signal.createdAt, day) === start)) }
  })
  const verdict = last === undefined ? null : (impactOf(model, prompt, last) as { verdict: string }).verdict
  const figures = { ...tally(signals), days }
  return { id, name, path: null, created_at: iso(createdAt), last_change: last ?? null, verdict, signals: figures }
}

function listPrompts(model: Model, { prompts }: Organisation, query: Query, now: number): object {
  const sort = query.sort ?? 'name'
  const by = sort.replace(/^-/, '')
  const sign = sort.startsWith('-') ? -1 : 1
  const figure = (prompt: Prompt): number | null => {
    const signals = lately(prompt, now)
    const [last] = changes(prompt.entries)
    if (by === 'last_change') return last === undefined ? null : Date.parse(last.created_at)
    if (by === 'signals') return signals.length || null
    return rate(tally(signals))
  }
  const byName = (a: Prompt, b: Prompt) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name))
  if (!['name', 'last_change', 'signals', 'positive_share'].includes(by)) throw invalid()
  const found = prompts
    .filter(({ deleted, name }) => !deleted && name.toLowerCase().includes((query.q ?? '').toLowerCase()))
    .map((prompt, age) => ({ prompt, age, figure: by === 'name' ? null : figure(prompt) }))
    .sort((a, b) => {
      const names = byName(a.prompt, b.prompt)
      if (by === 'name') return sign * names || a.age - b.age
      if (a.figure === null || b.figure === null) {
        if (a.figure !== b.figure) return a.figure === null ? 1 : -1
        return names || a.age - b.age
      }
      return sign * (a.figure - b.figure) || names || a.age - b.age
    })
  const { data, pagination } = page(found, query)
  return { data: data.map(({ prompt }) => overview(model, prompt, now)), pagination }
}

function createPrompt(model: Model, { organisation, key }: Caller, request: Request, now: number): Prediction {
  const prompt: Prompt = { id: '', name: nameIn(request), createdAt: now, deleted: false, signals: [], entries: [] }
  return {
    status: 201,
    body: { data: { ...overview(model, prompt, now), id: any } },
    headers: {},
    learn({ data }: { data: { id: string } }) {
      prompt.id = data.id
      organisation.prompts.push(prompt)
      audit(organisation, key, now, 'prompt.created', prompt.id, prompt.name)
    },
  }
}

function nameIn({ body = '' }: Request): string {
  const { name } = parsed(body)
  if (typeof name !== 'string' || name.trim() === '') throw invalid()
  return name
}

// Keys and sessions

function keyBody(organisation: Organisation, key: Key): object {
  const { id, secret, name, role, createdAt, expiresAt, revokedAt, lastUsedAt } = key
  return {
    id,
    organisation_id: organisation.id,
    name,
    role,
    hint: secret.slice(-4),
    created_at: iso(createdAt),
    expires_at: isoOrNull(expiresAt),
    revoked_at: isoOrNull(revokedAt),
    last_used_at: isoOrNull(lastUsedAt),
  }
}

type Terms = Pick<Key, 'name' | 'role' | 'createdAt' | 'expiresAt'>

function issue(organisation: Organisation, terms: Terms, onIssued: (key: Key) => void): Prediction {
  const { name, role, createdAt, expiresAt } = terms
  const data = { name, role, created_at: iso(createdAt), expires_at: isoOrNull(expiresAt) }
  return {
    status: 201,
    body: { data: { id: any, key: any, organisation_id: organisation.id, ...data } },
    headers: {},
    learn({ data }: { data: { id: number; key: string } }) {
      const key = { ...terms, id: data.id, secret: data.key, revokedAt: null, lastUsedAt: null, notedAt: null }
      organisation.keys.push(key)
      onIssued(key)
    },
  }
}

function createKey({ organisation, key: by }: Caller, { body = '' }: Request, now: number): Prediction {
  const {
    name = 'unnamed',
    role = 'standard',
    expires_at,
  } = parsed(body) as { name?: string; role?: Role; expires_at?: string }
  if (!['ingest', 'standard', 'admin'].includes(role)) throw invalid()
  const expiresAt = expires_at === undefined ? null : timeIn(expires_at)
  if (expiresAt !== null && expiresAt <= now) throw invalid()
  return issue(organisation, { name, role, createdAt: now, expiresAt }, (key) => {
    audit(organisation, by, now, 'key.created', key.id, name, { role })
  })
}

function rotate({ organisation, key: by }: Caller, id: string, { body }: Request, now: number): Prediction {
  const old = organisation.keys.find((key) => String(key.id) === id) ?? refuse(notFound())
  const { overlap_hours: overlap = 24 } = body === undefined ? {} : (parsed(body) as { overlap_hours?: number })
  if (!Number.isInteger(overlap) || overlap < 0 || overlap > 8_760) throw invalid()
  if (!works(old, now)) throw new Refused(409, 'conflict')
  const { name, role } = old
  const expiresAt = old.expiresAt === null ? null : now + old.expiresAt - old.createdAt
  old.expiresAt = Math.min(old.expiresAt ?? Number.POSITIVE_INFINITY, now + overlap * hour)
  return issue(organisation, { name, role, createdAt: now, expiresAt }, (key) => {
    audit(organisation, by, now, 'key.rotated', old.id, name, { new_key_id: key.id })
  })
}

function signIn(model: Model, caller: Caller, now: number): Prediction {
  const { organisation, key, session } = caller
  // A session does not prolong itself.
  if (session !== null) throw new Refused(401, 'unauthorized')
  const begun = { organisation, key, expiresAt: Math.min(now + 30 * day, key.expiresAt ?? Number.POSITIVE_INFINITY) }
  return {
    status: 201,
    body: { data: sessionBody({ ...caller, session: begun }) },
    headers: {},
    learn: ({ token }: { token: string }) => model.sessions.set(token, begun),
  }
}

function sessionBody({ organisation, key, session }: Caller): object {
  const { id, name, plan } = organisation
  const expiresAt = Math.min(key.expiresAt ?? Number.POSITIVE_INFINITY, session?.expiresAt ?? Number.POSITIVE_INFINITY)
  return {
    organisation: { id, name, plan },
    key: {
      id: key.id,
      name: key.name,
      role: key.role,
      hint: key.secret.slice(-4),
      expires_at: isoOrNull(key.expiresAt),
    },
    expires_at: expiresAt === Number.POSITIVE_INFINITY ? null : iso(expiresAt),
  }
}

// Usage and audit

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

function usedIn({ used }: Organisation, at: number): number {
  return used.get(monthOf(at)) ?? 0
}

// What all of them need

/** The page that is asked for; what makes no sense is as if it were not there. */
function page<Item>(all: Item[], query: Query): { data: Item[]; pagination: object } {
  const positive = (text: string | undefined) => (/^0*[1-9]\d*$/.test(text ?? '') ? Number(text) : undefined)
  const number = positive(query.page) ?? 1
  const size = Math.min(positive(query.limit) ?? 25, 100)
  return {
    data: all.slice((number - 1) * size, number * size),
    pagination: {
      current_page: number,
      total_pages: Math.ceil(all.length / size),
      total_count: all.length,
      per_page: size,
    },
  }
}

function parsed(body: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    throw invalid()
  }
  if (!isObject(value)) throw invalid()
  return value
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function timeIn(text: string): number {
  const at = Date.parse(text)
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d.*Z$/.test(text) || Number.isNaN(at)) throw invalid()
  return at
}

function spanIn(from: string | undefined, to: string | undefined): [number | null, number | null] {
  const span: [number | null, number | null] = [
    from === undefined ? null : timeIn(from),
    to === undefined ? null : timeIn(to),
  ]
  if (span[0] !== null && span[1] !== null && span[1] <= span[0]) throw invalid()
  return span
}

function floor(at: number, length: number): number {
  return Math.floor(at / length) * length
}

export function iso(at: number): string {
  return new Date(at).toISOString()
}

function isoOrNull(at: number | null): string | null {
  return at === null ? null : iso(at)
}

/** Such as 2027-08. */
function monthOf(at: number): string {
  return iso(at).slice(0, 7)
}

/** The first instant of the next month. */
export function resetOf(at: number): number {
  const date = new Date(at)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1)
}
