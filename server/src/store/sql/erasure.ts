import type { Erasure, ErasureStore } from '../../domain/signals/erasure.ts'
import { auditEntry, updateAuditDetails } from './audit.ts'
import { type Database, only, type Row, type Statement } from './database.ts'
import { subtractFromHours } from './signal-hours.ts'

/** How an engine goes through the signals of an organisation. */
export interface SignalWalk {
  /**
   * The next few: those that `mayFit` picks, which leaves most of them in the database, with `prompt_id`, `created_at`, `id`
   * and `metadata`; and the last that was looked at, null where there is none left.
   */
  next(erasure: Erasure, pattern: string): Promise<{ candidates: Row[]; last: Erasure['last'] | null }>
  /** Statements that remove them, each giving `prompt_id`, `value` and `created_at` of those that were still there. */
  remove(organisationId: number, signals: Row[]): Statement[]
}

/** That the metadata has the pattern, or a backslash, with which it could write the same in another way. */
export const mayFit = `(metadata like '%\\%' escape '!' or metadata like ? escape '!')`

export function sqlErasure(database: Database, walk: SignalWalk): ErasureStore {
  /** Rows, sums and audit in one act. Gives how many were still there: others may have been taken back meanwhile. */
  async function remove({ organisationId, auditId, erased }: Erasure, signals: Row[]): Promise<number> {
    let removed = 0
    const andThen = (rows: Row[]) => {
      removed += rows.length
      return [
        ...subtractFromHours(database, organisationId, rows),
        updateAuditDetails(organisationId, auditId, { erased: erased + removed }),
      ]
    }
    await database.write(walk.remove(organisationId, signals).map((statement) => ({ ...statement, andThen })))
    return removed
  }

  return {
    async beginErasure(organisationId, by, at) {
      const { name } = only(await database.rows('select name from organisations where id = ?', [organisationId]))
      const subject = { id: organisationId, name: name as string }
      const [rows] = await database.write([
        auditEntry({ organisationId, by, at, action: 'signals.erased', subject, details: { erased: 0 } }),
      ])
      const auditId = only(rows).id as number
      return { organisationId, auditId, last: { promptId: 0, createdAt: 0, id: 0 }, erased: 0, done: false }
    },

    async eraseNext(erasure, { prefilter: needle, matches: fits }) {
      const { candidates, last } = await walk.next(erasure, `%${needle.replaceAll(/[!%_]/g, '!$&')}%`)
      const found = candidates.filter(({ metadata }) => fits(metadata as string))
      const removed = found.length === 0 ? 0 : await remove(erasure, found)
      return { ...erasure, last: last ?? erasure.last, erased: erasure.erased + removed, done: last === null }
    },
  }
}
