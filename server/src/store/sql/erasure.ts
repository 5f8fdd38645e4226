import type { Erasure, ErasureStore, SignalPosition } from '../../domain/signals/erasure.ts'
import { nextTurn } from '../../domain/time.ts'
import { auditEntry } from './audit-chain.ts'
import { type Database, type Row, requireRow, type Statement, statement } from './database.ts'
import { subtractFromSums } from './signal-hours.ts'

/** How an engine scans the signals of an organisation. */
export interface SignalScan {
  /**
   * Scans the next batch. `candidates` are the rows that pass `mayMatch`, with `prompt_id`, `created_at`, `id` and `metadata`.
   * `last` is the last signal scanned, or null at the end.
   */
  next(erasure: Erasure, pattern: string): Promise<{ candidates: Row[]; last: Erasure['last'] | null }>
  /**
   * Statements that delete the signals, and the votes on their subjects first. They return the `summedColumns` of the signals
   * that still existed.
   */
  remove(organisationId: number, signals: SignalPosition[]): Statement[]
}

// A batch finds at most as many again, and each transaction is short enough not to hold up signal writes.
const maxRemoved = 1_000

/** Whether the metadata contains the pattern, or a backslash, which could encode the same text differently. */
export const mayMatch = `(metadata like '%\\%' escape '!' or metadata like ? escape '!')`

/** The parameter of `mayMatch`. */
export function likePattern(text: string): string {
  return `%${text.replaceAll(/[!%_]/g, '!$&')}%`
}

export function sqlErasure(database: Database, scan: SignalScan): ErasureStore {
  /** Deletes signals and updates sums and audit in one transaction. Returns how many still existed. */
  async function remove(erasure: Erasure, signals: SignalPosition[]): Promise<number> {
    const { organisationId } = erasure
    const { name } = requireRow(await database.rows('select name from organisations where id = ?', [organisationId]))
    let removed = 0
    const deletions = scan.remove(organisationId, signals).map((deletion) => ({
      ...deletion,
      andThen: (rows: Row[]) => {
        removed += rows.length
        return subtractFromSums(database, organisationId, rows)
      },
    }))
    const audit = (): Statement => {
      const { by, at } = erasure
      const subject = { id: organisationId, name: name as string }
      return auditEntry({ organisationId, by, at, action: 'signals.erased', subject, details: { erased: removed } })
    }
    // The number is known only after the deletions.
    await database.write([...deletions, { ...statement('select 1'), andThen: () => [audit()] }])
    return removed
  }

  return {
    async eraseNextBatch(erasure, { prefilter, matches }) {
      const { candidates, last } = await scan.next(erasure, likePattern(prefilter))
      const matching = (await filterInSlices(candidates, ({ metadata }) => matches(metadata as string))).map(toPosition)
      const found = [...erasure.found, ...matching]
      const done = last === null
      const next = { ...erasure, last: last ?? erasure.last, done }
      if (found.length < maxRemoved && !done) return { ...next, found }
      // Without a match, the entry says 0.
      if (found.length === 0 && erasure.erased > 0) return next
      return { ...next, found: [], erased: erasure.erased + (await remove(erasure, found)) }
    },
  }
}

export function toPosition({ prompt_id, created_at, id }: Row): SignalPosition {
  return { promptId: prompt_id as number, createdAt: created_at as number, id: id as number }
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
