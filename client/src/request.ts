import { digestOf } from './assignment.ts'
import { type Deadline, startDeadline } from './deadline.ts'
import { fromEnvironment } from './environment.ts'
import { ConnectionError, errorFromResponse, PromptledgerError } from './errors.ts'
import type { DeliveryOptions } from './prompt-text.ts'
import { isTransient, neverConnected, retryDelayMs, sleep } from './retry.ts'

type HeaderMap = Record<string, string>

/** Options of the client, which each call can override. */
export interface RequestOptions {
  /** Milliseconds that one attempt may take. Defaults to 10,000; `Infinity` disables the timeout. */
  timeout?: number | undefined
  /** How often to retry a failed attempt. Defaults to 3. */
  maxRetries?: number | undefined
  /** Aborts the call, which then rejects with the signal's reason. */
  signal?: AbortSignal | undefined
  /** Additional request headers. */
  headers?: HeaderMap | undefined
  /** Used instead of the global `fetch`. */
  fetch?: typeof fetch | undefined
}

export interface ClientOptions extends RequestOptions {
  /** Defaults to the environment variable `PROMPTLEDGER_KEY`. */
  apiKey?: string | undefined
  /**
   * URL of the service, such as `https://ledger.example.com`. Defaults to the environment variable `PROMPTLEDGER_URL`,
   * and in a browser to the origin of the page.
   */
  baseUrl?: string | undefined
  /**
   * Signs tokens for votes from browsers. Defaults to the environment variable `PROMPTLEDGER_SIGNING_KEY`. A client that only signs
   * needs neither `apiKey` nor `baseUrl`.
   */
  signingKey?: string | undefined
  /** Sends no API key: in a page of the service itself, the cookie of its session authenticates requests. */
  useSession?: boolean | undefined
  /** How `prompts.text` fetches and keeps texts. */
  delivery?: DeliveryOptions | undefined
}

export interface Operation {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Relative to `/api/v1`. */
  path: string
  query?: object | undefined
  body?: unknown
  headers?: HeaderMap
  /** Whether sending it twice has the same effect as sending it once. Defaults to true for every method but POST. */
  isIdempotent?: boolean
  /** Overrides the client's timeout for a slow operation. The timeout of the call still wins. */
  timeout?: number
}

/** Sends the requests of all resources. */
export interface Transport {
  /** Throws what the first request would throw, if a client that only signs has no key or URL. */
  requireKey(): void
  /** Tells clients of other services, other keys and with another `purpose` apart, and reveals nothing about the key. */
  fingerprint(purpose: string): string
  /** Sends a request once, and resolves with the response whatever its status, for callers that retry on their own. */
  attempt(operation: Operation, options?: RequestOptions): Promise<{ status: number; headers: Headers; text: string }>
  /** Resolves with the parsed body of the response. */
  json<Body>(operation: Operation, options?: RequestOptions): Promise<Body>
  /** Yields the text of the response in chunks, as they arrive. */
  text(operation: Operation, options?: RequestOptions): AsyncGenerator<string, void>
}

// A call fails when the service asks for a longer delay, so that no caller hangs for hours.
const maxRetryDelayMs = 60_000

