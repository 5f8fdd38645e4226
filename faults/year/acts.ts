import { operator } from '../../server/src/domain/audit.ts'
import { removeOldSignals } from '../../server/src/domain/retention.ts'
import type { Service } from '../service.ts'
import type { Chance } from './chance.ts'
import type { Conversation } from './conversation.ts'
import type { Request } from './model/request.ts'
import { type Model, type Organisation, type Prompt, type Role, roomOf, works } from './model/state.ts'
import { iso, resetOf } from './model/time.ts'
import { changePlan, loseUses, removeBefore, storeUses } from './model.ts'

/** A year under way. */
export interface Year extends Conversation {
  model: Model
  chance: Chance
  /** Milliseconds; null where signals are kept for ever. */
  keepFor: number | null
  /** Requests that had an idempotency key, whatever became of them. */
  keyed: { organisation: Organisation; request: Request & { idempotencyKey: string } }[]
  now(): number
  service(): Service
  wait(milliseconds: number): void
  restart(): Promise<void>
  /** Without an orderly end: whatever is under way. */
  cut(): Promise<void>
}

interface Act {
  weight: number
  act(year: Year): Promise<unknown>
}

const hour = 3_600_000
const day = 24 * hour

/** What happens in a year of so many steps; what takes long happens less often than the steps would have it. */
export function actsOf(steps: number): Act[] {
  const all = often.reduce((sum, { weight }) => sum + weight, 0)
  const perYear = (short: number, full: number) => (all / steps) * Math.min(full, (short * steps) / 800)
  return [
    ...often,
    { weight: perYear(4, 150), act: burst },
    { weight: perYear(2, 60), act: reachLimit },
    { weight: perYear(10, 30), act: erase },
    { weight: perYear(4, 15), act: (year) => year.restart() },
    { weight: perYear(2, 8), act: cutShort },
    { weight: perYear(10, 40), act: removeOld },
  ]
}

const often: Act[] = [
  { weight: 34, act: recordOne },
  { weight: 1, act: repeatTogether },
  { weight: 6, act: retract },
  { weight: 0.5, act: retractTogether },
  { weight: 1, act: setPlan },
  { weight: 3, act: createKey },
  { weight: 3, act: rotateKey },
  { weight: 0.4, act: rotateTogether },
  { weight: 1, act: revokeKey },
  { weight: 1.5, act: createPrompt },
  { weight: 1, act: renamePrompt },
  { weight: 0.5, act: deletePrompt },
  { weight: 5, act: recordEntry },
  { weight: 0.5, act: recordEntryTogether },
  { weight: 1, act: signIn },
  { weight: 2, act: useSession },
  { weight: 0.5, act: flushUses },
  { weight: 7, act: (year) => readPrompt(year, '/history', pageQuery(year)) },
  { weight: 8, act: (year) => readPrompt(year, '/signals', { ...pageQuery(year), ...signalQuery(year) }) },
  { weight: 1, act: (year) => readPrompt(year, '/signals/export', signalQuery(year)) },
  { weight: 4, act: (year) => readPrompt(year, '/signals/summary', summaryQuery(year)) },
  { weight: 4, act: (year) => readPrompt(year, '/impact', pageQuery(year)) },
  { weight: 4, act: (year) => readPrompt(year, '/timeline', { ...pageQuery(year), ...timelineQuery(year) }) },
  { weight: 2, act: (year) => readPrompt(year, '/live', year.chance.happens(0.7) ? { at: someTime(year) } : {}) },
  { weight: 2, act: readEntry },
  { weight: 3, act: (year) => readPrompt(year, '') },
  { weight: 4, act: (year) => read(year, '/prompts', { ...pageQuery(year), ...promptQuery(year) }) },
  { weight: 4, act: (year) => read(year, '/usage') },
  { weight: 4, act: (year) => read(year, '/audit', { ...pageQuery(year), ...auditQuery(year) }) },
  { weight: 3, act: (year) => read(year, '/keys', pageQuery(year)) },
  { weight: 0.5, act: (year) => read(year, year.chance.one(['/nothing', '/prompts/x/y/z', '/signals'])) },
]

