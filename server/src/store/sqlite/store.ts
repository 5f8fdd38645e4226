import type { Store } from '../../domain/store.ts'
import type { Clock } from '../../domain/time.ts'
import { inGroups } from '../groups.ts'
import { newMemory, remembering } from '../memory.ts'
import { statement } from '../sql/database.ts'
import { sqlDeliveries } from '../sql/deliveries.ts'
import { sqlFacts } from '../sql/facts.ts'
import { sqlHistory } from '../sql/history.ts'
import { sqlKeys } from '../sql/keys.ts'
import { insertFirstOrganisation, sqlOrganisations, toOrganisation } from '../sql/organisations.ts'
import { sqlPrompts } from '../sql/prompts.ts'
import { sqlRepositories } from '../sql/repositories.ts'
import { sqlSessions } from '../sql/sessions.ts'
import { sqlSignalImport } from '../sql/signal-import.ts'
import { sqlSignals } from '../sql/signals.ts'
import { openSqlite } from './database.ts'
import { migrate } from './migrate.ts'
import { retractSignal } from './retract.ts'
import { recordBatch } from './signal-batch.ts'

export async function openSqliteStore(path: string, clock: Clock): Promise<Store> {
  const memory = newMemory()
  const database = openSqlite(path, memory.forget)
  const schemaVersion = await migrate(database, clock).catch((error) => {
    database.close()
    throw error
  })

  const signals = inGroups(recordBatch(database))

  // data_version moves when another connection has written to the file.
  const dataVersion = database.prepare('pragma data_version')
  let seen = dataVersion.get()?.data_version
  const freshness = inGroups<void, void>(async (waiting) => {
    const version = dataVersion.get()?.data_version
    if (version !== seen) memory.forget()
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
      record: signals.join,
      import: sqlSignalImport(database, async () => {}),
      retract: retractSignal(database),
    },
    repositories: sqlRepositories(database),
    deliveries: sqlDeliveries(database),
    facts: sqlFacts(database),
    schemaVersion,
    refresh: freshness.join,
    async checkWritable() {
      await database.write([statement('update readiness set checked_at = ?', [clock()])])
    },
    async close() {
      await signals.idle()
      database.close()
    },
  }
  return remembering(store, memory)
}
