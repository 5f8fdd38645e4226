import { setImmediate as nextTurn } from 'node:timers/promises'
import { synchronousPart } from './fair-queue.ts'

interface Slices {
  /** Starts it when its turn has come. */
  start(run: () => void): void
  /** One of those that were started has ended. Only needed with a limit. */
  end(): void
}

export const sliceMs = 2

/** Starts work in order, in slices of 2 ms with a rest after each, and up to `maxRunning` at the same time. */
export function createSlices(rest: () => Promise<unknown>, maxRunning = Number.POSITIVE_INFINITY): Slices {
  const ready: (() => void)[] = []
  let isStarting = false
  let running = 0

  const next = () => (running < maxRunning ? ready.shift() : undefined)

  async function startReady(): Promise<void> {
    isStarting = true
    await nextTurn()
    let sliceStart = performance.now()
    for (let run = next(); run !== undefined; run = next()) {
      running++
      run()
      await synchronousPart()
      if (performance.now() - sliceStart < sliceMs) continue
      await rest()
      sliceStart = performance.now()
    }
    isStarting = false
  }

  function wake(): void {
    if (!isStarting && ready.length > 0) void startReady()
  }

  return {
    start(run) {
      ready.push(run)
      wake()
    },
    end() {
      running--
      wake()
    },
  }
}