/** Reads everything that there is. */
export async function readAll(year: Year, since: number): Promise<void> {
  for (const organisation of year.model.organisations) {
    const key = keeperOf(organisation)
    const get = (path: string, query: Record<string, string> = {}) => year.ask({ method: 'GET', path, query, key })
    for (const path of ['/usage', '/audit', '/keys', '/prompts']) await get(path, { limit: '100' })
    for (const { id } of living(organisation)) {
      for (const path of ['signals', 'signals/export', 'history', 'timeline', 'impact'])
        await get(`/prompts/${id}/${path}`)
      await get(`/prompts/${id}/signals/summary`, { from: iso(since), to: iso(year.now() + 1), interval: 'day' })
    }
  }
}

// Who and what

function someOrganisation({ model, chance }: Year): Organisation {
  // Some are busier than others.
  return chance.one(chance.happens(0.7) ? model.organisations.slice(0, 4) : model.organisations)
}

/** Mostly a key that works and may; now and then one that does not. */
function someKey(year: Year, organisation: Organisation, roles: Role[]): string {
  const { model, chance } = year
  if (chance.happens(0.04)) return chance.one(organisation.keys).secret
  if (chance.happens(0.01))
    return chance.one(['', 'plk_nothing', chance.one(chance.one(model.organisations).keys).secret])
  const fitting = organisation.keys.filter((key) => works(key, year.now()) && roles.includes(key.role))
  return chance.one(fitting).secret
}

const everybody: Role[] = ['ingest', 'standard', 'admin']
const readers: Role[] = ['standard', 'admin']
const admins: Role[] = ['admin']

function living({ prompts }: Organisation): Prompt[] {
  return prompts.filter(({ deleted }) => !deleted)
}

/** Mostly one that is there; now and then one that was, or another's, or none at all. */
function somePromptId({ model, chance }: Year, organisation: Organisation): string {
  if (chance.happens(0.02)) return chance.one(organisation.prompts).id
  if (chance.happens(0.02))
    return chance.one([
      'pmt_',
      'pmt_000000000000000000000000',
      '%',
      chance.one(chance.one(model.organisations).prompts).id,
    ])
  return chance.one(living(organisation)).id
}

function someTime(year: Year): string {
  const { chance } = year
  const now = year.now()
  const at = chance.one([
    now,
    now - chance.between(0, 90 * day),
    now - chance.between(0, 2 * hour),
    now - (now % hour),
    resetOf(now - chance.between(32, 90) * day),
    now + chance.between(0, day),
    someSignalTime(year) ?? now,
  ])
  return chance.happens(0.02) ? 'yesterday' : iso(at)
}

// What is drawn does not depend on who was first among those who asked together, so that a seed always gives the same year.
function someSignalTime({ model, chance }: Year): number | undefined {
  const { signals } = chance.one(chance.one(model.organisations).prompts)
  const signal = chance.one(signals)
  const after = chance.between(0, 1)
  return signal && signal.createdAt + after
}

/** The id of one of them, or now and then of none. */
function someId({ chance }: Year, items: { id: number }[]): number {
  const [item, other] = [chance.one(items), chance.between(0, 99_999)]
  return chance.happens(0.05) || item === undefined ? other : item.id
}

const users = Array.from({ length: 6 }, (_, i) => `u-${i}`)

function someMetadata({ chance }: Year): string | null {
  if (chance.happens(0.4)) return null
  const user = chance.one(users)
  const number = chance.between(-3, 1_000)
  return chance.one([
    `{"user":"${user}"}`,
    // The same in other letters.
    `{ "user" : "\\u0075${user.slice(1)}" }`,
    `{"user":"${user}","number":${number},"tags":["a",{"b":null}]}`,
    `{"tags":{"b":[1,2],"a":"ü \\"quoted\\" 100 %_"},"number":${number}}`,
    '{}',
  ])
}

function signalBody(year: Year): string {
  const { chance } = year
  if (chance.happens(0.05)) {
    return chance.one([
      '',
      '[]',
      '{}',
      '{"value":"Positive"}',
      '{"value":"positive","metadata":[]}',
      '{"value":',
      'null',
    ])
  }
  const metadata = someMetadata(year)
  const value = chance.happens(0.7) ? 'positive' : 'negative'
  return `{"value":"${value}"${metadata === null ? '' : `,"metadata":${metadata}`}}`
}

// Signals

