const cacheBytes = 16 * 1024 * 1024
/** A larger result is not cached: it would replace all others. */
export const largeBytes = cacheBytes / 2

/** Requests with the same key share one read, and complete results are cached. */
export function createSharedReads<Value>(isComplete: (value: Value) => boolean, bytesOf: (value: Value) => number) {
  const cache = createCache(bytesOf)
  const reading = new Map<string, Promise<Value>>()

  async function readAndCache(key: string, read: () => Promise<Value>): Promise<Value> {
    const value = await read()
    if (isComplete(value)) cache.set(key, value)
    return value
  }

  return async (key: string, read: () => Promise<Value>): Promise<Value> => {
    const cached = cache.get(key)
    if (cached !== undefined) return cached
    const shared = reading.get(key) ?? readAndCache(key, read).finally(() => reading.delete(key))
    reading.set(key, shared)
    return shared
  }
}

/** Drops the least recently used results when they exceed 16 MiB. */
function createCache<Value>(bytesOf: (value: Value) => number) {
  const results = new Map<string, Value>()
  let bytes = 0
  return {
    get(key: string): Value | undefined {
      const value = results.get(key)
      if (value === undefined) return undefined
      results.delete(key)
      results.set(key, value)
      return value
    },
    set(key: string, value: Value): void {
      if (bytesOf(value) > largeBytes) return
      results.set(key, value)
      bytes += key.length + bytesOf(value)
      for (const [oldest, dropped] of results) {
        if (bytes <= cacheBytes) break
        results.delete(oldest)
        bytes -= oldest.length + bytesOf(dropped)
      }
    },
  }
}
