import { isDeepStrictEqual } from 'node:util'
import {
  any,
  done,
  invalid,
  isObject,
  notFound,
  ok,
  type Prediction,
  page,
  parsed,
  type Query,
  Refused,
  type Request,
  spanIn,
} from './request.ts'
import {
  audit,
  type Caller,
  limits,
  type Model,
  type Organisation,
  type Prompt,
  roomOf,
  type Signal,
  usedIn,
} from './state.ts'
import { day, floor, hour, iso, monthOf, resetOf } from './time.ts'

export function recordSignal(
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
      if (key !== undefined) organisation.idempotency.set(key, { promptId: prompt.id, body, answer, createdAt: now })
    },
  }
}

/** What is left of the limit goes with every answer. */
export function withAllowance(organisation: Organisation, now: number, act: () => Prediction): Prediction {
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

export function retract(
  model: Model,
  { organisation, key }: Caller,
  prompt: Prompt,
  id: number,
  now: number,
): Prediction {
  const at = prompt.signals.findIndex((signal) => signal.id === id && isKept(model, signal))
  if (at === -1) throw notFound()
  prompt.signals.splice(at, 1)
  audit(organisation, key, now, 'signal.retracted', id, prompt.name, { prompt_id: prompt.id })
  return done()
}

export function erase(model: Model, { organisation, key }: Caller, { body = '' }: Request, now: number): Prediction {
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

export function has(metadata: Signal['metadata'], sought: Record<string, unknown>): boolean {
  if (metadata === null) return false
  return Object.entries(sought).every(
    ([name, value]) => Object.hasOwn(metadata, name) && isDeepStrictEqual(metadata[name], value),
  )
}

export function listSignals(model: Model, prompt: Prompt, query: Query): object {
  return page(filtered(model, prompt, query).reverse().map(signalBody), query)
}

export function exportSignals(model: Model, prompt: Prompt, query: Query): object {
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

export function summarise({ signals }: Prompt, query: Query, now: number): object {
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

export function tally(signals: Signal[]): { positive: number; negative: number } {
  const positive = signals.filter(({ value }) => value === 'positive').length
  return { positive, negative: signals.length - positive }
}
