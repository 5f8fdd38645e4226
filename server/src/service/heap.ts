import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Keeps the part of the heap for short-lived objects from growing beyond `maxBytes`: V8 doubles it under load, up to 128 MB, and rarely
 * returns it. `--max-semi-space-size` does the same, but only where node is started with it, and the command of the package is not.
 * V8 reads the factor with each collection, so it applies however the process was started.
 */
export function limitYoungGeneration(maxBytes: number): void {
  let factor = 2
  const observer = new PerformanceObserver(() => {
    const space = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')
    const wanted = space !== undefined && space.space_size > maxBytes / 2 ? 1 : 2
    if (wanted === factor) return
    factor = wanted
    setFlagsFromString(`--semi-space-growth-factor=${factor}`)
  })
  observer.observe({ entryTypes: ['gc'] })
}

interface Limits {
  /** Less memory than this is kept. */
  keptBytes: number
  /** What a burst adds. */
  burstBytes: number
  intervalMs: number
}

// A collection interrupts the service, so a busy one is left alone: V8 collects what its next requests replace.
const maxUtilization = 0.2
// Without a burst, a process that needs so much is interrupted after so many checks, and less and less often if that was no use.
const [minWait, maxWait] = [8, 64]

/**
 * Gives back what a burst leaves behind. V8 collects old objects and buffers when more are allocated, so that after a burst 100 MB of
 * garbage stay for as long as there is little to do, and the next burst adds to them.
 */
export function returnGarbage({ keptBytes, burstBytes, intervalMs }: Limits): void {
  let lastLoop = performance.eventLoopUtilization()
  let [settledBytes, wait, left] = [0, minWait, 0]
  let collectedAtBytes: number | null = null
  const check = () => {
    const usedBytes = process.memoryUsage.rss()
    const loop = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(loop, lastLoop)
    lastLoop = loop
    left--
    // V8 frees memory after a collection, in other threads: only now it is known how much that was.
    if (collectedAtBytes !== null) {
      wait = collectedAtBytes - usedBytes >= burstBytes ? minWait : Math.min(wait * 2, maxWait)
      left = wait
      settledBytes = usedBytes
      collectedAtBytes = null
    }
    settledBytes = Math.min(settledBytes, usedBytes)
    const isDue = left <= 0 || usedBytes >= settledBytes + burstBytes
    if (usedBytes <= keptBytes || utilization > maxUtilization || !isDue) return
    collectedAtBytes = usedBytes
    collectGarbage()
  }
  setInterval(check, intervalMs).unref()
}

let collect: ((options: object) => void) | null = null

function collectGarbage(): void {
  if (collect === null) {
    // As `--expose-gc`, however the process was started.
    setFlagsFromString('--expose-gc')
    collect = runInNewContext('gc') as typeof collect
  }
  // Otherwise V8 keeps the pages of what it has collected, half as much again, until there is nothing to do.
  collect?.({ type: 'major', flavor: 'last-resort' })
}
