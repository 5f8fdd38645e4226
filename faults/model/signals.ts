import { isDeepStrictEqual } from 'node:util'
import { audit, auditRepeated } from './audit.ts'
import {
  any,
  type Call,
  created,
  ErrorResponse,
  invalid,
  isObject,
  noContent,
  notFound,
  ok,
  type Prediction,
  page,
  parseObject,
  parseRange,
  parseTime,
} from './request.ts'
import {
  day,
  floor,
  hour,
  iso,
  type Model,
  monthlyLimits,
  monthOf,
  nextMonth,
  remaining,
  type Signal,
  usedIn,
} from './state.ts'

export function recordSignal(call: Call): Prediction {
  const { organisation, now } = call
  const allowance = () => ({
    'ratelimit-limit': String(monthlyLimits[organisation.plan]),
    'ratelimit-remaining': String(Math.max(0, remaining(organisation, now))),
    'ratelimit-reset': secondsToReset(now),
  })
  try {
    const prediction = storeSignal(call)
    return { ...prediction, headers: allowance() }
  } catch (error) {
    if (error instanceof ErrorResponse) Object.assign(error.headers, allowance())
    throw error
  }
}

function storeSignal({ model, organisation, prompt, request, now }: Call): Prediction {
  const { body = '', idempotencyKey: key } = request
  const { value, metadata } = parseObject(body)
  if (value !== 'positive' && value !== 'negative') return invalid()
  if (metadata != null && !isObject(metadata)) return invalid()
  if (key !== undefined && !/^[!-~]{1,255}$/.test(key)) return invalid()
  const earlier = key === undefined ? undefined : organisation.idempotency.get(key)
  if (earlier !== undefined) {
    return earlier.promptId === prompt.id && earlier.body === body ? created(earlier.response) : invalid()
  }
  const [used, limit] = [usedIn(organisation, now), monthlyLimits[organisation.plan]]
  if (used >= limit) {
    const resetsAt = iso(nextMonth(now))
    const headers = { 'retry-after': secondsToReset(now) }
    throw new ErrorResponse(429, 'rate_limited', { limit, used, resets_at: resetsAt }, headers)
  }
  organisation.used.set(monthOf(now), used + 1)
  return created<{ data: { id: number } }>({ data: { id: any, value, created_at: iso(now) } }, (response) => {
    const { id } = response.data
    if (model.signalIds.has(id)) throw new Error(`two signals got the id ${id}`)
    model.signalIds.add(id)
    prompt.signals.push({ id, value, metadata: metadata ?? null, createdAt: now })
    if (key !== undefined) organisation.idempotency.set(key, { promptId: prompt.id, body, response, createdAt: now })
  })
}

function secondsToReset(now: number): string {
  return String(Math.ceil((nextMonth(now) - now) / 1_000))
}

export function deleteSignal({ model, organisation, key, prompt, partId, now }: Call): Prediction {
  const at = prompt.signals.findIndex((signal) => String(signal.id) === partId && isRetained(model, signal))
  if (at === -1) return notFound()
  prompt.signals.splice(at, 1)
  const subject = { id: partId, name: prompt.name }
  const details = { prompt_id: prompt.id }
  audit({ organisation, key, action: 'signal.retracted', subject, details }, now)
  return noContent()
}

/** At most 1,000 signals at once, which have one audit entry. */
export function eraseSignals({ model, organisation, key, request, now }: Call): Prediction {
  const { metadata: wanted } = parseObject(request.body)
  if (!isObject(wanted) || Object.keys(wanted).length === 0) return invalid()
  let erased = 0
  for (const prompt of organisation.prompts) {
    const left = prompt.signals.filter((signal) => !isRetained(model, signal) || !matches(signal, wanted))
    erased += prompt.signals.length - left.length
    prompt.signals = left
  }
  audit({ organisation, key, action: 'signals.erased', subject: organisation, details: { erased } }, now)
  return ok({ data: { erased } })
}

function matches({ metadata }: Signal, wanted: Record<string, unknown>): boolean {
  return (
    metadata !== null &&
    Object.entries(wanted).every(([name, value]) => {
      return Object.hasOwn(metadata, name) && isDeepStrictEqual(metadata[name], value)
    })
  )
}

export function listSignals(call: Call): Prediction {
  return ok(page(selected(call).reverse(), call.query))
}

export function exportSignals(call: Call): Prediction {
  const { model, organisation, key, prompt, now } = call
  const signals = selected(call)
  const details = { format: 'ndjson' }
  const entry = { organisation, key, action: 'signals.exported', subject: { ...prompt }, details }
  auditRepeated(model, entry, prompt.id, now)
  return ok(signals)
}

/** The retained signals that match the query, oldest first. */
function selected({ model, prompt, query }: Call): object[] {
  const isInRange = parseRange(query.since, query.until)
  if (query.value !== undefined && query.value !== 'positive' && query.value !== 'negative') invalid()
  return prompt.signals
    .filter((signal) => isRetained(model, signal) && isInRange(signal.createdAt))
    .filter(({ value }) => (query.value ?? value) === value)
    .sort((a, b) => a.createdAt - b.createdAt || a.id - b.id)
    .map(({ createdAt, ...signal }) => {
      const created_at = iso(createdAt)
      const details = { version: null, subject: null, voter: null, comment: null, trace_id: null }
      return { ...signal, created_at, ...details, occurred_at: created_at }
    })
}

function isRetained({ retainedSince }: Model, { createdAt }: Signal): boolean {
  return createdAt >= retainedSince
}

const intervals: Record<string, number> = { hour, day, week: 7 * day }
const aMonday = Date.UTC(2024, 0, 1)

export function summariseSignals({ prompt: { signals }, query, now }: Call): Prediction {
  const { interval = 'day' } = query
  const length = intervals[interval] ?? invalid()
  parseRange(query.from, query.to)
  const until = query.to === undefined ? now : parseTime(query.to)
  const since = query.from === undefined ? until - 30 * day : parseTime(query.from)
  if (until <= since) invalid()
  const data: object[] = []
  const all: Signal[] = []
  for (let start = aMonday + floor(since - aMonday, length); start < until; start += length) {
    const inside = signals.filter(({ createdAt }) => createdAt >= start && createdAt < start + length)
    data.push({ start: iso(start), ...tally(inside) })
    all.push(...inside)
  }
  return ok({ data, interval, total: tally(all) })
}

export function tally(signals: Signal[]): { positive: number; negative: number } {
  const positive = signals.filter(({ value }) => value === 'positive').length
  return { positive, negative: signals.length - positive }
}

export function rate({ positive, negative }: { positive: number; negative: number }): number | null {
  return positive + negative === 0 ? null : positive / (positive + negative)
}
