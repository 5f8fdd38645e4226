import { setImmediate as nextTurn } from 'node:timers/promises'
import { synchronousPart } from './fair-queue.ts'

export const sliceMs = 2

/** Returns a function that starts what it is given, one after the other, in slices of 2 ms with a rest after each. */
export function createSlices(rest: () => Promise<unknown>): (start: () => void) => void {
  const ready: (() => void)[] = []
  let isStarting = false

  async function startReady(): Promise<void> {
    isStarting = true
    await nextTurn()
    let sliceStart = performance.now()
    for (let start = ready.shift(); start !== undefined; start = ready.shift()) {
      start()
      await synchronousPart()
      if (performance.now() - sliceStart < sliceMs) continue
      await rest()
      sliceStart = performance.now()
    }
    isStarting = false
  }

  return (start) => {
    ready.push(start)
    if (!isStarting) void startReady()
  }
}
