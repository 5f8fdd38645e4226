import { isDeepStrictEqual } from 'node:util'
import { audit, auditRepeated } from './audit.ts'
import {
  any,
  type Call,
  created,
  ErrorResponse,
  errorPrediction,
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
  type Prompt,
  remaining,
  type Signal,
  usedIn,
} from './state.ts'
import { castVote, eraseVote, hasValidShape, parseDetails, removeSignals, replaceVote, voteOn } from './votes.ts'

export function recordSignal(call: Call): Prediction {
  return withAllowance(call, () => {
    const { prompt, request } = call
    const { body = '', idempotencyKey } = request
    return storeSignal(call, prompt, parseObject(body), body, idempotencyKey)
  })
}

/** Each signal as a request of its own, in order. */
export function recordBatch(call: Call): Prediction {
  return withAllowance(call, () => {
    const { signals: items } = parseObject(call.request.body)
    if (!Array.isArray(items) || items.length === 0) return invalid()
    const results = items.map((item): Prediction => {
      try {
        if (!isObject(item) || typeof item.prompt !== 'string') return invalid()
        // The schema is checked before the prompt is looked up.
        if (!isValue(item.value) || !hasValidShape(item)) return invalid()
        const prompt = call.promptNamed(item.prompt)
        return storeSignal(call, prompt, item, JSON.stringify(item), item.idempotency_key as string | undefined)
      } catch (error) {
        return errorPrediction(error)
      }
    })
    const data = results.map(({ status, body }) => ({ status, ...(body as object) }))
    return ok<{ data: object[] }>({ data }, (response) => {
      for (const [i, { learn }] of results.entries()) learn?.(response.data[i] as never, {})
    })
  })
}

/** Every response to a valid key says how much of the limit is left. */
function withAllowance({ organisation, now }: Call, predict: () => Prediction): Prediction {
  const allowance = () => ({
    'ratelimit-limit': String(monthlyLimits[organisation.plan]),
    'ratelimit-remaining': String(Math.max(0, remaining(organisation, now))),
    'ratelimit-reset': secondsToReset(now),
  })
  try {
    return { ...predict(), headers: allowance() }
  } catch (error) {
    if (error instanceof ErrorResponse) Object.assign(error.headers, allowance())
    throw error
  }
}

function isValue(value: unknown): value is Signal['value'] | null {
  return value === null || value === 'positive' || value === 'negative'
}

/** `body` is the text that an idempotency key stands for. */
function storeSignal(
  { model, organisation, now }: Call,
  prompt: Prompt,
  fields: Record<string, unknown>,
  body: string,
  key: string | undefined,
): Prediction {
  const { value, metadata } = fields
  if (!isValue(value)) return invalid()
  if (metadata != null && !isObject(metadata)) return invalid()
  const details = parseDetails(fields, now)
  if (key !== undefined && !/^[!-~]{1,255}$/.test(key)) return invalid()
  if (value === null && details.subject === null) return invalid()
  const earlier = key === undefined ? undefined : organisation.idempotency.get(key)
  if (earlier !== undefined) {
    const { status, response } = earlier
    return earlier.promptId === prompt.id && earlier.body === body ? { status, body: response, headers: {} } : invalid()
  }
  const sent = { value, metadata: metadata ?? null, ...details }
  const vote = details.subject === null ? undefined : voteOn(model, prompt, details.subject)
  const remember = (status: number, response: object, createdAt: number) => {
    if (key !== undefined) organisation.idempotency.set(key, { promptId: prompt.id, body, status, response, createdAt })
  }
  if (vote !== undefined) {
    replaceVote(prompt, vote, sent)
    // A vote of the same batch gets its ID with the response.
    const id = vote.id === 0 ? any : vote.id
    return ok<{ data: { id: number } }>({ data: { id, value, created_at: iso(vote.createdAt) } }, ({ data }) => {
      if (data.id !== vote.id) throw new Error(`a vote got the id ${data.id} instead of ${vote.id}`)
      remember(200, { data: { id: data.id, value, created_at: iso(vote.createdAt) } }, vote.createdAt)
    })
  }
  if (value === null) return notFound()
  const [used, limit] = [usedIn(organisation, now), monthlyLimits[organisation.plan]]
  if (used >= limit) {
    const resetsAt = iso(nextMonth(now))
    const headers = { 'retry-after': secondsToReset(now) }
    throw new ErrorResponse(429, 'rate_limited', { limit, used, resets_at: resetsAt }, headers)
  }
  organisation.used.set(monthOf(now), used + 1)
  const cast = castVote(prompt, { ...sent, value }, now)
  return created<{ data: { id: number } }>({ data: { id: any, value, created_at: iso(now) } }, ({ data: { id } }) => {
    if (model.signalIds.has(id)) throw new Error(`two signals got the id ${id}`)
    model.signalIds.add(id)
    cast.setId(id)
    remember(201, { data: { id, value, created_at: iso(now) } }, now)
  })
}

function secondsToReset(now: number): string {
  return String(Math.ceil((nextMonth(now) - now) / 1_000))
}

export function deleteSignal({ model, organisation, key, prompt, partId, now }: Call): Prediction {
  const at = prompt.signals.findIndex((signal) => String(signal.id) === partId && isRetained(model, signal))
  if (at === -1) return notFound()
  removeSignals(prompt, (signal) => String(signal.id) === partId)
  const subject = { id: partId, name: prompt.name }
  const details = { prompt_id: prompt.id }
  audit({ organisation, key, action: 'signal.retracted', subject, details }, now)
  return noContent()
}

/** At most 1,000 signals at once, which have one audit entry. */
export function eraseSignals({ model, organisation, key, request, now }: Call): Prediction {
  const { metadata: wanted, voter, subject } = parseObject(request.body)
  let erased = 0
  if (typeof subject === 'string') {
    for (const prompt of organisation.prompts) erased += eraseVote(model, prompt, subject)
  } else {
    if (typeof voter !== 'string' && (!isObject(wanted) || Object.keys(wanted).length === 0)) return invalid()
    const isWanted = (signal: Signal) =>
      typeof voter === 'string' ? signal.voter === voter : matches(signal, wanted as Record<string, unknown>)
    for (const prompt of organisation.prompts) {
      erased += removeSignals(prompt, (signal) => isRetained(model, signal) && isWanted(signal))
    }
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
    .filter((signal) => isRetained(model, signal) && isInRange(signal.occurredAt))
    .filter(({ value }) => (query.value ?? value) === value)
    .filter(({ version }) => query.version === undefined || String(version) === query.version)
    .sort((a, b) => a.occurredAt - b.occurredAt || a.id - b.id)
    .map(({ createdAt, occurredAt, voter, ...signal }) => {
      const times = { created_at: iso(createdAt), occurred_at: iso(occurredAt) }
      return { ...signal, ...times, voter: voter && any, trace_id: null }
    })
}

function isRetained({ retainedSince }: Model, { occurredAt }: Signal): boolean {
  return occurredAt >= retainedSince
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
    const inside = signals.filter(({ occurredAt }) => occurredAt >= start && occurredAt < start + length)
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
