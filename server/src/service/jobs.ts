import { setTimeout as pause } from 'node:timers/promises'
import { createTurns, type TurnOptions, type Turns } from '../domain/turns.ts'

/** Work for organisations that runs a few at a time, such as requests to servers that they choose: see `Turns`. */
export interface Jobs extends Pick<Turns, 'order' | 'hasRoom' | 'running'> {
  /** Runs the work without waiting for it. It must end soon after the signal, and handle its errors. */
  start(organisationId: number, work: (signal: AbortSignal) => Promise<void>): void
  /** Resolves when none is running. */
  idle(): Promise<void>
  /** The same, but after `timeoutMs` at the latest. */
  settle(timeoutMs: number): Promise<void>
  /** Tells all to end, and waits for them. */
  stop(timeoutMs: number): Promise<void>
}

export interface JobOptions extends Omit<TurnOptions, 'maxMs'> {
  /** When the signal tells a job to end. */
  limitMs: number
  /** Called when a job has ended, so that another may start. */
  onEnd?: (() => void) | undefined
}

export function createJobs({ limitMs, onEnd, ...options }: JobOptions): Jobs {
  const turns = createTurns(options)
  const jobs = new Map<Promise<void>, AbortController>()

  async function idle(): Promise<void> {
    while (jobs.size > 0) await Promise.all(jobs.keys())
  }

  async function settle(timeoutMs: number): Promise<void> {
    await Promise.race([idle(), pause(timeoutMs, undefined, { ref: false })])
  }

  return {
    order: turns.order,
    hasRoom: turns.hasRoom,
    running: turns.running,
    start(organisationId, work) {
      const turn = turns.start(organisationId)
      const ending = new AbortController()
      const timer = setTimeout(() => ending.abort(), limitMs).unref()
      const job: Promise<void> = work(ending.signal).finally(() => {
        clearTimeout(timer)
        turns.end(turn)
        jobs.delete(job)
        onEnd?.()
      })
      jobs.set(job, ending)
    },
    idle,
    settle,
    stop(timeoutMs) {
      for (const ending of jobs.values()) ending.abort()
      return settle(timeoutMs)
    },
  }
}

/** Resolves with the value when the signal tells to end. */
export function whenAborted<T>(signal: AbortSignal, value: T): Promise<T> {
  const { promise, resolve } = Promise.withResolvers<T>()
  if (signal.aborted) resolve(value)
  signal.addEventListener('abort', () => resolve(value), { once: true })
  return promise
}
