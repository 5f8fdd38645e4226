import { ConnectionError, PromptledgerError, refusal, TimeoutError } from './errors.ts'

type Headings = Record<string, string>

/** What can be said once for a client and again for each call. */
export interface RequestOptions {
  /** Milliseconds for one attempt, 10,000 unless told; Infinity for no end. */
  timeout?: number | undefined
  /** How often to try again, 3 unless told. */
  maxRetries?: number | undefined
  /** Ends the call, which then fails with the signal's reason. */
  signal?: AbortSignal | undefined
  /** Sent along. */
  headers?: Headings | undefined
  /** In place of the runtime's own. */
  fetch?: typeof fetch | undefined
}

export interface ClientOptions extends RequestOptions {
  /** Left out in a browser, where the cookie of a session speaks for it. */
  apiKey?: string | undefined
  /** Where the service runs, such as https://ledger.example.com; in a browser the page's own origin, unless told. */
  baseUrl?: string | undefined
}

export interface Operation {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Below /api/v1. */
  path: string
  query?: object | undefined
  body?: unknown
  headers?: Headings
  /** Whether doing it twice is as good as once. What is no POST always is. */
  repeatable?: boolean
  /** For those that are slow by nature; a call's own still wins. */
  timeout?: number
}

/** How resources reach the service. */
export interface Transport {
  /** The answer's body. */
  json<Body>(operation: Operation, options?: RequestOptions): Promise<Body>
  /** The answer's text, piece by piece as it arrives. */
  text(operation: Operation, options?: RequestOptions): AsyncGenerator<string, void>
}

const longestPause = 60_000

export function transport(client: ClientOptions): Transport {
  const root = `${rootOf(client.baseUrl)}/api/v1`
  const authorization: Headings = client.apiKey ? { Authorization: `Bearer ${client.apiKey}` } : {}

  async function send<T>(
    operation: Operation,
    call: RequestOptions,
    read: (response: Response, watch: Watch) => Promise<T>,
  ): Promise<T> {
    const { method, path, query, body, repeatable = method !== 'POST' } = operation
    // What cannot be sent at all fails here, before it could be mistaken for a bad connection.
    const url = `${root}${path}${queryText(query)}`
    const text = body === undefined ? null : JSON.stringify(body)
    const type: Headings = text === null ? {} : { 'Content-Type': 'application/json' }
    const headers = headersOf(authorization, type, operation.headers, client.headers, call.headers)
    const signal = call.signal ?? client.signal
    const timeout = call.timeout ?? operation.timeout ?? client.timeout ?? 10_000
    const maxRetries = call.maxRetries ?? client.maxRetries ?? 3
    // By a name of its own: browsers refuse a fetch that is called as somebody's method.
    const request = call.fetch ?? client.fetch ?? fetch

    for (let retries = 0; ; retries++) {
      signal?.throwIfAborted()
      const watch = startWatch(timeout, signal)
      let retryAfter: string | null = null
      let failure: unknown
      try {
        // A POST that is redirected may become a GET and seem to succeed. Credentials are left at their default,
        // same-origin, because some runtimes refuse to be told.
        const response = await request(url, { method, headers, body: text, signal: watch.signal, redirect: 'manual' })
        if (response.ok) return await read(response, watch)
        retryAfter = response.headers.get('Retry-After')
        failure = refusal(response.status, response.headers.get('X-Request-Id'), await response.text())
      } catch (error) {
        failure = asFailure(error, watch.signal)
      }
      watch.end()
      signal?.throwIfAborted()
      // It may have been done by the attempt whose answer was lost; gone is what was asked for.
      if (method === 'DELETE' && retries > 0 && (failure as PromptledgerError).code === 'not_found') {
        return undefined as T
      }
      const pause = pauseBefore(retries, retryAfter)
      if (retries >= maxRetries || !isPassing(failure) || pause > longestPause) throw failure
      if (!repeatable && !neverArrived(failure)) throw failure
      await sleep(pause, signal)
    }
  }

  return {
    json(operation, options = {}) {
      return send(operation, options, async (response, watch) => {
        const text = await response.text()
        watch.end()
        return response.status === 204 ? undefined : parse(text)
      })
    },

    async *text(operation, options = {}) {
      const { reader, watch } = await send(operation, options, async (response, watch) => ({
        reader: (response.body as ReadableStream<Uint8Array>).getReader(),
        watch,
      }))
      const decoder = new TextDecoder()
      try {
        for (;;) {
          // However long it takes as a whole, what counts is that something arrives.
          watch.restart()
          const { done, value } = await reader.read()
          watch.pause()
          if (done) break
          yield decoder.decode(value, { stream: true })
        }
      } catch (error) {
        throw asFailure(error, watch.signal)
      } finally {
        watch.end()
        // Whoever stops reading early wants no more of it; where it broke, there is nothing to cancel.
        await reader.cancel().catch(() => {})
      }
    },
  }
}

