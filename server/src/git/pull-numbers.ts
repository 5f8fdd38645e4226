/** Which pull requests share something, such as the same head. Any number of them can: a hostile repository decides. */
export interface PullNumbers {
  has(key: string): boolean
  /** In ascending order. */
  of(key: string): readonly number[]
}

/** Sorts each list once, in `finish`: sorting with every number would take minutes for 30,000 with the same key. */
export function collectPullNumbers() {
  // A number, or a list for the few keys that several pull requests share.
  const found = new Map<string, number | number[]>()
  return {
    add(key: string, number: number): void {
      const others = found.get(key)
      if (typeof others === 'object') others.push(number)
      else found.set(key, others === undefined ? number : [others, number])
    },
    finish(): PullNumbers {
      for (const numbers of found.values()) if (typeof numbers === 'object') numbers.sort((a, b) => a - b)
      return {
        has: (key) => found.has(key),
        of(key) {
          const numbers = found.get(key) ?? []
          return typeof numbers === 'object' ? numbers : [numbers]
        },
      }
    },
  }
}
