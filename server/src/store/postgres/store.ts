import type { RecordOutcome } from '../../domain/signals/signal.ts'
import type { Store } from '../../domain/store.ts'
import { type Clock, monthStart } from '../../domain/time.ts'
import { createCaches, withCache } from '../cache.ts'
import { groupCommit, type OnBatch } from '../group-commit.ts'
import { sqlArchive } from '../sql/archive.ts'
import { sqlAudit } from '../sql/audit.ts'
import { statement } from '../sql/database.ts'
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
import { postgresArchive } from './archive.ts'
import { openPostgres } from './database.ts'
import { postgresWalk } from './erasure.ts'
import { migrate } from './migrate.ts'
import { monthPartitions, onceEach } from './months.ts'
import { postgresRetention } from './retention.ts'
import { recordBatch } from './signal-batch.ts'

// Milliseconds that memory may be behind what another process did. Our own changes are seen at once.
const freshFor = 5

// While PostgreSQL stores one half, this process answers the other. Small batches are not worth splitting.
const half = (waiting: number) => Math.max(16, Math.ceil(waiting / 2))

// Milliseconds. Every request begins with this look, which takes one of them where the server is well.
const patience = 5_000

/** Gives up where the server has fallen silent. The connection is given up by `endSilent`, later: others may take longer. */
async function soon<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`PostgreSQL has not answered for ${patience / 1_000} s`)), patience)
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}

export async function openPostgresStore(
  url: string,
  poolSize: number,
  clock: Clock,
  onLostConnection: (error: Error) => void,
  onBatch?: OnBatch<RecordOutcome>,
): Promise<Store> {
  const memory = createCaches()
  const database = await openPostgres(url, poolSize, memory.clear, onLostConnection)
  const makeMonths = monthPartitions(database)
  const prepareMonths = onceEach(makeMonths)
  const schemaVersion = await migrate(database, clock).catch(async (error) => {
    await database.close()
    throw error
  })
  // So that a month's first signal does not have to wait for its partition.
  await prepareMonths([monthStart(clock())])

  const signals = groupCommit(recordBatch(database, prepareMonths), { batchSize: half, onBatch: onBatch })

  let seen: unknown
  let lookedAt = Number.NEGATIVE_INFINITY
  const freshness = groupCommit<void, void>(async (waiting) => {
    const now = performance.now()
    if (now - lookedAt >= freshFor) {
      const [row] = await soon(database.rows('select changes from change_counter'))
      if (row?.changes !== seen) memory.clear()
      seen = row?.changes
      lookedAt = now
    }
    return waiting
  })

  const store: Store = {
    organisations: {
      ...sqlOrganisations(database),
      async createFirst(organisation) {
        const [, rows = []] = await database.change([
          // Held until the commit, so that a second process that starts now finds the organisation of the first.
          statement('lock table organisations in share row exclusive mode'),
          insertFirstOrganisation(organisation),
        ])
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
      import: sqlSignalImport(database, makeMonths),
      retract: sqlRetract(database),
      ...sqlErasure(database, postgresWalk(database)),
      ...postgresRetention(database),
    },
    repositories: sqlRepositories(database),
    deliveries: sqlDeliveries(database),
    facts: sqlFacts(database),
    audit: sqlAudit(database),
    archive: sqlArchive(database, postgresArchive(database, makeMonths, memory.clear)),
    schemaVersion,
    refresh: freshness.submit,
    queues: { refresh: freshness, signals },
    stats: () => ({ caches: memory.stats(), connections: database.connections() }),
    async checkWritable() {
      await soon(database.write([statement('update readiness set checked_at = ?', [clock()])]))
    },
    async close() {
      await signals.idle()
      await database.close()
    },
  }
  return withCache(store, memory)
}
