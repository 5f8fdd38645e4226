import type { SignalResult } from './batch.ts'
import { PromptledgerError, RateLimitedError, TimeoutError, UnauthorizedError } from './errors.ts'
import { createIdempotencyKey } from './idempotency-key.ts'
import { type PromptText, signalOn } from './prompt-text.ts'
import type { RequestOptions } from './request.ts'
import { isTransient } from './retry.ts'
import type { BatchSignal, NewSignal } from './types.ts'

/** A signal that waits to be sent. Its key is the idempotency key: the signal counts once, however often it is sent. */
export interface QueuedSignal {
  key: string
  promptId: string
  signal: NewSignal
  traceparent?: string
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
  /** The trace of the output, as in the header of the same name (W3C Trace Context). */
  traceparent?: string | undefined
}

export type QueuedOptions = Pick<SignalOptions, 'idempotencyKey' | 'traceparent'>

export interface QueueOptions extends Pick<RequestOptions, 'timeout' | 'maxRetries' | 'headers' | 'fetch'> {
  /** How many signals the queue holds at most. Defaults to 10,000. */
  maxSize?: number | undefined
  /** How many requests are in flight at a time. Defaults to 5. */
  concurrency?: number | undefined
  /** Called with each dropped signal, and with null when the spool fails. Defaults to a warning on the console. */
  onError?: ((error: unknown, dropped: QueuedSignal | null) => void) | undefined
  /** Holds signals that cannot be sent now: while offline, over the monthly limit, or when the process ends. */
  spool?: Spool | undefined
  /** Milliseconds until the queue sends spooled signals again, also over the monthly limit. Defaults to 30,000. */
  retryDelay?: number | undefined
}

export interface SignalQueue {
  /** Queues a signal to be sent in the background. Never waits and never throws. Returns false if it drops the signal. */
  add(prompt: string | PromptText, signal: NewSignal, options?: QueuedOptions): boolean
  /** How many signals are not recorded yet. */
  readonly size: number
  /**
   * Resolves when every signal added before is recorded, dropped, or in the spool until it can be sent. Before it waits
   * for the service, all of them are in the spool.
   */
  flush(): Promise<void>
  /** Flushes and accepts no more signals. After `timeout` ms the rest stays in the spool, or is dropped without one. */
  close(options?: { timeout?: number }): Promise<void>
}

interface PendingSignal extends QueuedSignal {
  /** Length of its JSON text. */
  length: number
  isAlone: boolean
  settle(): void
}

/** For a signal of a batch that failed: in a request of its own it is recorded, retried, or gets its own error. */
const sendAlone = Symbol('send alone')

interface SignalSender {
  create(promptId: string, signal: NewSignal, options: SignalOptions): Promise<unknown>
  createMany(signals: BatchSignal[], options: RequestOptions): Promise<SignalResult[]>
}

// About a minute of retries: no caller waits for a queued signal.
const defaultMaxRetries = 10
// Timers fire at once for longer delays.
const maxTimerMs = 2 ** 31 - 1
const maxBatchSize = 500
// In UTF-16 code units. In a request, one takes up to three bytes.
const maxBatchLength = 250_000

