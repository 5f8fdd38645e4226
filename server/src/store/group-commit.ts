import type { QueueStats } from '../domain/store.ts'

export interface GroupCommit<Item, Result> extends QueueStats {
  /** Resolves with the item's own result once its group's act is done. */
  submit(item: Item): Promise<Result>
  /** Resolves once nothing is under way. */
  idle(): Promise<void>
}

export type OnBatch<Result> = (results: Result[], milliseconds: number) => void

export interface GroupCommitOptions<Result> {
  batchSize?: (waiting: number) => number
  onBatch?: OnBatch<Result> | undefined
}

// More at once would save little more, and keep everybody else waiting for a turn of the event loop.
const largest = 256

/**
 * Answers many calls with few acts, as databases do in a group commit: while one act is under way the next group
 * collects. There is no timer, so a lone call waits for nobody.
 *
 * `share` says how many of those waiting go at once. An act that keeps this process busy takes all of them; one that is
 * done elsewhere takes a part, so that there is something to do here meanwhile. `onAct` is told of each act.
 */
export function groupCommit<Item, Result>(
  act: (items: Item[]) => Promise<Result[]>,
  { batchSize: share = (waiting) => waiting, onBatch: onAct }: GroupCommitOptions<Result> = {},
): GroupCommit<Item, Result> {
  interface Call {
    item: Item
    resolve: (result: Result) => void
    reject: (error: unknown) => void
  }
  let waiting: Call[] = []
  let running: Promise<void> | null = null
  // When the first act began that no answer has come from since.
  let unansweredSince: number | null = null

  async function run(): Promise<void> {
    while (waiting.length > 0) {
      await arrivals()
      const group = waiting.slice(0, Math.min(share(waiting.length), largest))
      waiting = waiting.slice(group.length)
      const start = performance.now()
      unansweredSince ??= start
      try {
        const results = await act(group.map(({ item }) => item))
        unansweredSince = null
        onAct?.(results, performance.now() - start)
        for (const [i, { resolve }] of group.entries()) resolve(results[i] as Result)
      } catch (error) {
        for (const { reject } of group) reject(error)
      }
    }
    running = null
  }

  /**
   * Lets everything that has already reached this process join, for as long as each turn of the event loop brings more.
   * Besides fewer acts this makes requests go through the same code one right after the other, which is worth a fifth of
   * the time that each takes: see docs/performance.md.
   */
  async function arrivals(): Promise<void> {
    let before: number
    do {
      before = waiting.length
      await new Promise((resolve) => setImmediate(resolve))
    } while (waiting.length > before && waiting.length < largest)
  }

  return {
    submit(item) {
      return new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject })
        running ??= run()
      })
    },
    waiting: () => waiting.length,
    stalledForMs: () => (running === null || unansweredSince === null ? 0 : performance.now() - unansweredSince),
    async idle() {
      await running
    },
  }
}
