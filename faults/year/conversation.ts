import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { any, type Prediction, type Request } from './model/request.ts'
import type { Model } from './model/state.ts'
import { predict } from './model.ts'

export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  /** Parsed; null where there is none. */
  body: unknown
}

export interface Conversation {
  /** Asks the service and the model, and throws where they do not agree. Gives the body. */
  ask(request: Request): Promise<unknown>
  /** The same for requests at the same time: there has to be an order in which the model would have answered like this. */
  askTogether(requests: Request[]): Promise<void>
  /** Asks without looking at the answer; null where there is none. */
  send(request: Request): Promise<Answer | null>
  /** Compares an answer, in the order of calls, with what the model says at the time. */
  compare(request: Request, answer: Answer, at: number, besides?: string[]): void
  figures: { answers: number; recorded: number; 'over the limit': number; refused: number }
  end(): void
}

interface Circumstances {
  port: () => number
  now: () => number
  /** For whoever reads what went wrong. */
  where: () => string
}

/** What is asked of the service, with the model listening. */
export function newConversation(model: Model, { port, now, where }: Circumstances): Conversation {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const figures = { answers: 0, recorded: 0, 'over the limit': 0, refused: 0 }

  function compare(request: Request, answer: Answer, at: number, besides: string[] = []): void {
    const prediction = predict(model, request, at)
    const difference = differenceOf(prediction, answer, besides)
    if (difference !== null) {
      throw new Error(
        [
          `${where()}: ${describe(request)}`,
          difference,
          `expected ${prediction.status} ${shown(prediction.body)} ${shown(prediction.headers)}`,
          `got ${answer.status} ${shown(answer.body)} ${shown(answer.headers)}`,
        ].join('\n  '),
      )
    }
    figures.answers++
    if (answer.status === 429) figures['over the limit']++
    else if (answer.status >= 400) figures.refused++
    else if (answer.status === 201 && request.path.endsWith('/signals')) figures.recorded++
    prediction.learn?.(learnable(answer) as never)
  }

  return {
    figures,
    compare,

    async ask(request) {
      const answer = await send(agent, port(), request)
      compare(request, answer, now())
      return answer.body
    },

    async askTogether(requests) {
      const answers = await Promise.all(
        requests.map(async (request) => ({ request, answer: await send(agent, port(), request) })),
      )
      // Who was first is told the earlier id; who was refused came when all was done.
      const inOrder = answers.sort((a, b) => a.answer.status - b.answer.status || idIn(a.answer) - idIn(b.answer))
      // Signals that are stored together are told what is left after all of them.
      for (const { request, answer } of inOrder) compare(request, answer, now(), ['ratelimit-remaining'])
    },

    send: (request) => send(agent, port(), request).catch(() => null),
    end: () => agent.destroy(),
  }
}

function idIn({ body }: Answer): number {
  return (body as { data?: { id?: number } } | null)?.data?.id ?? 0
}

function learnable({ body, headers }: Answer): unknown {
  const cookie = headers['set-cookie']?.[0]
  return cookie === undefined ? body : { token: /^promptledger_session=([^;]*)/.exec(cookie)?.[1] }
}

function pathOf({ path, query = {} }: Request): string {
  const parameters = new URLSearchParams(query).toString()
  return `/api/v1${path}${parameters === '' ? '' : `?${parameters}`}`
}

function describe({ key, token, ...request }: Request): string {
  const by = key === undefined ? `session ${token}` : `key …${key.slice(-4)}`
  return `${request.method} ${pathOf(request)} by ${by} ${request.idempotencyKey ?? ''} ${request.body ?? ''}`
}

function send(agent: Agent, port: number, request: Request): Promise<Answer> {
  const { method, key, token, body, idempotencyKey } = request
  const headers: Record<string, string> = {}
  if (key !== undefined) headers.authorization = `Bearer ${key}`
  // As a browser does.
  if (token !== undefined)
    Object.assign(headers, { cookie: `promptledger_session=${token}`, 'sec-fetch-site': 'same-origin' })
  if (body !== undefined) headers['content-type'] = 'application/json'
  if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ agent, host: '127.0.0.1', port, method, path: pathOf(request), headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const { statusCode: status = 0, headers } = response
        resolve({ status, headers, body: bodyIn(Buffer.concat(chunks).toString(), headers['content-type']) })
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

function bodyIn(text: string, type = ''): unknown {
  if (type.startsWith('application/x-ndjson')) {
    return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
  }
  return text === '' ? null : JSON.parse(text)
}

function differenceOf(prediction: Prediction, { status, body, headers }: Answer, besides: string[]): string | null {
  if (status !== prediction.status) return `the status is ${status} and not ${prediction.status}`
  for (const [name, value] of Object.entries(prediction.headers)) {
    if (!besides.includes(name) && headers[name] !== value)
      return `the header ${name} is ${headers[name]} and not ${value}`
  }
  if (headers['x-request-id'] === undefined) return 'there is no request id'
  return firstDifference(prediction.body, body, 'the body')
}

/** Where two values differ first; null where they are equal. */
function firstDifference(expected: unknown, there: unknown, place: string): string | null {
  if (expected === any) return there === undefined ? `${place} is missing` : null
  if (typeof expected !== 'object' || expected === null || typeof there !== 'object' || there === null) {
    return Object.is(expected, there) ? null : `${place} is ${shown(there)} and not ${shown(expected)}`
  }
  for (const name of new Set([...Object.keys(expected), ...Object.keys(there)])) {
    const of = (value: object) => (value as Record<string, unknown>)[name]
    if (!Object.hasOwn(expected, name)) return `${place}.${name} is one too many: ${shown(of(there))}`
    if (!Object.hasOwn(there, name)) return `${place}.${name} is missing: ${shown(of(expected))}`
    const difference = firstDifference(of(expected), of(there), `${place}.${name}`)
    if (difference !== null) return difference
  }
  return null
}

function shown(value: unknown): string {
  const text = JSON.stringify(value, (_, part) => (part === any ? '…' : part)) ?? 'nothing'
  return text.length > 1_500 ? `${text.slice(0, 1_500)}…` : text
}
