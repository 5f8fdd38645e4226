import { positionOf } from './assignment.ts'
import { errorFromResponse } from './errors.ts'
import { createExposures, unref } from './exposures.ts'
import { createIdempotencyKey } from './idempotency-key.ts'
import type { DeliveryOptions, PromptText, TextOptions } from './prompt-text.ts'
import type { Transport } from './request.ts'
import { retryAfterMs } from './retry.ts'
import { defaultFolder, readCopy, readText, touchCopy, writeCopy } from './text-files.ts'
import type { DeliveredPrompt, DeliveryDocument } from './types.ts'

const firstWaitMs = 200
const defaultRefreshMs = 15_000
const maxRefreshMs = 300_000
const maxRetryAfterMs = 3_600_000
// Timers of more than this run at once.
const maxTimerMs = 2 ** 31 - 1
// Of a request, whatever the timeout of the client: one that never ended would be the last.
const timeoutMs = 30_000
const maxReported = 100

interface State {
  document: DeliveryDocument
  etag: string | null
}

/** Keeps the live texts of prompts, and chooses one for each unit without a request. */
export function createDelivery(service: Transport, options: DeliveryOptions = {}) {
  const { prompts: glob, refreshInterval, onError = warn } = options
  const exposures = createExposures(service)
  const fallbacks = new Map<string, Promise<string>>()
  const reported = new Set<string>()
  let state: State | undefined
  let byName = new Map<string, DeliveredPrompt | null>()
  let failures = 0
  let lastFailure = ''
  let firstWait: Promise<void> | undefined
  let isReady = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let refreshing: AbortController | undefined
  let writing = Promise.resolve()
  let isClosed = false

  function report(error: unknown): void {
    const message = String(error)
    if (reported.has(message)) return
    if (reported.size >= maxReported) reported.clear()
    reported.add(message)
    try {
      onError(error)
    } catch {
      // A call for a text never fails, whatever the application does here.
    }
  }

  function use(next: State): void {
    byName = indexOf(next.document.prompts)
    state = next
  }

  /** Reads the copy on disk, and waits for the service unless another process has just refreshed the copy. */
  async function start(): Promise<void> {
    const { folder, path } = copyPlace()
    const isFresh = path !== null && load(path)
    const refreshed = refresh(folder, path)
    if (!isFresh) {
      let wake: ReturnType<typeof setTimeout> | undefined
      const timeUp = new Promise<void>((resolve) => {
        wake = setTimeout(resolve, firstWaitMs)
      })
      await Promise.race([refreshed, timeUp])
      clearTimeout(wake)
    }
    isReady = true
  }

  function copyPlace(): { folder: string; path: string | null } {
    try {
      const folder = options.folder === undefined ? defaultFolder() : options.folder
      if (folder === null) return { folder: '', path: null }
      return { folder, path: `${folder}/${service.fingerprint(glob ?? '')}.json` }
    } catch {
      // Without a key or URL, which the first request reports.
      return { folder: '', path: null }
    }
  }

  /** Whether the copy on disk is as current as one in memory would be. */
  function load(path: string): boolean {
    try {
      const copy = readCopy(path)
      if (copy === null) return false
      use(JSON.parse(copy.text))
      return copy.ageMs < refreshMs()
    } catch (error) {
      report(error)
      return false
    }
  }

  function refreshMs(): number {
    const ms = refreshInterval ?? (state?.document.refresh_seconds ?? 0) * 1_000
    return ms > 0 ? Math.min(ms, maxTimerMs / 2) : defaultRefreshMs
  }

  async function refresh(folder: string, path: string | null): Promise<void> {
    if (isClosed) return
    refreshing = new AbortController()
    let asksForMs = 0
    try {
      const headers = { ...acceptEncoding(), ...(state?.etag && { 'If-None-Match': state.etag }) }
      const operation = { method: 'GET', path: '/delivery', query: { prompts: glob }, headers } as const
      const response = await service.attempt(operation, { signal: refreshing.signal, timeout: timeoutMs })
      const { status } = response
      if (status === 200) {
        const etag = response.headers.get('ETag')
        const { data: document } = JSON.parse(response.text)
        use({ document, etag })
        if (path !== null) {
          const text = JSON.stringify({ etag, document })
          // Calls do not wait for the disk.
          writing = writeCopy(folder, path, text, createIdempotencyKey()).catch(report)
        }
      } else if (status === 304 && state !== undefined) {
        if (path !== null) void touchCopy(path)
      } else {
        asksForMs = retryAfterMs(response.headers.get('Retry-After')) ?? 0
        throw errorFromResponse(status, response.headers.get('X-Request-Id'), response.text)
      }
      failures = 0
      // The next outage is news again.
      reported.delete(lastFailure)
    } catch (error) {
      failures++
      lastFailure = String(error)
      if (!isClosed) report(error)
    }
    if (isClosed) return
    const baseMs = refreshMs()
    const backoffMs = Math.min(baseMs * 2 ** failures, Math.max(baseMs, maxRefreshMs))
    // Processes that started together must not ask together.
    const delayMs = Math.max(backoffMs * (0.9 + Math.random() / 5), Math.min(asksForMs, maxRetryAfterMs))
    timer = setTimeout(() => refresh(folder, path), delayMs)
    unref(timer)
  }

  /** Reads each file once, on the first call, so that a missing one is noticed before it is needed. */
  function readFallback(fallback: TextOptions['fallback'] | undefined): string | Promise<string> {
    if (typeof fallback !== 'string') return typeof fallback?.text === 'string' ? fallback.text : ''
    let text = fallbacks.get(fallback)
    if (text === undefined) {
      text = readText(fallback).catch((error) => {
        report(error)
        return ''
      })
      fallbacks.set(fallback, text)
    }
    return text
  }

  /** Null without a unit. An object that is no text names none. */
  function nameOf(unit: unknown): string | null {
    try {
      return unit == null || unit === '' ? null : String(unit)
    } catch (error) {
      report(error)
      return null
    }
  }

  return {
    /**
     * The live text of a prompt, or the one that a trial chose for the unit. Never fails: without the service it uses the last texts that
     * it got, then those on disk, then the fallback. The first call waits up to 200 ms, and later ones for nothing.
     */
    async text(prompt: string, options?: TextOptions): Promise<PromptText> {
      if (!isReady && !isClosed) {
        firstWait ??= start()
        await firstWait
      }
      const lastResort = readFallback(options?.fallback)
      const unit = nameOf(options?.unit)
      const found = byName.get(prompt)
      if (found == null) return { text: await lastResort, version: null, trial: null, prompt, unit }
      const { id, text, version, trial } = found
      if (trial === null || unit === null) return { text, version, trial: null, prompt: id, unit }
      const position = positionOf(trial.id, unit)
      const arm = position < trial.share ? 'candidate' : 'control'
      if (!isClosed) exposures.count(trial.id, trial.share, position, arm)
      const chosen = arm === 'candidate' ? trial : found
      return { text: chosen.text, version: chosen.version, trial: { id: trial.id, arm }, prompt: id, unit }
    },

    /** Stops asking the service. Texts in memory stay available. */
    async close(timeout: number): Promise<void> {
      isClosed = true
      clearTimeout(timer)
      refreshing?.abort()
      await Promise.all([exposures.close(timeout), writing])
    },
  }
}

/** By ID, name and path, in this order. Null for one that several prompts have. */
function indexOf(prompts: DeliveredPrompt[]): Map<string, DeliveredPrompt | null> {
  const index = new Map<string, DeliveredPrompt | null>(prompts.map((prompt) => [prompt.id, prompt]))
  for (const key of ['name', 'path'] as const) {
    const found = new Map<string, DeliveredPrompt | null>()
    for (const prompt of prompts) found.set(prompt[key], found.has(prompt[key]) ? null : prompt)
    for (const [name, prompt] of found) if (!index.has(name)) index.set(name, prompt)
  }
  return index
}

/** Node asks for Brotli over TLS only. Elsewhere the runtime decides, and ignores this. */
function acceptEncoding(): Record<string, string> {
  const { versions } = (globalThis as { process?: { versions?: { node?: string } } }).process ?? {}
  return versions?.node === undefined ? {} : { 'Accept-Encoding': 'br, gzip' }
}

function warn(error: unknown): void {
  console.warn(`promptledger: ${error}`)
}
