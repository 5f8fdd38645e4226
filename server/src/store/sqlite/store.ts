import type { RecordOutcome } from '../../domain/signals/signal.ts'
import type { Store } from '../../domain/store.ts'
import type { Clock } from '../../domain/time.ts'
import { createCaches, withCache } from '../cache.ts'
import { groupCommit, type OnBatch } from '../group-commit.ts'
import { sqlArchive } from '../sql/archive.ts'
import { sqlAudit } from '../sql/audit.ts'
import { sqlDeliveries } from '../sql/deliveries.ts'
import { sqlErasure } from '../sql/erasure.ts'
import { sqlFacts } from '../sql/facts.ts'
import { sqlHistory } from '../sql/history.ts'
import { sqlKeys } from '../sql/keys.ts'
import { insertFirstOrganisation, sqlOrganisations, toOrganisation } from '../sql/organisations.ts'
import { sqlPrompts } from '../sql/prompts.ts'
import { sqlRepositories } from '../sql/repositories.ts'
import { sqlRetract } from '../sql/retract.ts'
import { sqlSessions } from '../sql/sessions.ts'
import { sqlSignalImport } from '../sql/signal-import.ts'
import { sqlSignals } from '../sql/signals.ts'
import { sqliteArchive } from './archive.ts'
import { openSqlite } from './database.ts'
import { sqliteWalk } from './erasure.ts'
import { migrate } from './migrate.ts'
import { sqliteRetention } from './retention.ts'
import { recordBatch } from './signal-batch.ts'

// Milliseconds. Whoever asks whether we are ready does not wait as long as a signal does.
const patienceOfCheck = 2_000

export async function openSqliteStore(path: string, clock: Clock, onBatch?: OnBatch<RecordOutcome>): Promise<Store> {
  const memory = createCaches()
  const database = openSqlite(path, memory.clear)
  const schemaVersion = await migrate(database, clock).catch((error) => {
    database.close()
    throw error
  })

  const signals = groupCommit(recordBatch(database), { onBatch: onBatch })

  // data_version moves when another connection has written to the file.
  const dataVersion = database.prepare('pragma data_version')
  let seen = dataVersion.get()?.data_version
  const freshness = groupCommit<void, void>(async (waiting) => {
    const version = dataVersion.get()?.data_version
    if (version !== seen) memory.clear()
    seen = version
    return waiting
  })

  const store: Store = {
    organisations: {
      ...sqlOrganisations(database),
      async createFirst(organisation) {
        const [rows = []] = await database.change([insertFirstOrganisation(organisation)])
        return rows[0] === undefined ? null : toOrganisation(rows[0])
      },
    },
    keys: sqlKeys(database),
    sessions: sqlSessions(database),
    prompts: sqlPrompts(database),
    history: sqlHistory(database),
    signals: {
      ...sqlSignals(database),
      record: signals.submit,
      import: sqlSignalImport(database, async () => {}),
      retract: sqlRetract(database),
      ...sqlErasure(database, sqliteWalk(database)),
      ...sqliteRetention(database),
    },
    repositories: sqlRepositories(database),
    deliveries: sqlDeliveries(database),
    facts: sqlFacts(database),
    audit: sqlAudit(database),
    archive: sqlArchive(database, sqliteArchive(path)),
    schemaVersion,
    refresh: freshness.submit,
    queues: { refresh: freshness, signals },
    stats: () => ({ caches: memory.stats(), connections: null }),
    async checkWritable() {
      const check = database.prepare('update readiness set checked_at = ?')
      await database.transaction(() => check.run(clock()), patienceOfCheck)
    },
    async close() {
      await signals.idle()
      database.close()
    },
  }
  return withCache(store, memory)
}
