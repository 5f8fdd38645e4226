import assert from 'node:assert/strict'
import { Agent, type IncomingHttpHeaders } from 'node:http'
import { type HttpResponse, send } from '../http.ts'
import { predict } from './predict.ts'
import { any, type Prediction, type Request } from './request.ts'
import type { Model } from './state.ts'

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
