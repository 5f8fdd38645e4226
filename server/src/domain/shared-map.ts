/**
 * A map of limited weight that several owners share. An owner that exceeds its own limit loses what it has not used for longest, and if
 * all of them exceed theirs together, the one with the most does: those with little keep it.
 */
interface SharedMap<Value> {
  get(owner: number, key: string): Value | undefined
  set(owner: number, key: string, value: Value, weight?: number): void
  delete(owner: number, key: string): void
}

interface Owned<Value> {
  /** In the order of their last use. */
  entries: Map<string, { value: Value; weight: number }>
  weight: number
}

export function createSharedMap<Value>(maxWeight: number, maxWeightOfOwner: number): SharedMap<Value> {
  const owners = new Map<number, Owned<Value>>()
  let total = 0

  function remove(owner: number, key: string): void {
    const owned = owners.get(owner)
    const weight = owned?.entries.get(key)?.weight
    if (owned === undefined || weight === undefined) return
    owned.entries.delete(key)
    owned.weight -= weight
    total -= weight
    if (owned.entries.size === 0) owners.delete(owner)
  }

  function removeOldest(owner: number): void {
    remove(owner, owners.get(owner)?.entries.keys().next().value as string)
  }

  function heaviest(): number {
    let found: [owner: number, weight: number] = [0, -1]
    for (const [owner, { weight }] of owners) if (weight > found[1]) found = [owner, weight]
    return found[0]
  }

  return {
    delete: remove,
    get(owner, key) {
      const entries = owners.get(owner)?.entries
      const entry = entries?.get(key)
      if (entry === undefined) return undefined
      entries?.delete(key)
      entries?.set(key, entry)
      return entry.value
    },
    set(owner, key, value, weight = 1) {
      remove(owner, key)
      if (weight > maxWeightOfOwner) return
      const owned = owners.get(owner) ?? { entries: new Map(), weight: 0 }
      owners.set(owner, owned)
      owned.entries.set(key, { value, weight })
      owned.weight += weight
      total += weight
      while (owned.weight > maxWeightOfOwner) removeOldest(owner)
      while (total > maxWeight) removeOldest(heaviest())
    },
  }
}
