import type { RecordOutcome } from '../../domain/signals/signal.ts'
import type { Store } from '../../domain/store.ts'
import { type Clock, monthStart } from '../../domain/time.ts'
import { newMemory, remembering } from '../cache.ts'
import { inGroups, type OnAct } from '../group-commit.ts'
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
  onBatch?: OnAct<RecordOutcome>,
): Promise<Store> {
  const memory = newMemory()
  const database = await openPostgres(url, poolSize, memory.forget, onLostConnection)
  const makeMonths = monthPartitions(database)
  const prepareMonths = onceEach(makeMonths)
  const schemaVersion = await migrate(database, clock).catch(async (error) => {
    await database.close()
    throw error
  })
  // So that a month's first signal does not have to wait for its partition.
  await prepareMonths([monthStart(clock())])

  const signals = inGroups(recordBatch(database, prepareMonths), { share: half, onAct: onBatch })

  let seen: unknown
  let lookedAt = Number.NEGATIVE_INFINITY
  const freshness = inGroups<void, void>(async (waiting) => {
    const now = performance.now()
    if (now - lookedAt >= freshFor) {
      const [row] = await soon(database.rows('select changes from change_counter'))
      if (row?.changes !== seen) memory.forget()
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
      record: signals.join,
      import: sqlSignalImport(database, makeMonths),
      retract: sqlRetract(database),
      ...sqlErasure(database, postgresWalk(database)),
      ...postgresRetention(database),
    },
    repositories: sqlRepositories(database),
    deliveries: sqlDeliveries(database),
    facts: sqlFacts(database),
    audit: sqlAudit(database),
    archive: sqlArchive(database, postgresArchive(database, makeMonths, memory.forget)),
    schemaVersion,
    refresh: freshness.join,
    lines: { lookUps: freshness, signals },
    figures: () => ({ memory: memory.figures(), connections: database.connections() }),
    async checkWritable() {
      await soon(database.write([statement('update readiness set checked_at = ?', [clock()])]))
    },
    async close() {
      await signals.idle()
      await database.close()
    },
  }
  return remembering(store, memory)
}