function newSignal(year: Year, organisation: Organisation): Request {
  const path = `/prompts/${somePromptId(year, organisation)}/signals`
  return { method: 'POST', path, key: someKey(year, organisation, everybody), body: signalBody(year) }
}

function withKey(year: Year, organisation: Organisation, request: Request): Request & { idempotencyKey: string } {
  const keyed = { ...request, idempotencyKey: `key-${year.keyed.length}` }
  year.keyed.push({ organisation, request: keyed })
  return keyed
}

async function recordOne(year: Year): Promise<unknown> {
  const { chance } = year
  const organisation = someOrganisation(year)
  const request = newSignal(year, organisation)
  const how = chance.between(1, 100)
  if (how <= 50) return year.ask(request)
  if (how <= 78) return year.ask(withKey(year, organisation, request))
  if (how <= 80) return year.ask({ ...request, idempotencyKey: chance.one(['with space', 'x'.repeat(256)]) })
  // One that was sent before, sometimes with another body, for another prompt or by another organisation.
  if (year.keyed.length === 0) return
  const before = chance.one(chance.happens(0.5) ? year.keyed.slice(-50) : year.keyed)
  const key = someKey(year, before.organisation, everybody)
  if (how <= 94) return year.ask({ ...before.request, key })
  if (how <= 96) return year.ask({ ...before.request, key, body: signalBody(year) })
  if (how <= 98) return year.ask({ ...before.request, key, path: request.path })
  return year.ask({ ...request, idempotencyKey: before.request.idempotencyKey })
}

/** Hundreds at once. */
async function burst(year: Year): Promise<void> {
  await recordTogether(year, year.chance.one(year.model.organisations), year.chance.between(50, 250))
}

/** As many as there is room for this month, and some more. */
async function reachLimit(year: Year): Promise<void> {
  const { chance, model } = year
  const small = model.organisations.filter(({ plan }) => plan === 'free')
  if (small.length === 0) return
  // Mostly the nearest to it.
  const nearest = small.toSorted((a, b) => roomOf(a, year.now()) - roomOf(b, year.now()))
  const organisation = chance.happens(0.8) ? (nearest[0] as Organisation) : chance.one(small)
  for (let full = false; !full; year.wait(chance.between(0, 2))) {
    const room = Math.max(0, roomOf(organisation, year.now()))
    full = room === 0
    // Not all of them are in order.
    await recordTogether(year, organisation, Math.min(Math.ceil(room * 1.2) + chance.between(1, 20), 400))
  }
}

async function recordTogether(year: Year, organisation: Organisation, count: number): Promise<void> {
  const { chance } = year
  const key = keeperOf(organisation)
  const requests = Array.from({ length: count }, () => {
    const request = { ...newSignal(year, organisation), key }
    return chance.happens(0.3) ? withKey(year, organisation, request) : request
  })
  // Some of them twice.
  const again = requests.filter(({ idempotencyKey }) => idempotencyKey !== undefined && chance.happens(0.2))
  await year.askTogether([...requests, ...again])
}

/** The key that every organisation has from the start and nobody takes away. */
function keeperOf({ keys }: Organisation): string {
  return keys[0]?.secret ?? ''
}

/** The same request many times at once, or others with the same idempotency key. */
async function repeatTogether(year: Year): Promise<void> {
  const { chance } = year
  const organisation = someOrganisation(year)
  const request = { ...newSignal(year, organisation), key: keeperOf(organisation) }
  const keyed = withKey(year, organisation, request)
  const sameBody = chance.happens(0.6)
  const others = Array.from({ length: chance.between(2, 8) }, () =>
    sameBody ? keyed : { ...keyed, body: signalBody(year) },
  )
  await year.askTogether([keyed, ...others])
}

