import { requireRow, statement } from '../sql/database.ts'
import { mayMatch, type SignalScan } from '../sql/erasure.ts'
import { deletedColumns } from '../sql/signal-deletion.ts'
import type { SqliteDatabase } from './database.ts'

// SQLite blocks the process during a scan, and rows differ in size by a factor of 1,000, so the batch size follows the time
// that the last batch took.
const scanMs = 10
const minBatchSize = 10
// The next batch may have 16 KB of metadata in each row, however small those of the last one were.
const maxBatchSize = 200

/** Scans by ID, which is the order of rows on disk. Scanning by the index takes ten times as long. */
export function sqliteSignalScan(database: SqliteDatabase): SignalScan {
  let batchSize = maxBatchSize
  return {
    async next({ organisationId, last }, pattern) {
      // Skips the gaps that deleted signals leave.
      const sql = 'select min(id) as id from signals where id > ?'
      const first = requireRow(await database.rows(sql, [last.id])).id as number | null
      if (first === null) return { candidates: [], last: null }
      const end = first + batchSize - 1
      const startedAt = performance.now()
      // The unary plus keeps SQLite from using the index.
      const candidates = await database.rows(
        `select prompt_id, created_at, id, metadata from signals
         where id >= ? and id <= ? and +organisation_id = ? and ${mayMatch}`,
        [first, end, organisationId, pattern],
      )
      const fitting = (batchSize * scanMs) / (performance.now() - startedAt)
      batchSize = Math.round(Math.min(maxBatchSize, Math.max(minBatchSize, fitting)))
      return { candidates, last: { ...last, id: end } }
    },

    // Only one transaction writes at a time.
    lockVotes: () => [],

    remove: (_, signals) => [
      statement(`delete from signals where id in ${database.jsonElements('bigint')} returning ${deletedColumns}`, [
        JSON.stringify(signals.map(({ id }) => id)),
      ]),
    ],
  }
}
