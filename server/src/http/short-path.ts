import type { IncomingMessage, OutgoingHttpHeader, RequestListener, Server, ServerResponse } from 'node:http'
import { operations as deliveryOperations } from '../../../contract/delivery.ts'
import { operations as historyOperations } from '../../../contract/history.ts'
import { newSignalSchema, operations as signalOperations } from '../../../contract/signals.ts'
import { type Access, isActive } from '../domain/access/api-key.ts'
import type { Prompt } from '../domain/prompt.ts'
import { type RecordedSignal, type RecordSignal, recordedSignal, signalToRecord } from '../domain/signals/signal.ts'
import type { Visit } from './admission/decision.ts'
import type { LoadShedder } from './admission/load-shedder.ts'
import type { Answer } from './answer.ts'
import type { Context } from './context.ts'
import { unchangedAnswer } from './delivery/documents.ts'
import { errorAnswers } from './errors.ts'
import { historyAnswer } from './history/list.ts'
import { bodyLimit, parseBody } from './json-bodies.ts'
import { commonHeaders } from './security-headers.ts'
import { recordedAnswer } from './signals/create.ts'
import { addCurrentRateLimit } from './signals/rate-limit.ts'
import { parseSignal } from './signals/validation.ts'
import { createSchemaChecker } from './validate.ts'

/**
 * Answers ordinary requests for the two operations of the contract, and polls for texts that have not changed, without Fastify's
 * lifecycle, which takes more time than everything else about them. Requests that arrive together share one check of the caches, and none has a promise or timer of its own.
 *
 * A request is left to Fastify, before its body is read, if it has any other shape, if Fastify has not found its key and prompt since
 * the last change, if its body is still on its way, and if it has to wait or to be rejected. So Fastify alone rejects keys, queues and
 * sheds load. All rules, and the text of every response, are those that the routes use.
 */
export interface ShortPath {
  /** Notes what Fastify found for a request. `generation` is that of the caches before it looked. */
  remember(request: IncomingMessage, access: Access, prompt: Prompt, generation: number): void
  /** Notes the tag of the delivery document that a request asked for. */
  rememberDocument(request: IncomingMessage, access: Access, etag: string, generation: number): void
}

interface ShortPathOptions {
  loadShedder: LoadShedder
  requestId: (request: IncomingMessage) => string
  /** Counts and logs a response, with when the request arrived. */
  report: (operation: Operation, requestId: string, response: ServerResponse, arrivedAt: number) => void
  isClosing: () => boolean
}

const { createSignal } = signalOperations
const { listHistory } = historyOperations
const { getDelivery } = deliveryOperations

export const operations = { createSignal, listHistory, getDelivery }

export type Operation = keyof typeof operations

const kinds = { createSignal: 'writes', listHistory: 'reads', getDelivery: 'reads' } as const

/** What the caches returned for a key and a path. */
interface Target {
  access: Access
  /** Null for a delivery document. */
  prompt: Prompt | null
  /** A page of history, once it was read, or the response to a client whose document is current. */
  page: Page | null
}

interface Page extends Answer {
  /** The bytes of its body, each as a character, if they are few. Node sends a text along with the head, in one piece. */
  text: string | null
}

/** A request that was accepted. */
interface Exchange {
  /** Empty until the request is known not to be left to the framework. */
  id: string
  arrivedAt: number
  operation: Operation
  request: IncomingMessage
  response: ServerResponse
  visit: Visit
}

