import { TimeoutError } from './errors.ts'

export interface Deadline {
  /** Aborts at the deadline or when the caller aborts. */
  signal: AbortSignal
  /** Starts the full timeout again. */
  restart(): void
  pause(): void
  /** Removes the timer and the listener on the caller's signal. */
  end(): void
}

/** Not `AbortSignal.any`: a long-lived caller's signal would accumulate every signal derived from it. */
export function startDeadline(timeoutMs: number, caller: AbortSignal | undefined): Deadline {
  const controller = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const abort = () => controller.abort(caller?.reason)
  const pause = () => clearTimeout(timer)
  const restart = () => {
    pause()
    // Timers fire at once for delays of 2^31 ms and more.
    if (timeoutMs < 2 ** 31) timer = setTimeout(() => controller.abort(new TimeoutError(timeoutMs)), timeoutMs)
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
