/** A call that is repeated while one with the same key is running gets the result of that one. */
export function createSharedCalls<Key, Result>(): (key: Key, call: () => Promise<Result>) => Promise<Result> {
  const running = new Map<Key, Promise<Result>>()
  return (key, call) => {
    const shared = running.get(key) ?? call().finally(() => running.delete(key))
    running.set(key, shared)
    return shared
  }
}
