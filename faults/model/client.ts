import assert from 'node:assert/strict'
import { Agent, type IncomingHttpHeaders } from 'node:http'
import { type HttpResponse, send } from '../http.ts'
import {
  any,
  type Call,
  created,
  findPrompt,
  invalid,
  noContent,
  notFound,
  ok,
  orError,
  type Prediction,
  type Request,
  reject,
} from './request.ts'
import { deleteSignal, eraseSignals, listSignals, recordBatch, recordSignal, summariseSignals } from './signals.ts'
import {
  hour,
  isActive,
  iso,
  type Key,
  type Model,
  monthlyLimits,
  monthOf,
  monthStart,
  nextMonth,
  type Organisation,
  remaining,
  usedIn,
} from './state.ts'

/** With a parsed body; null for none. */
type Response = Omit<HttpResponse, 'body'> & { body: unknown }

export interface Counts {
  responses: number
  'over the limit': number
  rejected: number
}

/** Sends requests to the service and compares each response with the model's prediction. */
export interface ComparingClient {
  /** Throws if the response differs from the prediction. */
  send(request: Request): Promise<void>
  /** The same for concurrent requests: the responses have to fit one order of the requests. */
  sendTogether(requests: Request[]): Promise<void>
  /** Sends without comparing. Null without a response. */
  sendOnly(request: Request): Promise<Response | null>
  /** Compares a response with the prediction for this time, apart from the headers in `except`. */
  compare(request: Request, response: Response, at: number, except?: string[]): void
  close(): void
}

export function createClient(
  model: Model,
  current: () => { port: number; now: number },
  counts: Counts,
): ComparingClient {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })

  function compare(request: Request, response: Response, at: number, except: string[] = []): void {
    const prediction = predict(model, request, at)
    try {
      assertSame(prediction, response, except)
    } catch (error) {
      throw new Error(`${describe(request)} at ${new Date(at).toISOString()}: ${(error as Error).message}`)
    }
    counts.responses++
    if (response.status === 429) counts['over the limit']++
    else if (response.status >= 400) counts.rejected++
    prediction.learn?.(response.body as never)
  }

  return {
    compare,

    async send(request) {
      compare(request, await exchange(agent, current().port, request), current().now)
    },

    async sendTogether(requests) {
      const answered = await Promise.all(
        requests.map(async (request) => ({ request, response: await exchange(agent, current().port, request) })),
      )
      for (const { request, response } of inOrderOfStorage(answered)) {
        // Signals stored in one batch all report what is left after the batch.
        compare(request, response, current().now, ['ratelimit-remaining'])
      }
    },

    sendOnly: (request) => exchange(agent, current().port, request).catch(() => null),
    close: () => agent.destroy(),
  }
}

/** Signals stored earlier have smaller ids, and a request is rejected only once the earlier ones are stored. */
export function inOrderOfStorage<Answered extends { response: Response }>(answered: Answered[]): Answered[] {
  const idIn = ({ body }: Response) => (body as { data?: { id?: number } } | null)?.data?.id ?? 0
  return answered.toSorted((a, b) => a.response.status - b.response.status || idIn(a.response) - idIn(b.response))
}

function pathOf({ path, query = {} }: Request): string {
  const parameters = new URLSearchParams(query).toString()
  return `/api/v1${path}${parameters === '' ? '' : `?${parameters}`}`
}

function describe(request: Request): string {
  const { method, key, idempotencyKey = '', body = '' } = request
  return `${method} ${pathOf(request)} by key …${key.slice(-4)} ${idempotencyKey} ${body}`
}

async function exchange(agent: Agent, port: number, request: Request): Promise<Response> {
  const { idempotencyKey, query: _, ...rest } = request
  const headers: Record<string, string> = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }
  const response = await send(agent, port, { ...rest, path: pathOf(request), headers })
  return { ...response, body: response.body === '' ? null : JSON.parse(response.body) }
}

/** Throws at the first difference, apart from values that only the service knows. */
function assertSame(expected: Prediction, { status, body, headers }: Response, except: string[]): void {
  const names = Object.keys(expected.headers).filter((name) => !except.includes(name))
  const pick = (from: IncomingHttpHeaders) => Object.fromEntries(names.map((name) => [name, from[name]]))
  assert.ok(headers['x-request-id'], 'the response has no X-Request-Id')
  assert.deepEqual(
    { status, headers: pick(headers), body },
    { status: expected.status, headers: pick(expected.headers), body: withKnown(expected.body, body) },
  )
}