export function createSignalQueue(sender: SignalSender, options: QueueOptions = {}): SignalQueue {
  const { maxSize = 10_000, concurrency = 5, onError = warn, retryDelay = 30_000 } = options
  const { timeout, maxRetries = defaultMaxRetries, headers, fetch } = options
  let { spool } = options
  let pending: PendingSignal[] = []
  let size = 0
  const unsettled = new Set<Promise<void>>()
  const end = new AbortController()
  const request = { timeout, maxRetries, headers, fetch, signal: end.signal }
  let requestsInFlight = 0
  const subjectsInFlight = new Set<string>()
  let isOpen = spool === undefined
  let isScheduled = false
  let isPaused = false
  let canBatch = true
  let pauseTimer: ReturnType<typeof setTimeout> | undefined
  let closing: Promise<void> | undefined

  const onSpoolError = (error: unknown) => onError(error, null)
  const leftovers = spool
    ?.open(onSpoolError)
    .catch((error) => {
      spool = undefined
      onSpoolError(error)
      return []
    })
    .then((signals) => {
      // Votes of the last run are older than those added meanwhile, and must not replace them.
      const added = pending
      pending = []
      const settled = signals.map(enqueue)
      pending = pending.concat(added)
      isOpen = true
      sendPending()
      return settled
    })

  function enqueue(signal: QueuedSignal): Promise<void> {
    const { length } = JSON.stringify(signal)
    const settled = new Promise<void>((settle) => pending.push({ ...signal, length, isAlone: false, settle }))
    size++
    unsettled.add(settled)
    void settled.then(() => unsettled.delete(settled))
    return settled
  }

  /** Not at once, so that signals added together share a request. */
  function scheduleSending(): void {
    if (isScheduled) return
    isScheduled = true
    queueMicrotask(() => {
      isScheduled = false
      sendPending()
    })
  }

  function sendPending(): void {
    if (!isOpen) return
    if (isPaused || end.signal.aborted) {
      // flush() must not wait for signals that only the spool can hold now.
      for (const { settle } of pending) settle()
      return
    }
    while (requestsInFlight < concurrency) {
      const batch = takeBatch()
      if (batch.length === 0) return
      requestsInFlight++
      // Rejects only if onError throws, which then surfaces as an unhandled rejection.
      void send(batch).finally(() => {
        requestsInFlight--
        for (const { signal } of batch) subjectsInFlight.delete(signal.subject as string)
        sendPending()
      })
    }
  }

  /** The signals of the next request. A vote waits while an earlier one on its subject is in flight. */
  function takeBatch(): PendingSignal[] {
    const batch: PendingSignal[] = []
    const waiting: PendingSignal[] = []
    let maxCount = canBatch ? maxBatchSize : 1
    let length = 0
    let index = 0
    for (; index < pending.length && batch.length < maxCount; index++) {
      const item = pending[index] as PendingSignal
      const { subject } = item.signal
      if (subject != null && subjectsInFlight.has(subject)) {
        waiting.push(item)
        continue
      }
      length += item.length
      // Not past it: a signal behind it that still fits could be a later vote on its subject.
      if (batch.length > 0 && (item.isAlone || length > maxBatchLength)) break
      if (item.isAlone) maxCount = 1
      if (subject != null) subjectsInFlight.add(subject)
      batch.push(item)
    }
    pending = waiting.concat(pending.slice(index))
    return batch
  }

  async function send(batch: PendingSignal[]): Promise<void> {
    const errors = await sendRequest(batch)
    const kept: PendingSignal[] = []
    // One by one, so that an onError that throws affects no other signal.
    const done = batch.map(async (item, index) => {
      const error = errors[index]
      if (error === sendAlone) {
        item.isAlone = true
        return kept.push(item)
      }
      item.settle()
      if (error === null) return remove(item)
      if (spool === undefined || !mayStillSucceed(error)) return drop(error, item)
      pause()
      return kept.push(item)
    })
    pending = kept.concat(pending)
    await Promise.all(done)
  }

  /** Resolves with the error of each signal, with null for one that is recorded, or with `sendAlone`. */
  async function sendRequest(batch: PendingSignal[]): Promise<unknown[]> {
    try {
      if (batch.length > 1) {
        const results = await sender.createMany(batch.map(bodyOf), request)
        return results.map(({ error }) => (isTransient(error) ? sendAlone : error))
      }
      const item = batch[0] as PendingSignal
      const { key: idempotencyKey, promptId, traceparent } = item
      await sender.create(promptId, bodyOf(item), { ...request, idempotencyKey, traceparent })
      return [null]
    } catch (error) {
      if (batch.length === 1 || !isRejection(error)) return batch.map(() => error)
      // An older service, or a gateway that does not know the endpoint.
      if (error.status === 404) canBatch = false
      return batch.map(() => sendAlone)
    }
  }

  /** Stops sending, since the other signals would fail for the same reason. */
  function pause(): void {
    if (isPaused) return
    isPaused = true
    if (closing !== undefined) return
    pauseTimer = setTimeout(
      () => {
        isPaused = false
        canBatch = true
        sendPending()
      },
      Math.min(retryDelay, maxTimerMs),
    )
    // Lets a Node process exit meanwhile: the spool has the signals.
    ;(pauseTimer as { unref?(): void }).unref?.()
  }

  function remove({ key }: QueuedSignal): void {
    size--
    spool?.remove(key)
  }

  function drop(error: unknown, item: QueuedSignal): void {
    remove(item)
    const { length, isAlone, settle, ...signal } = item as PendingSignal
    onError(error, signal)
  }

  async function flush(): Promise<void> {
    const added = [...unsettled]
    const fromLastRun = (await leftovers) ?? []
    // First, because the service may take minutes to fail.
    await spool?.flush()
    await Promise.all([...fromLastRun, ...added])
  }

  async function close(timeout = Number.POSITIVE_INFINITY): Promise<void> {
    clearTimeout(pauseTimer)
    const stop = () => {
      end.abort(new TimeoutError(timeout))
      sendPending()
    }
    const timer = timeout <= maxTimerMs ? setTimeout(stop, timeout) : undefined
    await flush()
    clearTimeout(timer)
    if (spool === undefined) for (const item of pending.splice(0)) drop(end.signal.reason, item)
    await spool?.close()
  }

  return {
    add(prompt, given, { idempotencyKey = createIdempotencyKey(), traceparent } = {}) {
      const { promptId, signal } = signalOn(prompt, given)
      const item = { key: idempotencyKey, promptId, signal, ...(traceparent && { traceparent }) }
      try {
        // A copy, so that later changes by the caller have no effect.
        item.signal = JSON.parse(JSON.stringify(signal))
        if (closing !== undefined) throw new PromptledgerError('The queue is closed', { code: 'queue_closed' })
        if (size >= maxSize) {
          throw new PromptledgerError(`The queue is full: ${maxSize} signals are waiting`, { code: 'queue_full' })
        }
      } catch (error) {
        onError(error, item)
        return false
      }
      spool?.add(item)
      void enqueue(item)
      scheduleSending()
      return true
    },

    get size() {
      return size
    },

    flush,

    close(options) {
      closing ??= close(options?.timeout)
      return closing
    },
  }
}

/** The same in a batch and alone, because an idempotency key belongs to one text. */
function bodyOf({ key, promptId, signal, traceparent }: QueuedSignal): BatchSignal {
  return { ...signal, prompt: promptId, idempotency_key: key, ...(traceparent && { traceparent }) }
}

/** Whether the service or a gateway rejected a request as such, so that other requests with the same signals may succeed. */
function isRejection(error: unknown): error is PromptledgerError {
  if (error instanceof UnauthorizedError || error instanceof RateLimitedError) return false
  return error instanceof PromptledgerError && error.status !== null && error.status >= 400 && error.status < 500
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
