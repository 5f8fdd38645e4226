import { setTimeout as pause } from 'node:timers/promises'
import { createBoundedMap } from '../../domain/bounded-map.ts'
import { signalsUnavailable } from '../../domain/errors.ts'
import { type GroupCommit, type GroupCommitOptions, groupCommit } from '../group-commit.ts'
import { statement } from '../sql/database.ts'
import type { PostgresDatabase } from './database.ts'

// About 200 bytes each.
const rememberedOrganisations = 100_000
// Shards move rarely. Until this process notices, its batches are recorded by two workers, in one transaction.
const rememberedMs = 30_000

// If a worker has not recorded a batch for this long, requests that wait for it would fill the room that all organisations share.
const stallTimeoutMs = 5_000
// How soon the signals of a worker are recorded again that is back.
const probeIntervalMs = 500
const probeTimeout = '2s'

/** The number that Citus gives to a worker and its standbys. */
type Worker = number

/** Where Citus stores the signals of each organisation. */
interface Workers {
  find(organisationId: number): Promise<Worker>
  /** The same without asking the coordinator. Undefined if it has to be asked. */
  known(organisationId: number): Worker | undefined
  /** Rejects unless the worker of the organisation stores something. */
  probe(organisationId: number): Promise<void>
}

interface Lookup {
  // A promise, so that signals that arrive during a lookup stay in order.
  worker: Promise<Worker>
  found: Worker | undefined
  startedAt: number
}

export function createWorkers(database: PostgresDatabase): Workers {
  const lookups = createBoundedMap<Lookup>(rememberedOrganisations)

  function recent(organisationId: number): Lookup | undefined {
    const lookup = lookups.get(String(organisationId))
    return lookup !== undefined && performance.now() - lookup.startedAt < rememberedMs ? lookup : undefined
  }

  async function ask(organisationId: number): Promise<Worker> {
    // Answered from the metadata of the coordinator, so it works while the worker does not.
    const sql = `select groupid as worker from pg_dist_placement
      where shardid = get_shard_id_for_distribution_column('signal_usage', ?::bigint)`
    const rows = await database.rows(sql, [organisationId])
    return rows[0]?.worker as Worker
  }

  function find(organisationId: number): Promise<Worker> {
    const worker = ask(organisationId)
    const lookup: Lookup = { worker, found: undefined, startedAt: performance.now() }
    lookups.set(String(organisationId), lookup)
    worker.then(
      (found) => {
        lookup.found = found
      },
      // The next signal asks again.
      () => {
        lookup.startedAt = Number.NEGATIVE_INFINITY
      },
    )
    return worker
  }

  return {
    find: (organisationId) => recent(organisationId)?.worker ?? find(organisationId),
    known: (organisationId) => recent(organisationId)?.found,
    async probe(organisationId) {
      // A write, because a worker without its synchronous standby only reads. It changes nothing.
      await database.write([
        statement(`set local statement_timeout = '${probeTimeout}'`),
        statement('update signal_usage set used = used where organisation_id = ?', [organisationId]),
      ])
    },
  }
}

interface WorkerQueues<Item, Result> extends Omit<GroupCommit<Item, Result>, 'rejectAll'> {
  /** How long the worker of this organisation has not recorded a batch that it was sent. */
  serverStalledForMs(organisationId: number): number
  /** Stops asking whether workers are back. */
  close(): void
}

/**
 * Group commit with a queue for each worker, so that each batch is recorded by one of them, and workers neither wait for each other
 * nor fail together.
 */
export function groupCommitByWorker<Item extends { organisationId: number }, Result>(
  workers: Workers,
  commit: (items: Item[]) => Promise<Result[]>,
  onDown: (error: Error) => void,
  options: GroupCommitOptions<Item, Result>,
): WorkerQueues<Item, Result> {
  const queues = new Map<Worker, GroupCommit<Item, Result>>()
  const all = () => [...queues.values()]
  let isClosed = false

  function queueOf(worker: Worker): GroupCommit<Item, Result> {
    let queue = queues.get(worker)
    if (queue === undefined) {
      queue = workerQueue(commit, (...stalled) => untilBack(worker, ...stalled), options)
      queues.set(worker, queue)
    }
    return queue
  }

  async function untilBack(worker: Worker, organisationId: number, batch: Promise<void>): Promise<void> {
    onDown(new Error(`Worker ${worker} of the cluster has not recorded a signal for ${stallTimeoutMs / 1_000} s`))
    // A frozen worker that responds again answers this one first.
    await batch
    while (!isClosed) {
      try {
        return await workers.probe(organisationId)
      } catch {
        await pause(probeIntervalMs, undefined, { ref: false })
      }
    }
  }

  async function submit(item: Item): Promise<Result> {
    return queueOf(await workers.find(item.organisationId)).submit(item)
  }

  return {
    submit,
    enqueue: (item, resolve, reject) => void submit(item).then(resolve, reject),
    waiting: () => all().reduce((sum, queue) => sum + queue.waiting(), 0),
    // A worker that hangs rejects only its own signals. Every request asks the coordinator first, which shows whether that responds.
    stalledForMs: () => 0,
    serverStalledForMs(organisationId) {
      const worker = workers.known(organisationId)
      return worker === undefined ? 0 : (queues.get(worker)?.stalledForMs() ?? 0)
    },
    async idle() {
      await Promise.all(all().map((queue) => queue.idle()))
    },
    close() {
      isClosed = true
    },
  }
}

/** A queue that rejects everything from a batch that takes too long until `untilBack` resolves. */
function workerQueue<Item extends { organisationId: number }, Result>(
  commit: (items: Item[]) => Promise<Result[]>,
  untilBack: (organisationId: number, batch: Promise<void>) => Promise<void>,
  options: GroupCommitOptions<Item, Result>,
): GroupCommit<Item, Result> {
  let sentAt: number | null = null
  let isDown = false
  const queue = groupCommit<Item, Result>(async (items) => {
    const { organisationId } = items[0] as Item
    sentAt = performance.now()
    const timer = setTimeout(stop, stallTimeoutMs, organisationId)
    try {
      return await commit(items)
    } finally {
      clearTimeout(timer)
      sentAt = null
    }
  }, options)

  async function stop(organisationId: number): Promise<void> {
    isDown = true
    queue.rejectAll(signalsUnavailable)
    await untilBack(organisationId, queue.idle())
    isDown = false
  }

  return {
    ...queue,
    submit: (item) => (isDown ? Promise.reject(signalsUnavailable) : queue.submit(item)),
    enqueue: (item, resolve, reject) => (isDown ? reject(signalsUnavailable) : queue.enqueue(item, resolve, reject)),
    stalledForMs() {
      if (isDown) return Number.POSITIVE_INFINITY
      return sentAt === null ? 0 : performance.now() - sentAt
    },
  }
}
