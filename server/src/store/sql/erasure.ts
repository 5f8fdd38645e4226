import type { Erasure, ErasureStore } from '../../domain/signals/erasure.ts'
import { nextTurn } from '../../domain/time.ts'
import { auditEntry, updateAuditDetails } from './audit.ts'
import { type Database, type Row, requireRow, type Statement } from './database.ts'
import { subtractFromHours } from './signal-hours.ts'

/** How an engine scans the signals of an organisation. */
export interface SignalScan {
  /**
   * Scans the next batch. `candidates` are the rows that pass `mayMatch`, with `prompt_id`, `created_at`, `id` and `metadata`.
   * `last` is the last signal scanned, or null at the end.
   */
  next(erasure: Erasure, pattern: string): Promise<{ candidates: Row[]; last: Erasure['last'] | null }>
  /** Statements that delete the signals. Each returns `prompt_id`, `value` and `created_at` of the rows that still existed. */
  remove(organisationId: number, signals: Row[]): Statement[]
}

/** Whether the metadata contains the pattern, or a backslash, which could encode the same text differently. */
export const mayMatch = `(metadata like '%\\%' escape '!' or metadata like ? escape '!')`

export function sqlErasure(database: Database, scan: SignalScan): ErasureStore {
  /** Deletes rows and updates sums and audit in one transaction. Returns how many rows still existed. */
  async function remove({ organisationId, auditId, erased }: Erasure, signals: Row[]): Promise<number> {
    let removed = 0
    const andThen = (rows: Row[]) => {
      removed += rows.length
      return [
        ...subtractFromHours(database, organisationId, rows),
        updateAuditDetails(organisationId, auditId, { erased: erased + removed }),
      ]
    }
    await database.write(scan.remove(organisationId, signals).map((statement) => ({ ...statement, andThen })))
    return removed
  }

  return {
    async startErasure(organisationId, by, at) {
      const { name } = requireRow(await database.rows('select name from organisations where id = ?', [organisationId]))
      const subject = { id: organisationId, name: name as string }
      const [rows] = await database.write([
        auditEntry({ organisationId, by, at, action: 'signals.erased', subject, details: { erased: 0 } }),
      ])
      const auditId = requireRow(rows).id as number
      return { organisationId, auditId, last: { promptId: 0, createdAt: 0, id: 0 }, erased: 0, done: false }
    },

    async eraseNextBatch(erasure, { prefilter, matches }) {
      const { candidates, last } = await scan.next(erasure, `%${prefilter.replaceAll(/[!%_]/g, '!$&')}%`)
      const matching = await filterInSlices(candidates, ({ metadata }) => matches(metadata as string))
      const removed = matching.length === 0 ? 0 : await remove(erasure, matching)
      return { ...erasure, last: last ?? erasure.last, erased: erasure.erased + removed, done: last === null }
    },
  }
}

const sliceMs = 5

/** Lets requests run every few milliseconds: comparing one batch of large metadata takes hundreds. */
async function filterInSlices(rows: Row[], isMatch: (row: Row) => boolean): Promise<Row[]> {
  const matching: Row[] = []
  let sliceEnd = performance.now() + sliceMs
  for (const row of rows) {
    if (isMatch(row)) matching.push(row)
    if (performance.now() < sliceEnd) continue
    await nextTurn()
    sliceEnd = performance.now() + sliceMs
  }
  return matching
}