/** Requests are under way when the service ends. Each is repeated until somebody answers, as the interface tells. */
async function cutShort(year: Year): Promise<void> {
  const { chance, model } = year
  const organisation = someOrganisation(year)
  const key = keeperOf(organisation)
  const requests = Array.from({ length: chance.between(5, 60) }, () => {
    return withKey(year, organisation, { ...newSignal(year, organisation), key })
  })
  const before = year.now()
  const first = requests.map((request) => year.send(request))
  await new Promise((resolve) => setTimeout(resolve, chance.between(0, 6)))
  await year.cut()
  const early = await Promise.all(first)
  year.wait(chance.between(1, 5_000))
  const late = await Promise.all(requests.map((request) => year.send(request)))
  const answers = requests.map((request, i) => {
    const answer = late[i]
    if (answer == null) throw new Error('no answer from a service that has just started')
    const { id, created_at } = (answer.body as { data?: { id: number; created_at: string } }).data ?? {
      id: 0,
      created_at: '',
    }
    return { request, answer, early: early[i] ?? null, id, wasBefore: created_at === iso(before) }
  })
  const inOrder = answers.sort((a, b) => a.answer.status - b.answer.status || a.id - b.id)
  for (const { request, answer } of inOrder.filter(({ wasBefore }) => wasBefore)) {
    year.compare(request, answer, before, ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'])
  }
  loseUses(model)
  for (const { request, answer } of inOrder) year.compare(request, answer, year.now(), ['ratelimit-remaining'])
  for (const { request, answer, early } of answers) {
    if (early?.status === 201 && JSON.stringify(early.body) !== JSON.stringify(answer.body)) {
      throw new Error(
        `${JSON.stringify(request)} was answered with ${JSON.stringify(early)}, then ${JSON.stringify(answer)}`,
      )
    }
  }
}

function someRetraction(year: Year): Request {
  const { chance } = year
  const organisation = someOrganisation(year)
  const prompt = chance.one(living(organisation))
  const id = someId(year, prompt.signals)
  const path = `/prompts/${prompt.id}/signals/${id}`
  return { method: 'DELETE', path, key: someKey(year, organisation, readers) }
}

async function retract(year: Year): Promise<void> {
  await year.ask(someRetraction(year))
}

async function retractTogether(year: Year): Promise<void> {
  await year.askTogether(Array(4).fill(someRetraction(year)))
}

async function erase(year: Year): Promise<void> {
  const { chance } = year
  const organisation = someOrganisation(year)
  const user = chance.one(users)
  const sought = chance.one([
    `{"user":"${user}"}`,
    `{"user":"${user}"}`,
    `{"user":"${user}","tags":["a",{"b":null}]}`,
    `{"number":${chance.between(0, 1_000)}.0}`,
    '{}',
    '[]',
  ])
  const key = someKey(year, organisation, admins)
  await year.ask({ method: 'POST', path: '/signals/erase', key, body: `{"metadata":${sought}}` })
}

async function removeOld(year: Year): Promise<void> {
  const { keepFor, model } = year
  if (keepFor === null) return
  await removeOldSignals(year.service().store.signals, keepFor / day, year.now())
  removeBefore(model, year.now() - keepFor)
}

async function setPlan(year: Year): Promise<void> {
  const organisation = someOrganisation(year)
  const plan = year.chance.one(['free', 'free', 'team', 'business'] as const)
  await changeInUse(year, keeperOf(organisation), async () => {
    await year.service().store.organisations.setPlan(organisation.id, plan, year.now(), operator)
    changePlan(organisation, plan, year.now())
  })
}

// Keys and sessions

async function createKey(year: Year): Promise<void> {
  const { chance } = year
  const organisation = someOrganisation(year)
  const terms = {
    name: chance.one(['bot', 'Ada', 'ключ', 'a "quoted" one']),
    ...(chance.happens(0.9) && { role: chance.one([...everybody, ...(chance.happens(0.1) ? ['root'] : [])]) }),
    ...(chance.happens(0.5) && {
      expires_at: iso(year.now() + chance.one([-1, 0, 1, 500, hour, chance.between(1, 60) * day])),
    }),
  }
  const body = JSON.stringify(terms)
  await year.ask({ method: 'POST', path: '/keys', key: someKey(year, organisation, admins), body })
}

/** Any but the one that stays, mostly one that works; what to ask for may be none at all. */
function someOtherKey(year: Year, { keys }: Organisation): { id: number; secret: string } {
  const { chance } = year
  const others = keys.slice(1)
  const working = others.filter((key) => works(key, year.now()))
  if (others.length === 0 || chance.happens(0.03)) return { id: 999_999, secret: 'plk_nothing' }
  return chance.one(working.length > 0 && chance.happens(0.8) ? working : others)
}

/** Changes a key that was in use a moment ago and is used again at once. */
async function changeInUse(year: Year, key: string, change: () => Promise<unknown>): Promise<void> {
  await year.ask({ method: 'GET', path: '/usage', key })
  await change()
  await year.ask({ method: 'GET', path: '/usage', key })
}

async function rotateKey(year: Year): Promise<void> {
  const { chance } = year
  const organisation = someOrganisation(year)
  const { id, secret } = someOtherKey(year, organisation)
  const request: Request = {
    method: 'POST',
    path: `/keys/${id}/rotate`,
    key: someKey(year, organisation, admins),
  }
  const overlap = chance.one([0, 1, 48, 24 * 30, 8_760, 8_761, -1])
  const body = chance.happens(0.3) ? {} : { body: JSON.stringify({ overlap_hours: overlap }) }
  await changeInUse(year, secret, () => year.ask({ ...request, ...body }))
}

/** Without an overlap, so that only one of them can be the first. */
async function rotateTogether(year: Year): Promise<void> {
  const organisation = someOrganisation(year)
  const { id, secret } = someOtherKey(year, organisation)
  const path = `/keys/${id}/rotate`
  const request: Request = { method: 'POST', path, key: keeperOf(organisation), body: '{"overlap_hours":0}' }
  await changeInUse(year, secret, () => year.askTogether([request, request, request]))
}

async function revokeKey(year: Year): Promise<void> {
  const organisation = someOrganisation(year)
  const { id, secret } = someOtherKey(year, organisation)
  const request: Request = { method: 'DELETE', path: `/keys/${id}`, key: someKey(year, organisation, admins) }
  await changeInUse(year, secret, () => year.ask(request))
}

async function signIn(year: Year): Promise<void> {
  const organisation = someOrganisation(year)
  await year.ask({ method: 'POST', path: '/session', key: someKey(year, organisation, everybody) })
}

async function useSession(year: Year): Promise<void> {
  const { model, chance } = year
  const tokens = [...model.sessions.keys()]
  const token = tokens.length === 0 || chance.happens(0.05) ? 'nothing' : chance.one(tokens.slice(-20))
  const method = chance.happens(0.15) ? 'DELETE' : 'GET'
  await year.ask({
    method,
    path: method === 'DELETE' ? '/session' : chance.one(['/session', '/usage', '/keys']),
    token,
  })
}

async function flushUses(year: Year): Promise<void> {
  await year.service().flushUses()
  storeUses(year.model)
}

// Prompts and their history

function promptName({ chance }: Year): string {
  return chance.one([
    'Support answers',
    'support ANSWERS',
    'Ähnlich',
    'zeta',
    'Zeta',
    '10 % off_',
    `prompt ${chance.between(1, 99)}`,
  ])
}

async function createPrompt(year: Year): Promise<void> {
  const organisation = someOrganisation(year)
  const many = living(organisation).length >= 12
  const name = many || year.chance.happens(0.05) ? '' : promptName(year)
  await year.ask({
    method: 'POST',
    path: '/prompts',
    key: someKey(year, organisation, admins),
    body: JSON.stringify({ name }),
  })
}

async function renamePrompt(year: Year): Promise<void> {
  const organisation = someOrganisation(year)
  const path = `/prompts/${somePromptId(year, organisation)}`
  const body = JSON.stringify({ name: promptName(year) })
  await year.ask({ method: 'PATCH', path, key: someKey(year, organisation, admins), body })
}

async function deletePrompt(year: Year): Promise<void> {
  const organisation = someOrganisation(year)
  if (living(organisation).length < 2) return
  const path = `/prompts/${somePromptId(year, organisation)}`
  const read: Request = { method: 'GET', path: `${path}/history`, key: keeperOf(organisation) }
  await year.ask(read)
  await year.ask({ method: 'DELETE', path, key: someKey(year, organisation, admins) })
  await year.ask(read)
}

function someEntry(year: Year): Request {
  const { chance } = year
  const organisation = someOrganisation(year)
  const action = chance.one(['deployed', 'deployed', 'pr_opened', 'pr_merged', 'pr_closed'])
  const isPull = action !== 'deployed' && !chance.happens(0.03)
  const number = isPull ? chance.between(1, 20) : null
  const now = year.now()
  // Mostly of now; sometimes told late, early, or at the time of another.
  const created = chance.one([
    now,
    now,
    now,
    now - (now % hour),
    now - chance.between(0, 40 * day),
    now + chance.between(0, day),
  ])
  const entry = {
    action,
    user: { name: chance.one(['Ada Lovelace', 'Grace Hopper']), email: 'somebody@example.com' },
    commit_sha: chance.happens(0.03) ? 'abc' : chance.one(['a', 'B', '3']).repeat(40),
    pr_number: number,
    pr_url: isPull ? `https://forge.example/pull/${number}` : null,
    branch_name: 'main',
    created_at: iso(created),
  }
  const path = `/prompts/${somePromptId(year, organisation)}/history`
  return { method: 'POST', path, key: someKey(year, organisation, admins), body: JSON.stringify(entry) }
}

async function recordEntry(year: Year): Promise<void> {
  const request = someEntry(year)
  await year.ask(request)
  if (year.chance.happens(0.2)) await year.ask(request)
}

async function recordEntryTogether(year: Year): Promise<void> {
  await year.askTogether(Array(4).fill(someEntry(year)))
}

// Reading

async function read(year: Year, path: string, query: Request['query'] = {}): Promise<void> {
  await year.ask({ method: 'GET', path, query, key: someKey(year, someOrganisation(year), admins) })
}

async function readPrompt(year: Year, path: string, query: Request['query'] = {}): Promise<void> {
  const organisation = someOrganisation(year)
  const prompt = `/prompts/${somePromptId(year, organisation)}`
  await year.ask({ method: 'GET', path: `${prompt}${path}`, query, key: someKey(year, organisation, readers) })
}

async function readEntry(year: Year): Promise<void> {
  const { chance } = year
  const organisation = someOrganisation(year)
  const prompt = chance.one(living(organisation))
  const id = someId(year, prompt.entries)
  const path = `/prompts/${prompt.id}/history/${id}`
  await year.ask({ method: 'GET', path, key: someKey(year, organisation, readers) })
}

function pageQuery({ chance }: Year): Record<string, string> {
  return {
    ...(chance.happens(0.6) && {
      page: chance.one(['1', '2', '3', '4', '7', '30', '0', '-1', '1.5', 'last', '02', '123456']),
    }),
    ...(chance.happens(0.6) && { limit: chance.one(['1', '2', '5', '10', '100', '101', '1000', '0', 'all', '3.5']) }),
  }
}

function spanQuery(year: Year, from: string, to: string): Record<string, string> {
  const { chance } = year
  return {
    ...(chance.happens(0.4) && { [from]: someTime(year) }),
    ...(chance.happens(0.4) && { [to]: someTime(year) }),
  }
}

function signalQuery(year: Year): Record<string, string> {
  const { chance } = year
  const value = chance.happens(0.3) && { value: chance.one(['positive', 'negative', 'negative', 'both']) }
  return { ...spanQuery(year, 'since', 'until'), ...value }
}

function summaryQuery(year: Year): Record<string, string> {
  const { chance } = year
  const interval = chance.happens(0.7) && { interval: chance.one(['hour', 'day', 'week', 'week', 'year']) }
  return { ...spanQuery(year, 'from', 'to'), ...interval }
}

function timelineQuery(year: Year): Record<string, string> {
  const { chance } = year
  const action = chance.happens(0.3) && {
    action: chance.one(['deployed', 'pr_merged,pr_closed', 'pr_opened', 'pr_opened,none']),
  }
  return { ...spanQuery(year, 'since', 'until'), ...action }
}

function promptQuery({ chance }: Year): Record<string, string> {
  const sorts = ['name', 'last_change', 'signals', 'positive_share'].flatMap((sort) => [sort, `-${sort}`])
  return {
    ...(chance.happens(0.6) && { sort: chance.one([...sorts, 'age']) }),
    ...(chance.happens(0.3) && { q: chance.one(['support', 'Ä', '%', '_', 'z', 'nothing']) }),
  }
}

function auditQuery(year: Year): Record<string, string> {
  const { chance } = year
  const actions = [
    'key.created',
    'key.rotated',
    'prompt.deleted',
    'signal.retracted',
    'signals.erased',
    'organisation.plan_changed',
  ]
  return { ...spanQuery(year, 'since', 'until'), ...(chance.happens(0.3) && { action: chance.one(actions) }) }
}
