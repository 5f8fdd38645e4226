import { ConnectionError, PromptledgerError, TimeoutError } from './errors.ts'

/** Whether the same request may succeed a moment later. */
export function isTransient(error: unknown): boolean {
  if (error instanceof ConnectionError || error instanceof TimeoutError) return true
  return error instanceof PromptledgerError && (error.status ?? 0) >= 500
}

const connectErrors =
  /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|ConnectionRefused/

/**
 * Whether no connection was established, so that the service cannot have received the request. Browsers do not report
 * this, so there the request may have been received.
 */
export function neverConnected(error: unknown): boolean {
  const { cause } = (error as Error) ?? {}
  const { code, cause: innerCause } = (cause ?? {}) as { code?: string; cause?: { code?: string } }
  return connectErrors.test(`${code} ${innerCause?.code}`)
}

/**
 * The delay that `Retry-After` asks for, or else exponential backoff with jitter, so that clients which failed together
 * do not retry together.
 */
export function retryDelayMs(retries: number, retryAfter: string | null): number {
  return retryAfterMs(retryAfter) ?? Math.min(8_000, 500 * 2 ** retries) * (0.5 + Math.random() / 2)
}

/** The delay that the header asks for, or null if it asks for none. */
export function retryAfterMs(header: string | null): number | null {
  if (header === null) return null
  const requestedMs = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now()
  return Number.isNaN(requestedMs) ? null : Math.max(0, requestedMs)
}

/** Rejects with the signal's reason as soon as it aborts. */
export function sleep(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const wake = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', wake)
      if (signal?.aborted) reject(signal.reason)
      else resolve()
    }
    const timer = setTimeout(wake, delayMs)
    signal?.addEventListener('abort', wake)
  })
}
