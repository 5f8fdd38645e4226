import { PromptledgerError, RateLimitedError, TimeoutError, UnauthorizedError } from './errors.ts'
import { createIdempotencyKey } from './idempotency-key.ts'
import type { RequestOptions } from './request.ts'
import { isTransient } from './retry.ts'
import type { NewSignal } from './types.ts'

/** A signal that waits to be sent. Its key is the idempotency key: the signal counts once, however often it is sent. */
export interface QueuedSignal {
  key: string
  promptId: string
  signal: NewSignal
}

/** Stores signals until they are recorded. `@promptledger/client/spool` has one that uses a file, for Node. */
export interface Spool {
  /** Resolves with the signals left over from the last run. Later failures go to `onError`; no other method throws. */
  open(onError: (error: unknown) => void): Promise<QueuedSignal[]>
  /** Stores a signal until it is removed. */
  add(signal: QueuedSignal): void
  /** Removes a signal that was recorded or dropped. */
  remove(key: string): void
  /** Resolves when all changes so far are on disk. */
  flush(): Promise<void>
  close(): Promise<void>
}

export interface SignalOptions extends RequestOptions {
  /** Calls with the same key, prompt and signal count once. By default each call has a random key. */
  idempotencyKey?: string | undefined
}

export interface QueueOptions extends Pick<RequestOptions, 'timeout' | 'maxRetries' | 'headers' | 'fetch'> {
  /** How many signals the queue holds at most. Defaults to 10,000. */
  maxSize?: number | undefined
  /** How many requests are in flight at a time. Defaults to 5. */
  concurrency?: number | undefined
  /** Called with each dropped signal, and with null when the spool fails. Defaults to a warning on the console. */
  onError?: ((error: unknown, dropped: QueuedSignal | null) => void) | undefined
  /** Holds signals that cannot be sent now: while offline, over the monthly limit, or when the process ends. */
  spool?: Spool | undefined
  /**
   * Milliseconds until the queue sends spooled signals again. Defaults to 30,000. Over the monthly limit the queue waits
   * until it resets, but checks once an hour in case the plan changed.
   */
  retryDelay?: number | undefined
}

export interface SignalQueue {
  /** Queues a signal to be sent in the background. Never waits and never throws. Returns false if it drops the signal. */
  add(promptId: string, signal: NewSignal, options?: Pick<SignalOptions, 'idempotencyKey'>): boolean
  /** How many signals are not recorded yet. */
  readonly size: number
  /** Resolves when every signal added before is recorded, dropped, or in the spool until it can be sent. */
  flush(): Promise<void>
  /** Flushes and accepts no more signals. After `timeout` ms the rest stays in the spool, or is dropped without one. */
  close(options?: { timeout?: number }): Promise<void>
}

interface PendingSignal extends QueuedSignal {
  settle(): void
}

type Create = (promptId: string, signal: NewSignal, options: SignalOptions) => Promise<unknown>

// About a minute of retries: no caller waits for a queued signal.
const defaultMaxRetries = 10
const maxPauseMs = 3_600_000

