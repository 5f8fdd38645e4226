import type { QueueStats } from '../domain/store.ts'

export interface GroupCommit<Item, Result> extends QueueStats {
  /** Resolves with the item's own result once its batch is committed. */
  submit(item: Item): Promise<Result>
  /** Resolves once nothing is waiting or in flight. */
  idle(): Promise<void>
}

export type OnBatch<Result> = (results: Result[], milliseconds: number) => void

export interface GroupCommitOptions<Result> {
  /** How many of the waiting items to commit at once. All of them by default, up to `maxBatchSize`. */
  batchSize?: (waiting: number) => number
  onBatch?: OnBatch<Result> | undefined
}

// Larger batches would save little more and block the event loop for longer.
const maxBatchSize = 256
// A steady trickle of calls must not keep the first of them waiting until the batch is full.
const maxCollectingMs = 2

/**
 * Commits many calls in few batches, like a database's group commit: while one batch is in flight, the next one collects. There
 * is no timer, so a single call is never delayed.
 *
 * A commit that keeps this process busy should take all waiting items. One that runs elsewhere can take a part of them with
 * `batchSize`, which leaves this process something to do in the meantime.
 */
export function groupCommit<Item, Result>(
  commit: (items: Item[]) => Promise<Result[]>,
  { batchSize = (waiting) => waiting, onBatch }: GroupCommitOptions<Result> = {},
): GroupCommit<Item, Result> {
  interface Call {
    item: Item
    resolve: (result: Result) => void
    reject: (error: unknown) => void
  }
  let waiting: Call[] = []
  let running: Promise<void> | null = null
  // The start of the first batch after the last success.
  let stalledSince: number | null = null

  async function run(): Promise<void> {
    while (waiting.length > 0) {
      await arrivals()
      const batch = waiting.slice(0, Math.min(batchSize(waiting.length), maxBatchSize))
      waiting = waiting.slice(batch.length)
      const start = performance.now()
      stalledSince ??= start
      try {
        const results = await commit(batch.map(({ item }) => item))
        stalledSince = null
        onBatch?.(results, performance.now() - start)
        for (const [i, { resolve }] of batch.entries()) resolve(results[i] as Result)
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    running = null
  }

  /**
   * Lets all calls that have already reached this process join the batch, as long as each turn of the event loop brings more.
   * Besides saving commits, this runs requests through the same code back to back, which makes each about 20% faster: see
   * docs/performance.md.
   */
  async function arrivals(): Promise<void> {
    const deadline = performance.now() + maxCollectingMs
    let before: number
    do {
      before = waiting.length
      await new Promise((resolve) => setImmediate(resolve))
    } while (waiting.length > before && waiting.length < maxBatchSize && performance.now() < deadline)
  }

  return {
    submit(item) {
      return new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject })
        running ??= run()
      })
    },
    waiting: () => waiting.length,
    stalledForMs: () => (running === null || stalledSince === null ? 0 : performance.now() - stalledSince),
    async idle() {
      await running
    },
  }
}
