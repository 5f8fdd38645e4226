import { isDeepStrictEqual } from 'node:util'
import {
  any,
  type Call,
  created,
  ErrorResponse,
  findPrompt,
  invalid,
  noContent,
  notFound,
  ok,
  orError,
  type Prediction,
} from './request.ts'
import {
  day,
  floor,
  hour,
  iso,
  isRetained,
  monthlyLimits,
  monthOf,
  nextMonth,
  type Prompt,
  remaining,
  type Signal,
  usedIn,
} from './state.ts'
import { eraseVote, parseOccurredAt, removeSignals, type SentSignal, voteOn } from './votes.ts'

export function recordSignal(call: Call): Prediction {
  return withAllowance(call, () => {
    const { prompt, request } = call
    const { body = '', idempotencyKey } = request
    return storeSignal(call, prompt, JSON.parse(body), body, idempotencyKey)
  })
}

type BatchItem = SentSignal & { prompt: string; idempotency_key?: string }
type Recorded = { data: { id: number } }

/** Each signal as a request of its own, in order. */
export function recordBatch(call: Call): Prediction {
  return withAllowance(call, () => {
    const { signals }: { signals: BatchItem[] } = JSON.parse(call.request.body ?? '')
    const results = signals.map((item) =>
      orError(() => {
        // The schema is checked before the prompt is looked up.
        requireValue(item)
        const prompt = findPrompt(call.organisation, item.prompt)
        return storeSignal(call, prompt, item, JSON.stringify(item), item.idempotency_key)
      }),
    )
    const data = results.map(({ status, body }) => ({ status, ...(body as object) }))
    return ok<{ data: object[] }>({ data }, (response) => {
      for (const [i, { learn }] of results.entries()) learn?.(response.data[i] as never)
    })
  })
}

/** Every response to a valid key says how much of the limit is left. */
function withAllowance({ organisation, now }: Call, predict: () => Prediction): Prediction {
  const prediction = orError(predict)
  const allowance = {
    'ratelimit-limit': String(monthlyLimits[organisation.plan]),
    'ratelimit-remaining': String(remaining(organisation, now)),
    'ratelimit-reset': secondsToReset(now),
  }
  return { ...prediction, headers: { ...prediction.headers, ...allowance } }
}

function requireValue({ value }: SentSignal): void {
  if (value !== null && value !== 'positive' && value !== 'negative') invalid()
}

/** `body` is the text that an idempotency key stands for. */
function storeSignal(
  { model, organisation, now }: Call,
  prompt: Prompt,
  sent: SentSignal,
  body: string,
  key: string | undefined,
): Prediction {
  requireValue(sent)
  const occurredAt = parseOccurredAt(sent, now)
  const earlier = key === undefined ? undefined : organisation.idempotency.get(key)
  if (earlier !== undefined) {
    const { status, response } = earlier
    return earlier.promptId === prompt.id && earlier.body === body ? { status, body: response, headers: {} } : invalid()
  }
  const { value, metadata = null, version = null, subject = null, voter = null } = sent
  const bodyOf = (id: unknown, createdAt: number) => ({ data: { id, value, created_at: iso(createdAt) } })
  const remember = (status: number, { id, createdAt }: Signal) => {
    const response = bodyOf(id, createdAt)
    if (key !== undefined) organisation.idempotency.set(key, { promptId: prompt.id, body, status, response, createdAt })
  }
  const vote = voteOn(model, prompt, subject)
  if (vote !== undefined) {
    // It keeps its ID, the time of the first vote and, unless they are sent, the version and the time that it counts for.
    const kept = { version: version ?? vote.version, occurredAt: occurredAt ?? vote.occurredAt }
    Object.assign(vote, { value, metadata, voter, ...kept })
    // A vote of the same batch gets its ID with the response.
    return ok<Recorded>(bodyOf(vote.id === 0 ? any : vote.id, vote.createdAt), ({ data: { id } }) => {
      if (id !== vote.id) throw new Error(`a vote got the id ${id} instead of ${vote.id}`)
      remember(200, vote)
    })
  }
  if (value === null) return notFound()
  const [used, limit] = [usedIn(organisation, now), monthlyLimits[organisation.plan]]
  if (used >= limit) {
    const details = { limit, used, resets_at: iso(nextMonth(now)) }
    throw new ErrorResponse(429, 'rate_limited', details, { 'retry-after': secondsToReset(now) })
  }
  organisation.used.set(monthOf(now), used + 1)
  const times = { createdAt: now, occurredAt: occurredAt ?? now }
  const signal: Signal = { id: 0, value, metadata, version, subject, voter, ...times }
  prompt.signals.push(signal)
  return created<Recorded>(bodyOf(any, now), ({ data: { id } }) => {
    if (model.signalIds.has(id)) throw new Error(`two signals got the id ${id}`)
    model.signalIds.add(id)
    signal.id = id
    remember(201, signal)
  })
}