/** With `canSign`, a missing key or URL is reported by the first request, because a client that only signs sends none. */
export function createTransport(client: ClientOptions, canSign = false): Transport {
  const resolveTarget = () => ({
    apiUrl: `${resolveBaseUrl(client.baseUrl)}/api/v1`,
    authorization: resolveAuthorization(client),
  })
  let target: ReturnType<typeof resolveTarget> | undefined
  if (!canSign) target = resolveTarget()

  /** Everything that the attempts of a call share. */
  function prepare(operation: Operation, call: RequestOptions) {
    const { method, path, query, body } = operation
    // Runtimes drop these segments, so the request would go to another path.
    if (/\/\.{0,2}(\/|$)/.test(path)) throw new TypeError('Pass the ID of the prompt: "", "." and ".." cannot name one')
    target ??= resolveTarget()
    const { apiUrl, authorization } = target
    // Arguments that cannot be serialised throw here, before they could pass for a failed connection.
    const url = `${apiUrl}${path}${queryString(query)}`
    const text = body === undefined ? null : JSON.stringify(body)
    const contentType: HeaderMap = text === null ? {} : { 'Content-Type': 'application/json' }
    const headers = mergeHeaders(authorization, contentType, operation.headers, client.headers, call.headers)
    const signal = call.signal ?? client.signal
    const timeout = call.timeout ?? operation.timeout ?? client.timeout ?? 10_000
    // Browsers reject a fetch that is called as a method of another object.
    const fetchFunction = call.fetch ?? client.fetch ?? fetch
    // A followed redirect can turn a POST into a GET that seems to succeed. Credentials stay at their default,
    // same-origin, because some runtimes reject the option.
    const init = { method, headers, body: text, redirect: 'manual' } as const
    return {
      signal,
      timeout,
      fetchOnce: (deadline: Deadline) => fetchFunction(url, { ...init, signal: deadline.signal }),
    }
  }

  async function send<T>(
    operation: Operation,
    call: RequestOptions,
    read: (response: Response, deadline: Deadline) => Promise<T>,
  ): Promise<T> {
    const { method, isIdempotent = method !== 'POST' } = operation
    const { signal, timeout, fetchOnce } = prepare(operation, call)
    const maxRetries = call.maxRetries ?? client.maxRetries ?? 3

    for (let retries = 0; ; retries++) {
      signal?.throwIfAborted()
      const deadline = startDeadline(timeout, signal)
      let retryAfter: string | null = null
      let error: unknown
      try {
        const response = await fetchOnce(deadline)
        if (response.ok) return await read(response, deadline)
        retryAfter = response.headers.get('Retry-After')
        error = errorFromResponse(response.status, response.headers.get('X-Request-Id'), await response.text())
      } catch (reason) {
        error = failureOf(reason, deadline.signal)
      }
      deadline.end()
      signal?.throwIfAborted()
      // The attempt whose response was lost may have deleted it, so not found means success on a retry.
      if (method === 'DELETE' && retries > 0 && (error as PromptledgerError).code === 'not_found') {
        return undefined as T
      }
      const delayMs = retryDelayMs(retries, retryAfter)
      if (retries >= maxRetries || !isTransient(error) || delayMs > maxRetryDelayMs) throw error
      if (!isIdempotent && !neverConnected(error)) throw error
      await sleep(delayMs, signal)
    }
  }

  return {
    requireKey() {
      target ??= resolveTarget()
    },

    fingerprint(purpose) {
      target ??= resolveTarget()
      return digestOf(JSON.stringify([target, purpose]))
    },

    async attempt(operation, options = {}) {
      const { signal, timeout, fetchOnce } = prepare(operation, options)
      const deadline = startDeadline(timeout, signal)
      try {
        const response = await fetchOnce(deadline)
        return { status: response.status, headers: response.headers, text: await response.text() }
      } catch (error) {
        throw failureOf(error, deadline.signal)
      } finally {
        deadline.end()
      }
    },

    json(operation, options = {}) {
      return send(operation, options, async (response, deadline) => {
        const text = await response.text()
        deadline.end()
        return response.status === 204 ? undefined : parseJson(text)
      })
    },

    async *text(operation, options = {}) {
      const { reader, deadline } = await send(operation, options, async (response, deadline) => ({
        reader: (response.body as ReadableStream<Uint8Array>).getReader(),
        deadline,
      }))
      const decoder = new TextDecoder()
      try {
        for (;;) {
          // The timeout limits the wait for each chunk, not the time that the whole response takes.
          deadline.restart()
          const { done, value } = await reader.read()
          deadline.pause()
          if (done) break
          yield decoder.decode(value, { stream: true })
        }
      } catch (error) {
        throw failureOf(error, deadline.signal)
      } finally {
        deadline.end()
        // Stops the download when the caller stops reading. On a stream that failed, cancel rejects for the same reason.
        await reader.cancel().catch(() => {})
      }
    },
  }
}

/** Sends a request and returns the `data` of its response, which is how the API wraps a single resource. */
export async function requestData<Data>(
  { json }: Transport,
  operation: Operation,
  options?: RequestOptions,
): Promise<Data> {
  const { data } = await json<{ data: Data }>(operation, options)
  return data
}

function resolveBaseUrl(given: string | undefined): string {
  const baseUrl = given ?? fromEnvironment('PROMPTLEDGER_URL')
  // Declared here, because the CLI includes this file without the types of browsers.
  const page = (globalThis as { location?: { href: string } }).location?.href
  if (baseUrl === undefined && page === undefined) {
    throw new TypeError('No baseUrl: set PROMPTLEDGER_URL to the URL of your Promptledger, or pass baseUrl')
  }
  return new URL(baseUrl ?? '/', page).href.replace(/\/+$/, '')
}

function resolveAuthorization({ apiKey, useSession }: ClientOptions): HeaderMap {
  if (useSession === true) {
    if (apiKey === undefined) return {}
    throw new TypeError('Pass either apiKey or useSession')
  }
  const key = apiKey ?? fromEnvironment('PROMPTLEDGER_KEY')
  if (key) return { Authorization: `Bearer ${key}` }
  throw new TypeError('No API key: set PROMPTLEDGER_KEY to one, or pass apiKey')
}

/** Later headers replace earlier ones, whatever their case. The constructor of Headers would send both. */
function mergeHeaders(...maps: (HeaderMap | undefined)[]): Headers {
  const headers = new Headers()
  for (const map of maps) for (const [name, value] of Object.entries(map ?? {})) headers.set(name, value)
  return headers
}

function queryString(query: object = {}): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value != null) parameters.set(name, value instanceof Date ? value.toISOString() : String(value))
  }
  const text = parameters.toString()
  return text && `?${text}`
}

// biome-ignore lint/suspicious/noExplicitAny: only the caller knows the type.
function parseJson(text: string): any {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new ConnectionError('The response is not JSON: it was cut off, or baseUrl points to another server', error)
  }
}

/** What to throw for a failed attempt: the reason of an abort, or a PromptledgerError. */
function failureOf(error: unknown, { aborted, reason }: AbortSignal): unknown {
  if (aborted) return reason
  if (error instanceof PromptledgerError) return error
  const { message, cause } = error as Error
  return new ConnectionError(`Connection failed: ${(cause as Error | undefined)?.message || message}`, error)
}
