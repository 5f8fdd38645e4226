import type { RecordOutcome, SignalToRecord } from '../../domain/signals/signal.ts'
import type { Store } from '../../domain/store.ts'
import type { Clock, Instant } from '../../domain/time.ts'
import { createCaches, withCache } from '../cache.ts'
import { groupCommit, type OnBatch } from '../group-commit.ts'
import { createdAt } from '../migrations.ts'
import { sqlArchive } from '../sql/archive.ts'
import { sqlErasure } from '../sql/erasure.ts'
import { insertFirstOrganisation, toOrganisation } from '../sql/organisations.ts'
import { sqlSignalImport } from '../sql/signal-import.ts'
import { sqlStore } from '../sql/store.ts'
import { sqliteArchive } from './archive.ts'
import { openSqlite } from './database.ts'
import { sqliteSignalScan } from './erasure.ts'
import { migrate } from './migrate.ts'
import { sqliteRetention } from './retention.ts'
import { lockForService } from './service-lock.ts'
import { recordBatch } from './signal-batch.ts'

// The indexes of about 200,000 entries. With SQLite's 2 MB, a backfill writes each of their pages several times per transaction.
const syncCacheKilobytes = 32 * 1024
// One batch of a backfill changes up to 10,000 pages, and the next one many of the same. This is 128 MB of WAL.
const syncPagesBetweenCheckpoints = 32_000
// A commit costs as much as storing some hundred signals, so two batches of clients share one. Takes about 5 ms.
const maxBatchSize = 1_024
// Readiness probes time out long before a signal write does.
const writeCheckTimeoutMs = 2_000

export async function openSqliteStore(
  path: string,
  clock: Clock,
  { syncs, serves, onBatch }: { syncs: boolean; serves: boolean; onBatch: OnBatch<RecordOutcome> | undefined },
): Promise<Store> {
  const caches = createCaches()
  const database = openSqlite(path, caches.clear)
  if (syncs) {
    database.execute(`pragma cache_size = -${syncCacheKilobytes}`)
    database.execute(`pragma wal_autocheckpoint = ${syncPagesBetweenCheckpoints}`)
  }
  let unlock = () => {}
  function close(): void {
    database.close()
    unlock()
  }
  async function prepare(): Promise<number> {
    if (serves && path !== ':memory:') unlock = lockForService(path)
    return migrate(database, clock)
  }
  const schemaVersion = await prepare().catch((error) => {
    close()
    throw error
  })

  const [created] = await database.rows(createdAt)

  const bytesOf = ({ metadata }: SignalToRecord) => metadata?.length ?? 0
  const signals = groupCommit(recordBatch(database, clock, caches.generation), { maxBatchSize, bytesOf, onBatch })

  // data_version changes when another connection has written to the file.
  const dataVersion = database.prepare('pragma data_version')
  let seenVersion = dataVersion.get()?.data_version
  const refresh = groupCommit<void, void>(async (waiting) => {
    const version = dataVersion.get()?.data_version
    if (version !== seenVersion) caches.clear()
    seenVersion = version
    return waiting
  })

  const shared = sqlStore(database, clock)
  const store: Store = {
    ...shared,
    organisations: {
      ...shared.organisations,
      async createFirst(organisation) {
        const [rows = []] = await database.writeAndInvalidate([insertFirstOrganisation(organisation)])
        return rows[0] === undefined ? null : toOrganisation(rows[0])
      },
    },
    signals: {
      ...shared.signals,
      record: signals.submit,
      enqueue: signals.enqueue,
      import: sqlSignalImport(database, {
        preparePartitions: async () => {},
        // Above every ID that was ever used, like those that SQLite assigns itself.
        newSignalId: `coalesce((select seq from sqlite_sequence where name = 'signals'), 0) + staged.line + 1`,
        // As when a vote is recorded. The staged ID is not assigned: only a row of signals takes it from the sequence.
        replacingVoteId: 'votes.signal_id',
        rowLock: '',
      }),
      ...sqlErasure(database, sqliteSignalScan(database)),
      ...sqliteRetention(database),
    },
    archive: sqlArchive(database, sqliteArchive(path)),
    schemaVersion,
    databaseCreatedAt: created?.applied_at as Instant,
    refresh: refresh.submit,
    refreshThen: (done, failed) => refresh.enqueue(undefined, done, failed),
    cacheGeneration: caches.generation,
    countCacheHit: caches.countHit,
    queues: { refresh, signals: { ...signals, serverStalledForMs: () => 0 } },
    stats: () => ({ caches: caches.stats(), connections: null }),
    async checkWritable() {
      const check = database.prepare('update readiness set checked_at = ?')
      await database.transaction(() => check.run(clock()), writeCheckTimeoutMs)
    },
    async close() {
      await signals.idle()
      close()
    },
  }
  return withCache(store, caches)
}
