/**
 * Answers many calls with few acts, as databases do in a group commit: while one act is under way the next group
 * collects. There is no timer, so a lone call waits for nobody.
 */
export function inGroups<Item, Result>(
  act: (items: Item[]) => Promise<Result[]>,
  largest = 1_000,
): { join: (item: Item) => Promise<Result>; idle: () => Promise<void> } {
  interface Waiting {
    item: Item
    resolve: (result: Result) => void
    reject: (error: unknown) => void
  }
  let waiting: Waiting[] = []
  let running: Promise<void> | null = null

  async function run(): Promise<void> {
    // Lets everything that has already reached this process join the first group.
    await new Promise((resolve) => setImmediate(resolve))
    while (waiting.length > 0) {
      const group = waiting.length > largest ? waiting.splice(0, largest) : waiting
      if (group === waiting) waiting = []
      try {
        const results = await act(group.map(({ item }) => item))
        for (const [i, { resolve }] of group.entries()) resolve(results[i] as Result)
      } catch (error) {
        for (const { reject } of group) reject(error)
      }
    }
    running = null
  }

  return {
    join(item) {
      return new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject })
        running ??= run()
      })
    },
    async idle() {
      await running
    },
  }
}
