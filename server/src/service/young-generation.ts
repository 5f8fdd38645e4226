import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

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
