import { createBoundedMap } from '../../domain/bounded-map.ts'
import { type GroupCommit, type GroupCommitOptions, groupCommit } from '../group-commit.ts'
import type { PostgresDatabase } from './database.ts'

// About 200 bytes each.
const rememberedOrganisations = 100_000
// Shards move rarely. Until this process notices, its batches are recorded by two workers, in one transaction.
const rememberedMs = 30_000

// If a worker has not recorded anything for this long, requests that wait for it would fill the room that all organisations share.
const stallTimeoutMs = 5_000
// A batch shows within this time that the worker responds again.
const retryMs = 1_000

/** The number that Citus gives to a worker and its standbys. */
type Worker = number

/** Finds the worker that has the signals of an organisation. */
export function workerFinder(database: PostgresDatabase): (organisationId: number) => Promise<Worker> {
  // Promises, so that signals that arrive during a lookup stay in order.
  const known = createBoundedMap<{ worker: Promise<Worker>; foundAt: number }>(rememberedOrganisations)
  return (organisationId) => {
    const key = String(organisationId)
    const found = known.get(key)
    const now = performance.now()
    if (found !== undefined && now - found.foundAt < rememberedMs) return found.worker
    const worker = find(organisationId)
    known.set(key, { worker, foundAt: now })
    // The next signal asks again.
    worker.catch(() => known.set(key, { worker, foundAt: Number.NEGATIVE_INFINITY }))
    return worker
  }

  async function find(organisationId: number): Promise<Worker> {
    // Answered from the metadata of the coordinator, so it works while the worker does not.
    const sql = `select groupid as worker from pg_dist_placement
      where shardid = get_shard_id_for_distribution_column('signal_usage', ?::bigint)`
    const rows = await database.rows(sql, [organisationId])
    return rows[0]?.worker as Worker
  }
}

/**
 * Group commit with a queue for each worker, so that each batch is recorded by one of them, and workers neither wait for each other
 * nor fail together.
 */
export function groupCommitByWorker<Item extends { organisationId: number }, Result>(
  workerOf: (organisationId: number) => Promise<Worker>,
  commit: (items: Item[]) => Promise<Result[]>,
  options: GroupCommitOptions<Item, Result>,
): GroupCommit<Item, Result> {
  const queues = new Map<Worker, WorkerQueue<Item, Result>>()
  const all = () => [...queues.values()]
  return {
    async submit(item) {
      const worker = await workerOf(item.organisationId)
      let queue = queues.get(worker)
      if (queue === undefined) {
        queue = workerQueue(commit, options)
        queues.set(worker, queue)
      }
      if (queue.isStuck()) {
        throw new Error(`Worker ${worker} of the cluster has not recorded a signal for ${stallTimeoutMs / 1_000} s`)
      }
      return queue.submit(item)
    },
    waiting: () => all().reduce((sum, queue) => sum + queue.waiting(), 0),
    // A worker that hangs rejects only its own signals. Every request asks the coordinator first, which shows whether that responds.
    stalledForMs: () => 0,
    async idle() {
      await Promise.all(all().map((queue) => queue.idle()))
    },
  }
}

interface WorkerQueue<Item, Result> extends GroupCommit<Item, Result> {
  /** Whether nothing was recorded for long, and the batch in progress does not change that. */
  isStuck(): boolean
}

function workerQueue<Item, Result>(
  commit: (items: Item[]) => Promise<Result[]>,
  options: GroupCommitOptions<Item, Result>,
): WorkerQueue<Item, Result> {
  let sentAt: number | null = null
  const queue = groupCommit<Item, Result>(async (items) => {
    sentAt = performance.now()
    try {
      return await commit(items)
    } finally {
      sentAt = null
    }
  }, options)
  return {
    ...queue,
    isStuck: () => queue.stalledForMs() > stallTimeoutMs && sentAt !== null && performance.now() - sentAt > retryMs,
  }
}
