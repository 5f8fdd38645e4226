import type { RecordOutcome } from '../../domain/signals/signal.ts'
import type { Store } from '../../domain/store.ts'
import { type Clock, type Instant, monthStart } from '../../domain/time.ts'
import { createCaches, withCache } from '../cache.ts'
import { groupCommit, type OnBatch } from '../group-commit.ts'
import { createdAt } from '../migrations.ts'
import { sqlArchive } from '../sql/archive.ts'
import { statement } from '../sql/database.ts'
import { sqlErasure } from '../sql/erasure.ts'
import { insertFirstOrganisation, toOrganisation } from '../sql/organisations.ts'
import { sqlSignalImport } from '../sql/signal-import.ts'
import { sqlStore } from '../sql/store.ts'
import { postgresArchive } from './archive.ts'
import { openPostgres } from './database.ts'
import { postgresSignalScan } from './erasure.ts'
import { migrate } from './migrate.ts'
import { partitionCreator, skippingKnownMonths } from './partitions.ts'
import { recentSums } from './recent-sums.ts'
import { checkForReplicaChanges, withTimeout } from './replica-changes.ts'
import { postgresRetention } from './retention.ts'
import { recordBatch } from './signal-batch.ts'
import { signalFence } from './signal-fence.ts'
import { createWorkers, groupCommitByWorker } from './worker-queues.ts'

// While PostgreSQL stores one half, this process responds to the other. A statement costs as much as some thirty of its signals, so
// small batches are not worth splitting.
const batchSize = (waiting: number) => Math.max(64, Math.ceil(waiting / 2))

// Enough for two processes to have different numbers.
const maxWriter = 2 ** 47

export async function openPostgresStore(
  url: string,
  poolSize: number,
  clock: Clock,
  onLostConnection: (error: Error) => void,
  onBatch?: OnBatch<RecordOutcome>,
): Promise<Store> {
  const caches = createCaches()
  const database = await openPostgres(url, poolSize, caches.clear, onLostConnection)
  const createPartitions = partitionCreator(database)
  const preparePartitions = skippingKnownMonths(createPartitions)
  const schemaVersion = await migrate(database, clock).catch(async (error) => {
    await database.close()
    throw error
  })
  const [created] = await database.rows(createdAt)
  // Keeps the first signal of a month from having to wait for its partition.
  await preparePartitions([monthStart(clock())])

  const recent = recentSums(database, Math.floor(Math.random() * maxWriter))
  const fence = signalFence(database)
  const workers = createWorkers(database)
  const record = recordBatch(database, preparePartitions, recent, fence, clock, caches.generation)
  const ofOneServer = groupCommit(record, { batchSize, onBatch })
  const byWorker = groupCommitByWorker(workers, record, onLostConnection, { onBatch })
  // The tables may be distributed while this process runs.
  const current = () => (database.isDistributed ? byWorker : ofOneServer)
  const signals: Store['queues']['signals'] = {
    waiting: () => current().waiting(),
    stalledForMs: () => current().stalledForMs(),
    serverStalledForMs: (organisationId) => (database.isDistributed ? byWorker.serverStalledForMs(organisationId) : 0),
  }

  const refresh = checkForReplicaChanges(database, caches.clear)

  const shared = sqlStore(database, clock)
  const store: Store = {
    ...shared,
    organisations: {
      ...shared.organisations,
      async createFirst(organisation) {
        const [, rows = []] = await database.writeAndInvalidate([
          // Held until the commit, so another process that starts at the same time finds this organisation.
          statement('lock table organisations in share row exclusive mode'),
          insertFirstOrganisation(organisation),
        ])
        return rows[0] === undefined ? null : toOrganisation(rows[0])
      },
    },
    signals: {
      ...shared.signals,
      record: (signal) => current().submit(signal),
      enqueue: (signal, done, failed) => current().enqueue(signal, done, failed),
      import: sqlSignalImport(database, {
        preparePartitions: createPartitions,
        newSignalId: `nextval('signal_ids')`,
        replacingVoteId: 'staged.vote_id',
        get rowLock() {
          return database.isDistributed ? 'update' : 'for update'
        },
      }),
      ...sqlErasure(database, postgresSignalScan(database)),
      ...postgresRetention(database),
    },
    archive: sqlArchive(database, postgresArchive(database, createPartitions, caches.clear)),
    schemaVersion,
    databaseCreatedAt: created?.applied_at as Instant,
    refresh: refresh.submit,
    refreshThen: (done, failed) => refresh.enqueue(undefined, done, failed),
    cacheGeneration: caches.generation,
    countCacheHit: caches.countHit,
    queues: { refresh, signals },
    stats: () => ({ caches: caches.stats(), connections: database.connections() }),
    async checkWritable() {
      await withTimeout(database.write([statement('update readiness set checked_at = ?', [clock()])]))
    },
    async close() {
      byWorker.close()
      await Promise.all([ofOneServer.idle(), byWorker.idle()])
      await recent.close()
      await fence.close()
      await database.close()
    },
  }
  return withCache(store, caches)
}
