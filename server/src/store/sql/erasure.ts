import type {
  Erasure,
  ErasureStore,
  MetadataQuery,
  SignalPosition,
  SubjectQuery,
  VoterQuery,
} from '../../domain/signals/erasure.ts'
import { delay } from '../../domain/time.ts'
import { auditEntry } from './audit-chain.ts'
import { countRows, type Database, type Row, requireRow, type Statement, statement } from './database.ts'
import { queueForJudge } from './judge-queue.ts'
import { afterDeletion } from './signal-deletion.ts'
import { announceErased } from './signal-events.ts'

/** How an engine scans the signals of an organisation. */
export interface SignalScan {
  /**
   * Scans the next batch. `candidates` are the rows that pass `mayMatch`, with `prompt_id`, `created_at`, `id` and `metadata`.
   * `last` is the last signal scanned, or null at the end.
   */
  next(erasure: Erasure, pattern: string): Promise<{ candidates: Row[]; last: Erasure['last'] | null }>
  /** Statements that lock the votes on the signals, so that they cannot change until the signals are deleted. */
  lockVotes(organisationId: number, signals: SignalPosition[]): Statement[]
  /** Statements that delete the signals and return the `deletedColumns` of those that still existed. */
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
  /**
   * Deletes signals and updates sums and audit in one transaction. `others` delete what counts as a signal and is in no sum.
   * Returns how many still existed.
   */
  async function remove(erasure: Erasure, signals: SignalPosition[], others: Statement[] = []): Promise<number> {
    const { organisationId, at } = erasure
    const { name } = requireRow(await database.rows('select name from organisations where id = ?', [organisationId]))
    let removed = 0
    const deletions = scan.remove(organisationId, signals).map((deletion) => ({
      ...deletion,
      andThen: (rows: Row[]) => {
        removed += rows.length
        return afterDeletion(database, organisationId, rows, at)
      },
    }))
    const otherDeletions = others.map((deletion) => ({
      ...deletion,
      andThen: (rows: Row[]) => {
        // The signals of the others stay in the sums.
        removed += rows.filter(({ value }) => value === null).length
        return announceErased(database, organisationId, rows, at)
      },
    }))
    const audit = (): Statement => {
      const { by } = erasure
      const subject = { id: organisationId, name: name as string }
      return auditEntry({ organisationId, by, at, action: 'signals.erased', subject, details: { erased: removed } })
    }
    // The number is known only after the deletions.
    const locks = scan.lockVotes(organisationId, signals)
    await database.write([
      ...locks,
      ...deletions,
      ...otherDeletions,
      queueForJudge(
        database,
        organisationId,
        signals.map(({ promptId }) => promptId),
      ),
      { ...statement('select 1'), andThen: () => [audit()] },
    ])
    return removed
  }

  /** Erases signals that an index has found. Erased signals are not found again, so there is no position to remember. */
  async function eraseSelected(erasure: Erasure, found: SignalPosition[], others?: Statement[]): Promise<Erasure> {
    const done = found.length < maxRemoved
    if (found.length === 0 && erasure.erased > 0) return { ...erasure, done }
    return { ...erasure, done, erased: erasure.erased + (await remove(erasure, found, others)) }
  }

  async function ofVoter({ organisationId }: Erasure, { voter }: VoterQuery): Promise<SignalPosition[]> {
    const rows = await database.rows(
      `select prompt_id, created_at, id from signals where organisation_id = ? and voter = ?
       order by prompt_id, created_at, id limit ${maxRemoved}`,
      [organisationId, voter],
    )
    return rows.map(toPosition)
  }

  // The subjects of each prompt are looked up by index: no index starts with the subject.
  const isSubject = `organisation_id = ? and prompt_id in (select id from prompts where organisation_id = ?) and subject = ?`

  async function onSubject({ organisationId }: Erasure, { subject }: SubjectQuery): Promise<SignalPosition[]> {
    const rows = await database.rows(
      `select prompt_id, created_at, signal_id as id from signal_subjects where ${isSubject} and value is not null
         and created_at >= (select kept_since from signal_retention)
       order by prompt_id, created_at, signal_id limit ${maxRemoved}`,
      [organisationId, organisationId, subject],
    )
    return rows.map(toPosition)
  }

  /** The subject may name a person, so votes that were withdrawn, or whose signals retention has removed, go as well. */
  function withdrawn({ organisationId }: Erasure, { subject }: SubjectQuery): Statement[] {
    const parameters = [organisationId, organisationId, subject]
    const expired = `created_at < (select kept_since from signal_retention)`
    return [
      ...['value is null', expired].map((condition) =>
        statement(
          `delete from signal_subjects where ${isSubject} and ${condition}
           returning signal_id as id, prompt_id, created_at, value`,
          parameters,
        ),
      ),
      // The subject of a vote that came with OpenTelemetry is the ID of a response.
      ...['trace_links', 'waiting_evaluations'].map((table) =>
        statement(`delete from ${table} where organisation_id = ? and response_id = ?`, [organisationId, subject]),
      ),
    ]
  }

  /** The next signals whose metadata matches, and how far the scan got. */
  async function scanNext(
    erasure: Erasure,
    { prefilter, matches }: MetadataQuery,
  ): Promise<{ matching: SignalPosition[]; next: Erasure }> {
    const { candidates, last } = await scan.next(erasure, likePattern(prefilter))
    const matching = (await filterInSlices(candidates, ({ metadata }) => matches(metadata as string))).map(toPosition)
    return { matching, next: { ...erasure, last: last ?? erasure.last, done: last === null } }
  }

  return {
    async countNextBatch(erasure, query) {
      const { organisationId } = erasure
      if ('voter' in query) {
        const erased = await countRows(database, 'signals where organisation_id = ? and voter = ?', [
          organisationId,
          query.voter,
        ])
        return { ...erasure, erased, done: true }
      }
      if ('subject' in query) {
        const isStored = `(value is null or created_at >= (select kept_since from signal_retention))`
        const parameters = [organisationId, organisationId, query.subject]
        const erased = await countRows(database, `signal_subjects where ${isSubject} and ${isStored}`, parameters)
        return { ...erasure, erased, done: true }
      }
      const { matching, next } = await scanNext(erasure, query)
      return { ...next, erased: erasure.erased + matching.length }
    },

    async eraseNextBatch(erasure, query) {
      if ('voter' in query) return eraseSelected(erasure, await ofVoter(erasure, query))
      if ('subject' in query) return eraseSelected(erasure, await onSubject(erasure, query), withdrawn(erasure, query))
      const { matching, next } = await scanNext(erasure, query)
      const found = [...erasure.found, ...matching]
      if (found.length < maxRemoved && !next.done) return { ...next, found }
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

/** Leaves requests half of the time, every few milliseconds: comparing one batch of large metadata takes hundreds. */
async function filterInSlices(rows: Row[], isMatch: (row: Row) => boolean): Promise<Row[]> {
  const matching: Row[] = []
  let sliceEnd = performance.now() + sliceMs
  for (const row of rows) {
    if (isMatch(row)) matching.push(row)
    if (performance.now() < sliceEnd) continue
    await delay(sliceMs)
    sliceEnd = performance.now() + sliceMs
  }
  return matching
}