/** Replaces each `any` with the received value, unless that is missing. */
function withKnown(expected: unknown, received: unknown): unknown {
  if (expected === any) return received === undefined ? 'any value' : received
  if (typeof expected !== 'object' || expected === null) return expected
  const member = (name: string) => (received as Record<string, unknown> | null)?.[name]
  if (Array.isArray(expected)) return expected.map((item, i) => withKnown(item, member(String(i))))
  return Object.fromEntries(Object.entries(expected).map(([name, value]) => [name, withKnown(value, member(name))]))
}

const operations: Record<string, (call: Call) => Prediction> = {
  'POST /prompts/:id/signals': recordSignal,
  'GET /prompts/:id/signals': listSignals,
  'GET /prompts/:id/signals/summary': summariseSignals,
  'DELETE /prompts/:id/signals/:id': deleteSignal,
  'POST /signals': recordBatch,
  'POST /signals/erase': eraseSignals,
  'POST /keys': createKey,
  'DELETE /keys/:id': revokeKey,
  'POST /keys/:id/rotate': rotateKey,
  'GET /usage': readUsage,
}

/** Predicts the service's response at this time, and changes the model as the service changes. */
function predict(model: Model, request: Request, now: number): Prediction {
  return orError(() => {
    const organisation = authenticate(model, request, now) ?? reject(401, 'unauthorized')
    const { method, path, query = {} } = request
    const id = /(?<=\/)(pmt_\w+|\d+)/g
    const operation = operations[`${method} ${path.replace(id, ':id')}`] ?? notFound()
    const ids = path.match(id) ?? []
    return operation({
      model,
      organisation,
      request,
      query,
      now,
      ids,
      get prompt() {
        return findPrompt(organisation, ids[0])
      },
    })
  })
}

function authenticate({ organisations }: Model, { key }: Request, now: number): Organisation | undefined {
  return organisations.find(({ keys }) => keys.some((known) => known.secret === key && isActive(known, now)))
}

function readUsage({ organisation, now }: Call): Prediction {
  const { plan } = organisation
  const months: object[] = []
  for (let at = now; months.length < 12; at = monthStart(at) - 1) {
    months.push({ month: monthOf(at), used: usedIn(organisation, at) })
  }
  const rest = { remaining: remaining(organisation, now), resets_at: iso(nextMonth(now)) }
  return ok({ data: { plan, limit: monthlyLimits[plan], used: usedIn(organisation, now), ...rest, months } })
}

function issue(organisation: Organisation, createdAt: number, expiresAt: number | null): Prediction {
  const terms = { name: 'bot', person_id: null, role: 'admin', prompts: null }
  const times = { created_at: iso(createdAt), expires_at: expiresAt === null ? null : iso(expiresAt) }
  const body = { data: { id: any, organisation_id: organisation.id, ...terms, ...times, key: any } }
  return created<{ data: { id: number; key: string } }>(body, ({ data: { id, key: secret } }) => {
    organisation.keys.push({ id, secret, createdAt, expiresAt, revokedAt: null })
  })
}

function createKey({ organisation, request, now }: Call): Prediction {
  const { expires_at }: { expires_at?: string } = JSON.parse(request.body ?? '')
  const expiresAt = expires_at === undefined ? null : Date.parse(expires_at)
  return expiresAt !== null && expiresAt <= now ? invalid() : issue(organisation, now, expiresAt)
}

/** The new key lives as long as the old one did, which ends with the overlap. */
function rotateKey({ organisation, ids, request, now }: Call): Prediction {
  const old = findKey(organisation, ids)
  if (!isActive(old, now)) return reject(409, 'conflict')
  const { overlap_hours: overlap = 24 }: { overlap_hours?: number } = JSON.parse(request.body ?? '{}')
  const expiresAt = old.expiresAt === null ? null : now + old.expiresAt - old.createdAt
  old.expiresAt = Math.min(old.expiresAt ?? Number.POSITIVE_INFINITY, now + overlap * hour)
  return issue(organisation, now, expiresAt)
}

function revokeKey({ organisation, ids, now }: Call): Prediction {
  findKey(organisation, ids).revokedAt ??= now
  return noContent()
}

function findKey({ keys }: Organisation, [id]: string[]): Key {
  return keys.find((key) => String(key.id) === id) ?? notFound()
}