export function createSignalQueue(create: Create, options: QueueOptions = {}): SignalQueue {
  const { maxSize = 10_000, concurrency = 5, onError = warn, retryDelay = 30_000 } = options
  const { timeout, maxRetries = defaultMaxRetries, headers, fetch } = options
  let { spool } = options
  const pending: PendingSignal[] = []
  const unsettled = new Set<Promise<void>>()
  const end = new AbortController()
  let inFlight = 0
  let isPaused = false
  let pauseTimer: ReturnType<typeof setTimeout> | undefined
  let closing: Promise<void> | undefined

  const onSpoolError = (error: unknown) => onError(error, null)
  const leftovers = spool?.open(onSpoolError).then(
    (signals) => signals.map(enqueue),
    (error) => {
      spool = undefined
      onSpoolError(error)
      return []
    },
  )

  function enqueue(signal: QueuedSignal): Promise<void> {
    const settled = new Promise<void>((settle) => pending.push({ ...signal, settle }))
    unsettled.add(settled)
    void settled.then(() => unsettled.delete(settled))
    sendPending()
    return settled
  }

  function sendPending(): void {
    if (isPaused || end.signal.aborted) {
      // flush() must not wait for signals that only the spool can hold now.
      for (const { settle } of pending) settle()
      return
    }
    while (inFlight < concurrency && pending.length > 0) {
      inFlight++
      // Rejects only if onError throws, which then surfaces as an unhandled rejection.
      void send(pending.shift() as PendingSignal).finally(() => {
        inFlight--
        sendPending()
      })
    }
  }

  async function send(item: PendingSignal): Promise<void> {
    const { key, promptId, signal, settle } = item
    try {
      const request = { timeout, maxRetries, headers, fetch, signal: end.signal }
      await create(promptId, signal, { ...request, idempotencyKey: key })
      spool?.remove(key)
    } catch (error) {
      if (spool !== undefined && mayStillSucceed(error)) {
        pending.unshift(item)
        pause(error)
      } else {
        drop(error, item)
      }
    } finally {
      settle()
    }
  }

  /** Stops sending, since the other signals would fail for the same reason. */
  function pause(error: unknown): void {
    if (isPaused) return
    isPaused = true
    if (closing !== undefined) return
    pauseTimer = setTimeout(
      () => {
        isPaused = false
        sendPending()
      },
      pauseMsAfter(error, retryDelay),
    )
    // Lets a Node process exit meanwhile: the spool has the signals.
    ;(pauseTimer as { unref?(): void }).unref?.()
  }

  function drop(error: unknown, { key, promptId, signal }: QueuedSignal): void {
    spool?.remove(key)
    onError(error, { key, promptId, signal })
  }

  const currentSize = () => pending.length + inFlight

  async function flush(): Promise<void> {
    const added = [...unsettled]
    const fromLastRun = (await leftovers) ?? []
    await Promise.all([...fromLastRun, ...added])
    await spool?.flush()
  }

  async function close(timeout = Number.POSITIVE_INFINITY): Promise<void> {
    clearTimeout(pauseTimer)
    const stop = () => {
      end.abort(new TimeoutError(timeout))
      sendPending()
    }
    // Timers fire at once for delays of 2^31 ms and more.
    const timer = timeout < 2 ** 31 ? setTimeout(stop, timeout) : undefined
    await flush()
    clearTimeout(timer)
    if (spool === undefined) for (const item of pending.splice(0)) drop(end.signal.reason, item)
    await spool?.close()
  }

  return {
    add(promptId, signal, { idempotencyKey = createIdempotencyKey() } = {}) {
      const item = { key: idempotencyKey, promptId, signal }
      try {
        // A copy, so that later changes by the caller have no effect.
        item.signal = JSON.parse(JSON.stringify(signal))
        if (closing !== undefined) throw new PromptledgerError('The queue is closed', { code: 'queue_closed' })
        if (currentSize() >= maxSize) {
          throw new PromptledgerError(`The queue is full: ${maxSize} signals are waiting`, { code: 'queue_full' })
        }
      } catch (error) {
        onError(error, item)
        return false
      }
      spool?.add(item)
      void enqueue(item)
      return true
    },

    get size() {
      return currentSize()
    },

    flush,

    close(options) {
      closing ??= close(options?.timeout)
      return closing
    },
  }
}

/** Over the monthly limit: until it resets, at most an hour, because a larger plan takes effect at once. */
function pauseMsAfter(error: unknown, defaultMs: number): number {
  if (!(error instanceof RateLimitedError)) return defaultMs
  return Math.min(Math.max(error.resetsAt.getTime() - Date.now(), 1_000), maxPauseMs)
}

/** Whether the signal may be accepted later as it is. */
function mayStillSucceed(error: unknown): boolean {
  if (isTransient(error) || error instanceof RateLimitedError) return true
  // The next start may come with a valid key or the right base URL.
  return (
    error instanceof UnauthorizedError || (error instanceof PromptledgerError && error.code === 'unexpected_response')
  )
}

function warn(error: unknown, dropped: QueuedSignal | null): void {
  console.warn(dropped === null ? 'Promptledger: the spool failed' : 'Promptledger: a signal was dropped', error)
}
