import { only, statement } from '../sql/database.ts'
import { mayFit, type SignalWalk } from '../sql/erasure.ts'
import type { SqliteDatabase } from './database.ts'

// So few that nobody waits longer than for a batch of signals.
const portionSize = 1_000

/** By the id, in whose order rows lie on disk: going by the index instead takes ten times as long. */
export function sqliteWalk(database: SqliteDatabase): SignalWalk {
  return {
    async next({ organisationId, last }, pattern) {
      // Where many are gone, the next may be far away.
      const sql = 'select min(id) as id from signals where id > ?'
      const first = only(await database.rows(sql, [last.id])).id as number | null
      if (first === null) return { candidates: [], last: null }
      const end = first + portionSize - 1
      // The plus keeps it off the index.
      const candidates = await database.rows(
        `select prompt_id, created_at, id, metadata from signals
         where id >= ? and id <= ? and +organisation_id = ? and ${mayFit}`,
        [first, end, organisationId, pattern],
      )
      return { candidates, last: { ...last, id: end } }
    },

    remove: (_organisationId, signals) => [
      statement(
        `delete from signals where id in ${database.elements('bigint')} returning prompt_id, value, created_at`,
        [JSON.stringify(signals.map(({ id }) => id))],
      ),
    ],
  }
}
