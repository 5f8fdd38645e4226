/** What a run draws by chance, from its seed. */
export interface Chance {
  /** Whether something of this probability happens. */
  happens(probability: number): boolean
  /** A whole number from the least to the most. */
  between(least: number, most: number): number
  one<Item>(items: readonly Item[]): Item
  /** One of them, as often as its weight says. */
  weighted<Item extends { weight: number }>(items: readonly Item[]): Item
}

export function newChance(random: () => number): Chance {
  return {
    happens: (probability) => random() < probability,
    between: (least, most) => least + Math.floor(random() * (most - least + 1)),
    one: <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)] as Item,
    weighted(items) {
      let left = random() * items.reduce((sum, { weight }) => sum + weight, 0)
      for (const item of items) {
        left -= item.weight
        if (left < 0) return item
      }
      return items.at(-1) as (typeof items)[number]
    },
  }
}
