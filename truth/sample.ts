import { hash } from 'node:crypto'

/** Keeps `size` of the items that are added: always the same ones for the same keys, spread evenly. */
export function createSample<Item>(size: number) {
  let kept: { rank: string; item: Item }[] = []
  const cut = () => {
    kept = kept.sort((a, b) => (a.rank < b.rank ? -1 : 1)).slice(0, size)
  }
  return {
    add(key: string, item: Item): void {
      kept.push({ rank: hash('sha1', key, 'hex'), item })
      // Sorted only now and then, which bounds both memory and time.
      if (kept.length >= 4 * size + 100) cut()
    },
    items(): Item[] {
      cut()
      return kept.map(({ item }) => item)
    },
  }
}
