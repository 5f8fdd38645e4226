/** A map that forgets what was not used for longest, so that the weights of its values together stay below a limit. */
export interface BoundedMap<Value> {
  get(key: string): Value | undefined
  set(key: string, value: Value, weight?: number): void
}

export function createBoundedMap<Value>(maxWeight: number): BoundedMap<Value> {
  const entries = new Map<string, { value: Value; weight: number }>()
  let total = 0

  function remove(key: string): void {
    total -= entries.get(key)?.weight ?? 0
    entries.delete(key)
  }

  return {
    get(key) {
      const entry = entries.get(key)
      if (entry === undefined) return undefined
      // Entries are in the order of their last use.
      entries.delete(key)
      entries.set(key, entry)
      return entry.value
    },
    set(key, value, weight = 1) {
      remove(key)
      if (weight > maxWeight) return
      entries.set(key, { value, weight })
      total += weight
      for (const oldest of entries.keys()) {
        if (total <= maxWeight) break
        remove(oldest)
      }
    },
  }
}
