import type { VoteStore } from '../../signals/votes.ts'

interface Remembered<Counted> {
  votes: number
  counted: Counted
}

// While a window grows by less than this, what was counted of it hardly changes.
const maxGrowth = 0.005
const maxRemembered = 10_000

/**
 * Remembers what was counted of windows, by the store that they were read from. A window that no longer grows is counted once, and
 * one that does whenever it has grown by 0.5%.
 */
export function createWindowMemory<Counted>() {
  const byStore = new WeakMap<object, Map<string, Remembered<Counted>>>()

  return {
    recall(store: VoteStore, key: string, votes: number): Counted | null {
      const found = byStore.get(store)?.get(key)
      return found !== undefined && Math.abs(found.votes - votes) <= maxGrowth * found.votes ? found.counted : null
    },

    remember(store: VoteStore, key: string, votes: number, counted: Counted): void {
      const memory = byStore.get(store) ?? new Map<string, Remembered<Counted>>()
      byStore.set(store, memory)
      memory.delete(key)
      memory.set(key, { votes, counted })
      const [oldest] = memory.keys()
      if (memory.size > maxRemembered && oldest !== undefined) memory.delete(oldest)
    },
  }
}