function rootOf(baseUrl: string | undefined): string {
  const page = globalThis.location?.href
  if (baseUrl === undefined && page === undefined) {
    throw new TypeError('Say where the service runs: new Promptledger({ baseUrl: "https://ledger.example.com" })')
  }
  return new URL(baseUrl ?? '/', page).href.replace(/\/+$/, '')
}

/** The later ones win, in whatever case they are written; by its constructor, Headers would send both. */
function headersOf(...all: (Headings | undefined)[]): Headers {
  const headers = new Headers()
  for (const some of all) for (const [name, value] of Object.entries(some ?? {})) headers.set(name, value)
  return headers
}

function queryText(query: object = {}): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value != null) parameters.set(name, value instanceof Date ? value.toISOString() : String(value))
  }
  const text = parameters.toString()
  return text && `?${text}`
}

// biome-ignore lint/suspicious/noExplicitAny: the shape is the caller's knowledge.
function parse(text: string): any {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new ConnectionError('The answer is not JSON: it broke off, or baseUrl leads elsewhere', error)
  }
}

interface Watch {
  signal: AbortSignal
  restart(): void
  pause(): void
  end(): void
}

/** Aborts when time is up or the caller wants to stop. Not by AbortSignal.any: a signal that lives long would collect what it watches. */
function startWatch(timeout: number, caller: AbortSignal | undefined): Watch {
  const controller = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const abort = () => controller.abort(caller?.reason)
  const pause = () => clearTimeout(timer)
  const restart = () => {
    pause()
    // Timers know no longer time than this; they would ring at once.
    if (timeout < 2 ** 31) timer = setTimeout(() => controller.abort(new TimeoutError(timeout)), timeout)
  }
  caller?.addEventListener('abort', abort)
  restart()
  return {
    signal: controller.signal,
    restart,
    pause,
    end() {
      pause()
      caller?.removeEventListener('abort', abort)
    },
  }
}

function asFailure(error: unknown, { aborted, reason }: AbortSignal): unknown {
  if (aborted) return reason
  if (error instanceof PromptledgerError) return error
  return new ConnectionError(`No answer: ${reasonOf(error)}`, error)
}

function reasonOf(error: unknown): string {
  const { message, cause } = error as Error
  return (cause as Error | undefined)?.message || message
}

/** Whether the same request may well succeed a moment later. */
export function isPassing(failure: unknown): boolean {
  if (failure instanceof ConnectionError || failure instanceof TimeoutError) return true
  return failure instanceof PromptledgerError && (failure.status ?? 0) >= 500
}

const refused = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|ConnectionRefused/

/** Whether there was not even a connection. Browsers do not tell; then it may have arrived. */
function neverArrived(failure: unknown): boolean {
  const { cause } = (failure as Error) ?? {}
  const { code, cause: deeper } = (cause ?? {}) as { code?: string; cause?: { code?: string } }
  return refused.test(`${code} ${deeper?.code}`)
}

/** As long as the service asks for, else up to twice as long each time: whoever failed together does not come back together. */
function pauseBefore(retries: number, retryAfter: string | null): number {
  if (retryAfter !== null) {
    const asked = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1_000 : Date.parse(retryAfter) - Date.now()
    if (!Number.isNaN(asked)) return Math.max(0, asked)
  }
  return Math.min(8_000, 500 * 2 ** retries) * (0.5 + Math.random() / 2)
}

function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const wake = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', wake)
      if (signal?.aborted) reject(signal.reason)
      else resolve()
    }
    const timer = setTimeout(wake, milliseconds)
    signal?.addEventListener('abort', wake)
  })
}
