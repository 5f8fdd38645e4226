import type { Logger } from 'pino'

/** A part of a loop's work. */
interface Task {
  /** How often it runs at most. Without it, in every round. */
  everyMs?: number
  /** Returns `again` to run once more at once, before the loop rests. Long work asks whether the loop has been stopped. */
  run(isStopped: () => boolean): Promise<unknown>
}

export interface LoopOptions {
  tasks: readonly Task[]
  /** How long it rests between rounds, and before the first. */
  restMs: number
  firstRestMs?: number
  /** How much longer than the round it rests at least, so that requests come first. */
  restFactor?: number
  maxRestMs?: number
  log: Pick<Logger, 'warn'>
  /** What to log if a task fails. The tasks after it wait for the next round. */
  failure: string
}

/** Work in the background: its tasks run one after the other, round after round. */
export interface Loop {
  /** Starts the next round now, or as soon as the current one has ended. */
  wake(): void
  /** Resolves when the round in progress has ended. */
  stop(): Promise<void>
}

export function startLoop({
  tasks,
  restMs,
  firstRestMs = restMs,
  restFactor = 0,
  maxRestMs = Number.POSITIVE_INFINITY,
  log,
  failure,
}: LoopOptions): Loop {
  const lastAt = new Map<Task, number>()
  let isStopped = false
  let isWoken = false
  let endRest = () => {}

  function wake(): void {
    isWoken = true
    endRest()
  }

  async function rest(ms: number): Promise<void> {
    if (!isWoken) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, ms).unref()
      endRest = resolve
      await promise
      clearTimeout(timer)
    }
    isWoken = false
  }

  async function round(): Promise<void> {
    for (const task of tasks) {
      if (isStopped) return
      const now = performance.now()
      if (now - (lastAt.get(task) ?? Number.NEGATIVE_INFINITY) < (task.everyMs ?? 0)) continue
      lastAt.set(task, now)
      if ((await task.run(() => isStopped)) !== 'again') continue
      lastAt.delete(task)
      wake()
    }
  }

  async function run(): Promise<void> {
    await rest(firstRestMs)
    while (!isStopped) {
      const startedAt = performance.now()
      try {
        await round()
      } catch (error) {
        log.warn({ err: error }, failure)
        // What failed must not fail again at once.
        isWoken = isStopped
      }
      await rest(Math.min(maxRestMs, Math.max(restMs, restFactor * (performance.now() - startedAt))))
    }
  }

  const running = run()
  return {
    wake,
    async stop() {
      isStopped = true
      wake()
      await running
    },
  }
}