const paths = {
  createSignal: /^\/api\/v1\/prompts\/pmt_[0-9A-Za-z]+\/signals$/,
  listHistory: /^\/api\/v1\/prompts\/pmt_[0-9A-Za-z]+\/history(?:\?(?:page|limit)=\d+(?:&(?:page|limit)=\d+)?)?$/,
  getDelivery: /^\/api\/v1\/delivery(?:\?prompts=[^#&]*)?$/,
}
// Beyond it, all are forgotten: a map in the order of use would be changed by each request.
const maxTargetBytes = 8 * 1024 * 1024
const bytesPerTarget = 1_024
const maxKeyLength = 512
const noBytes = Buffer.alloc(0)
// The kernel takes over this much, whether the client reads or not. Of a longer text, Node would keep a copy for each that does not.
const maxTextBytes = 16 * 1024
const checkSignal = createSchemaChecker(newSignalSchema)

/** Puts the short path before the framework, which is the only listener so far. */
export function installShortPath(server: Server, context: Context, options: ShortPathOptions): ShortPath {
  const { store, clock, lastUsed, planLimits, publicUrl, voters, log } = context
  const { loadShedder, requestId, report, isClosing } = options
  const [framework] = server.listeners('request') as [RequestListener]
  const errorAnswer = errorAnswers(log, clock)
  let generation = -1
  let targets = new Map<string, Target>()
  let targetBytes = 0

  server.removeListener('request', framework)
  server.on('request', (request, response) => {
    const operation = isClosing() ? null : ordinaryOperation(request)
    const visit = operation === null ? null : accept(operation, request)
    if (operation === null || visit === null) {
      framework(request, response)
      return
    }
    const exchange = { id: '', arrivedAt: performance.now(), operation, request, response, visit }
    store.refreshThen(
      () => {
        if (!hasArrived(exchange) || !answer(exchange)) leaveToFramework(exchange)
      },
      (error) => {
        if (hasArrived(exchange)) fail(exchange, error)
        else leaveToFramework(exchange)
      },
    )
  })

  function hasArrived({ request }: Exchange): boolean {
    return request.complete && !request.destroyed && !isClosing()
  }

  function leaveToFramework({ request, response, visit }: Exchange): void {
    loadShedder.withdraw(visit)
    framework(request, response)
  }

  function fail(exchange: Exchange, error: unknown): void {
    exchange.id = requestId(exchange.request)
    respond(exchange, errorAnswer(error, exchange.id))
  }

  function accept(operation: Operation, request: IncomingMessage): Visit | null {
    return loadShedder.tryAccept(kinds[operation], operation === 'createSignal' ? bodyLength(request) : 0)
  }

  /** False if the request is left to the framework. */
  function answer(exchange: Exchange): boolean {
    const { operation, request, visit } = exchange
    const target = currentTargets().get(keyOf(request))
    if (target === undefined) return false
    const { access, prompt, page } = target
    if (prompt === null && page?.headers.etag !== request.headers['if-none-match']) return false
    const roles = operations[operation].roles as readonly string[]
    const now = clock()
    if (!isActive(access, now) || !roles.includes(access.role) || !loadShedder.tryAdmit(visit, access)) return false
    lastUsed.record(access.keyId, now)
    store.countCacheHit('keys')
    exchange.id = requestId(request)
    if (prompt === null) {
      respond(exchange, page as Page)
      return true
    }
    store.countCacheHit('prompts')
    if (operation === 'createSignal') record(exchange, access, prompt)
    else sendPage(exchange, target, prompt)
    return true
  }

  function currentTargets(): Map<string, Target> {
    const current = store.cacheGeneration()
    if (generation !== current) {
      generation = current
      targets = new Map()
      targetBytes = 0
    }
    return targets
  }

  function keepTarget(key: string, target: Target): void {
    const bytes = bytesOf(target)
    targetBytes -= bytesOf(targets.get(key))
    if (targetBytes + bytes > maxTargetBytes) {
      targets = new Map()
      targetBytes = 0
    }
    if (bytes > maxTargetBytes) return
    targetBytes += bytes
    targets.set(key, target)
  }

  function record(exchange: Exchange, access: Access, prompt: Prompt): void {
    const { request } = exchange
    const now = clock()
    const fail = (error: unknown) => respondUncounted(exchange, access, errorAnswer(error, exchange.id))

    function enqueue(signal: RecordSignal): void {
      const toRecord = signalToRecord(access, planLimits, signal, now)
      store.signals.enqueue(
        toRecord,
        (outcome) => {
          let recorded: RecordedSignal
          try {
            recorded = recordedSignal(toRecord, outcome)
          } catch (error) {
            fail(error)
            return
          }
          const answer = recordedAnswer(recorded, now)
          if (recorded.allowance === null) respondUncounted(exchange, access, answer)
          else respond(exchange, answer)
        },
        fail,
      )
    }

    try {
      const { text, value } = parseBody(request.read() ?? noBytes)
      const sent = { prompt, headers: request.headers, body: checkSignal(value), bodyText: text }
      const signal = parseSignal(sent, voters, now)
      if (signal instanceof Promise) signal.then(enqueue).catch(fail)
      else enqueue(signal)
    } catch (error) {
      fail(error)
    }
  }

  function sendPage(exchange: Exchange, target: Target, prompt: Prompt): void {
    if (target.page !== null) {
      store.countCacheHit('pages')
      respond(exchange, target.page, target.page.text)
      return
    }
    const key = keyOf(exchange.request)
    const ofGeneration = generation
    const [, query] = (exchange.request.url as string).split('?')
    historyAnswer(store, prompt, Object.fromEntries(new URLSearchParams(query))).then(
      (page) => {
        const isShort = Buffer.isBuffer(page.body) && page.body.length <= maxTextBytes
        const text = isShort ? page.body.toString('latin1') : null
        if (currentTargets() && generation === ofGeneration) keepTarget(key, { ...target, page: { ...page, text } })
        respond(exchange, page)
      },
      (error) => respond(exchange, errorAnswer(error, exchange.id)),
    )
  }

  /** Responds to a signal that was not counted. */
  function respondUncounted(exchange: Exchange, access: Access, answer: Answer): void {
    addCurrentRateLimit(context, access, answer.status, (headers) =>
      respond(exchange, { ...answer, headers: { ...answer.headers, ...headers } }),
    )
  }

  function respond(
    { id, arrivedAt, operation, request, response, visit }: Exchange,
    answer: Answer,
    text: string | null = null,
  ): void {
    if (response.headersSent) return
    const { status, headers, body } = answer
    const sent: (string | number)[] = []
    addTo(sent, commonHeaders(id, publicUrl()))
    addTo(sent, headers)
    const length = Buffer.byteLength(body)
    if (status !== 304) sent.push('content-length', length)
    response.writeHead(status, sent as OutgoingHttpHeader[])
    if (text !== null) response.end(text, 'latin1')
    // Then it is ASCII, which takes no encoding.
    else if (typeof body === 'string' && body.length === length) response.end(body, 'latin1')
    else response.end(body)
    report(operation, id, response, arrivedAt)
    loadShedder.leaveAfter(visit, request, response)
  }

  function rememberTarget(request: IncomingMessage, target: Target, ofGeneration: number): void {
    if (ordinaryOperation(request) === null) return
    const key = keyOf(request)
    // A page that is cached stays.
    if (currentTargets().has(key) || ofGeneration !== generation) return
    keepTarget(key, target)
  }

  return {
    remember(request, access, prompt, ofGeneration) {
      rememberTarget(request, { access, prompt, page: null }, ofGeneration)
    },
    rememberDocument(request, access, etag, ofGeneration) {
      rememberTarget(request, { access, prompt: null, page: { ...unchangedAnswer(etag), text: null } }, ofGeneration)
    },
  }
}

function bytesOf(target: Target | undefined): number {
  return target === undefined ? 0 : bytesPerTarget + (target.page?.body.length ?? 0) + (target.page?.text?.length ?? 0)
}

function ordinaryOperation(request: IncomingMessage): Operation | null {
  const { method, url = '', headers } = request
  if (headers.authorization === undefined || headers.expect !== undefined) return null
  // Both are remembered.
  if (headers.authorization.length + url.length > maxKeyLength) return null
  if (method === 'GET') {
    const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
    if (hasBody) return null
    if (headers['if-none-match'] !== undefined && paths.getDelivery.test(url)) return 'getDelivery'
    return paths.listHistory.test(url) ? 'listHistory' : null
  }
  if (method !== 'POST' || headers['content-type'] !== 'application/json' || !paths.createSignal.test(url)) return null
  const length = bodyLength(request)
  return length > 0 && length <= bodyLimit ? 'createSignal' : null
}

/** A list, which Node does not copy. */
function addTo(sent: (string | number)[], headers: Answer['headers']): void {
  for (const name in headers) sent.push(name, headers[name] as string | number)
}

/** NaN without the header. */
function bodyLength({ headers }: IncomingMessage): number {
  return Number(headers['content-length'])
}

function keyOf({ url, headers }: IncomingMessage): string {
  return `${headers.authorization} ${url}`
}
