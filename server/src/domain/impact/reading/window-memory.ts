import { createBoundedMap } from '../../bounded-map.ts'
import type { VoteStore } from '../../signals/votes.ts'
import { derivedFrom } from '../cache.ts'

// While a window grows by less than this, what was counted of it hardly changes.
const maxGrowth = 0.005
const maxRemembered = 10_000

/**
 * Remembers what was counted of windows, by the store that they were read from. A window that no longer grows is counted once, and
 * one that does whenever it has grown by 0.5%.
 */
export function createWindowMemory<Counted>() {
  const newMemory = () => createBoundedMap<{ votes: number; counted: Counted }>(maxRemembered)
  return {
    recall(store: VoteStore, key: string, votes: number): Counted | null {
      const found = derivedFrom(store, newMemory).get(key)
      return found !== undefined && Math.abs(found.votes - votes) <= maxGrowth * found.votes ? found.counted : null
    },
    remember(store: VoteStore, key: string, votes: number, counted: Counted): void {
      derivedFrom(store, newMemory).set(key, { votes, counted })
    },
  }
}
