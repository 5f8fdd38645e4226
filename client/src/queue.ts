import { PromptledgerError, RateLimitedError, TimeoutError, UnauthorizedError } from './errors.ts'
import { newIdempotencyKey } from './idempotency-key.ts'
import { isPassing, type RequestOptions } from './request.ts'
import type { NewSignal } from './types.ts'

/** A signal on its way. Its key makes sure that it is counted once, however often and by whomever it is sent. */
export interface QueuedSignal {
  key: string
  promptId: string
  signal: NewSignal
}

/** Where signals are kept until they have arrived. `@promptledger/client/spool` has one in a file, for Node. */
export interface Spool {
  /** Gives what is left of the last time. Whatever fails later is told to `onError`; nothing else here ever fails. */
  open(onError: (error: unknown) => void): Promise<QueuedSignal[]>
  /** Keeps it from now on. */
  add(signal: QueuedSignal): void
  /** It has arrived, or was given up. */
  remove(key: string): void
  /** Resolves when all of that is safe. */
  written(): Promise<void>
  close(): Promise<void>
}

export interface SignalOptions extends RequestOptions {
  /** Calls with the same key, prompt and signal are counted once. Unless told, each call has a key of its own. */
  idempotencyKey?: string | undefined
}

export interface QueueOptions extends Pick<RequestOptions, 'timeout' | 'maxRetries' | 'headers' | 'fetch'> {
  /** How many signals may wait, 10,000 unless told. */
  size?: number | undefined
  /** How many are sent at the same time, 5 unless told. */
  concurrency?: number | undefined
  /** Hears of each signal that was given up, and of a spool that fails (without a signal). Unless told, a warning on the console. */
  onError?: ((error: unknown, lost: QueuedSignal | null) => void) | undefined
  /** Keeps what cannot be sent for now: offline, over the limit, at the end of the process. */
  spool?: Spool | undefined
  /** Milliseconds until what is kept is tried again, 30,000 unless told. Over the limit: until it resets, an hour at most. */
  pause?: number | undefined
}

export interface SignalQueue {
  /** Takes a signal to be sent in the background. Neither waits nor throws; false where it was given up at once. */
  add(promptId: string, signal: NewSignal, options?: Pick<SignalOptions, 'idempotencyKey'>): boolean
  /** How many are not stored yet. */
  readonly size: number
  /** Resolves when all that was added before is stored, given up, or safe in the spool for later. */
  flush(): Promise<void>
  /** The same, and takes no more. What is not done after `timeout` milliseconds stays in the spool, or is given up. */
  close(options?: { timeout?: number }): Promise<void>
}

interface Waiting extends QueuedSignal {
  settle(): void
}

type Create = (promptId: string, signal: NewSignal, options: SignalOptions) => Promise<unknown>

// Patience of about a minute: nobody waits.
const maxRetries = 10
const longestPause = 3_600_000

export function signalQueue(create: Create, options: QueueOptions = {}): SignalQueue {
  const { size = 10_000, concurrency = 5, onError = warn, pause = 30_000, spool: given, ...request } = options
  let spool = given
  const waiting: Waiting[] = []
  const settling = new Set<Promise<void>>()
  const end = new AbortController()
  let underWay = 0
  let isHeld = false
  let holdTimer: ReturnType<typeof setTimeout> | undefined
  let closing: Promise<void> | undefined

  const spoolFailed = (error: unknown) => onError(error, null)
  const opened = spool?.open(spoolFailed).then(
    (left) => left.map(enqueue),
    (error) => {
      spool = undefined
      spoolFailed(error)
      return []
    },
  )

  function enqueue(signal: QueuedSignal): Promise<void> {
    const settled = new Promise<void>((settle) => waiting.push({ ...signal, settle }))
    settling.add(settled)
    void settled.then(() => settling.delete(settled))
    proceed()
    return settled
  }

  function proceed(): void {
    if (isHeld || end.signal.aborted) {
      // Nobody need wait for these: they are as safe as they will be.
      for (const { settle } of waiting) settle()
      return
    }
    while (underWay < concurrency && waiting.length > 0) {
      underWay++
      // Fails only where onError does, and then as loudly as anything of the caller's own.
      void send(waiting.shift() as Waiting).finally(() => {
        underWay--
        proceed()
      })
    }
  }

  async function send(item: Waiting): Promise<void> {
    const { key, promptId, signal, settle } = item
    try {
      await create(promptId, signal, { maxRetries, ...request, idempotencyKey: key, signal: end.signal })
      spool?.remove(key)
    } catch (error) {
      if (spool !== undefined && isKept(error)) {
        waiting.unshift(item)
        hold(error)
      } else {
        giveUp(error, item)
      }
    } finally {
      settle()
    }
  }

  /** The others would fare no better: all wait. */
  function hold(error: unknown): void {
    if (isHeld) return
    isHeld = true
    if (closing !== undefined) return
    holdTimer = setTimeout(
      () => {
        isHeld = false
        proceed()
      },
      pauseAfter(error, pause),
    )
    // On Node the process may end meanwhile; the spool has them.
    ;(holdTimer as { unref?(): void }).unref?.()
  }

  function giveUp(error: unknown, { key, promptId, signal }: QueuedSignal): void {
    spool?.remove(key)
    onError(error, { key, promptId, signal })
  }

  const count = () => waiting.length + underWay

  async function flush(): Promise<void> {
    const added = [...settling]
    const left = (await opened) ?? []
    await Promise.all([...left, ...added])
    await spool?.written()
  }

  async function close(timeout = Number.POSITIVE_INFINITY): Promise<void> {
    clearTimeout(holdTimer)
    const stop = () => {
      end.abort(new TimeoutError(timeout))
      proceed()
    }
    const timer = timeout < 2 ** 31 ? setTimeout(stop, timeout) : undefined
    await flush()
    clearTimeout(timer)
    if (spool === undefined) for (const item of waiting.splice(0)) giveUp(end.signal.reason, item)
    await spool?.close()
  }

  return {
    add(promptId, signal, { idempotencyKey = newIdempotencyKey() } = {}) {
      const item = { key: idempotencyKey, promptId, signal }
      try {
        // As it is now, whatever becomes of it in the caller's hands.
        item.signal = JSON.parse(JSON.stringify(signal))
        if (closing !== undefined) throw new PromptledgerError('The queue is closed', { code: 'queue_closed' })
        if (count() >= size) throw new PromptledgerError(`${size} signals wait already`, { code: 'queue_full' })
      } catch (error) {
        onError(error, item)
        return false
      }
      spool?.add(item)
      void enqueue(item)
      return true
    },

    get size() {
      return count()
    },

    flush,

    close(options) {
      closing ??= close(options?.timeout)
      return closing
    },
  }
}

/** How long to leave the service alone. A larger plan counts at once, so it is worth a look before the limit resets. */
function pauseAfter(error: unknown, usual: number): number {
  if (!(error instanceof RateLimitedError)) return usual
  return Math.min(Math.max(error.resetsAt.getTime() - Date.now(), 1_000), longestPause)
}

/** Whether it may succeed some time later without anybody changing the signal. */
function isKept(error: unknown): boolean {
  if (isPassing(error) || error instanceof RateLimitedError) return true
  // A new key, a mended address: the next start may bring either.
  return (
    error instanceof UnauthorizedError || (error instanceof PromptledgerError && error.code === 'unexpected_answer')
  )
}

function warn(error: unknown, lost: QueuedSignal | null): void {
  console.warn(lost === null ? 'Promptledger: the spool failed' : 'Promptledger: a signal was lost', error)
}