function secondsToReset(now: number): string {
  return String(Math.ceil((nextMonth(now) - now) / 1_000))
}

export function deleteSignal({ model, prompt, ids }: Call): Prediction {
  return removeSignals(model, prompt, ({ id }) => String(id) === ids[1]) === 0 ? notFound() : noContent()
}

/** By metadata, by voter or by subject. */
export function eraseSignals({ model, organisation, request }: Call): Prediction {
  const { metadata, voter, subject } = JSON.parse(request.body ?? '')
  const isWanted = (signal: Signal) => (voter === undefined ? matches(signal, metadata) : signal.voter === voter)
  let erased = 0
  for (const prompt of organisation.prompts) {
    erased += subject === undefined ? removeSignals(model, prompt, isWanted) : eraseVote(model, prompt, subject)
  }
  return ok({ data: { erased } })
}

function matches({ metadata }: Signal, wanted: object): boolean {
  return Object.entries(wanted).every(([name, value]) => isDeepStrictEqual(metadata?.[name], value))
}

/** The retained signals that match the query, newest first. */
export function listSignals({ model, prompt, query }: Call): Prediction {
  const since = query.since === undefined ? 0 : Date.parse(query.since)
  const until = query.until === undefined ? Number.POSITIVE_INFINITY : Date.parse(query.until)
  if (until <= since) return invalid()
  const [page, size] = [Number(query.page ?? 1), Number(query.limit ?? 25)]
  const signals = prompt.signals
    .filter((signal) => isRetained(model, signal) && signal.occurredAt >= since && signal.occurredAt < until)
    .filter(({ value }) => value !== null && (query.value ?? value) === value)
    .filter(({ version }) => query.version === undefined || String(version) === query.version)
    .sort((a, b) => b.occurredAt - a.occurredAt || b.id - a.id)
    .map(({ createdAt, occurredAt, voter, ...signal }) => {
      const times = { created_at: iso(createdAt), occurred_at: iso(occurredAt) }
      return { ...signal, ...times, voter: voter && any, comment: null, trace_id: null }
    })
  const pages = { current_page: page, total_pages: Math.ceil(signals.length / size), per_page: size }
  const data = signals.slice((page - 1) * size, page * size)
  return ok({ data, pagination: { ...pages, total_count: signals.length } })
}

/** Signals that retention has deleted still count. */
export function summariseSignals({ prompt: { signals }, query, now }: Call): Prediction {
  const { interval = 'day' } = query
  const length = interval === 'day' ? day : hour
  const until = query.to === undefined ? now : Date.parse(query.to)
  const since = query.from === undefined ? until - 30 * day : Date.parse(query.from)
  if (until <= since) return invalid()
  const total = { positive: 0, negative: 0 }
  const data = new Map<number, { start: string; positive: number; negative: number }>()
  for (let start = floor(since, length); start < until; start += length) {
    data.set(start, { start: iso(start), positive: 0, negative: 0 })
  }
  for (const { value, occurredAt } of signals) {
    const step = data.get(floor(occurredAt, length))
    if (value === null || step === undefined) continue
    step[value]++
    total[value]++
  }
  return ok({ data: [...data.values()], interval, total })
}
