import type { SignalImport, SignalStore } from '../../domain/signals/signal.ts'
import { hour, hourStart, type Instant, monthStart } from '../../domain/time.ts'
import { auditOf } from './audit-chain.ts'
import { type ColumnTypes, type Database, type Row, requireRow, type Statement, statement } from './database.ts'
import { increaseRevision } from './hour-revisions.ts'
import { queueAllForJudge } from './judge-queue.ts'
import { addToSums } from './sum-changes.ts'

/** What an engine adds to the shared statements. */
interface ImportEngine {
  /** Creates the partitions for these months, if the engine uses any. */
  preparePartitions(months: Iterable<Instant>): Promise<void>
  /** An expression for a new signal ID in a statement that reads or updates `staged`. */
  newSignalId: string
  /** The ID of the vote that replaces one, in a statement that updates `votes` from `staged`. */
  replacingVoteId: string
  /** How to lock the rows of votes, for an engine with several writers. Citus locks joined rows only by changing them. */
  readonly rowLock: 'for update' | 'update' | ''
}

const columns: ColumnTypes = {
  line: 'bigint',
  organisation_id: 'bigint',
  prompt_id: 'bigint',
  value: 'text',
  metadata: 'text',
  created_at: 'bigint',
  version: 'text',
  subject: 'text',
  voter: 'text',
  comment: 'text',
  received_at: 'bigint',
  trace_id: 'text',
  month: 'bigint',
  hour: 'bigint',
  // Null for a vote that is not counted again.
  counted: 'bigint',
}

/** Set for lines with a subject only. `old_…` is the vote that is replaced, `old_value` what the sums contain of it. */
const voteColumns: ColumnTypes = {
  signal_id: 'bigint',
  vote_id: 'bigint',
  old_value: 'text',
  old_version: 'text',
  old_created_at: 'bigint',
}

const noVote = Object.keys(voteColumns).map(() => null)

export function sqlSignalImport(database: Database, engine: ImportEngine): SignalStore['import'] {
  return async (batches, audit) => {
    let lines = 0
    let hasSubjects = false
    let result: SignalImport = { imported: 0, replaced: 0 }
    const months = new Set<Instant>()
    async function* rows() {
      for await (const signals of batches) {
        yield signals.map(({ organisationId, promptId, value, metadata, createdAt, details }) => {
          const occurredAt = details?.occurredAt ?? createdAt
          months.add(monthStart(occurredAt))
          hasSubjects ||= details?.subject != null
          return [
            ...[lines++, organisationId, promptId, value, metadata, occurredAt],
            ...[details?.version ?? null, details?.subject ?? null, details?.voter ?? null, details?.comment ?? null],
            ...[createdAt, details?.traceId ?? null, monthStart(createdAt), hourStart(occurredAt), 1],
            ...noVote,
          ]
        })
      }
    }

    function noteResult(rows: Row[]): Statement[] {
      const { imported, stored } = requireRow(rows)
      result = { imported: imported as number, replaced: (stored as number) - (imported as number) }
      if (audit === undefined || stored === 0) return []
      return [auditOf(audit.prompt, 'signals.imported', audit.at, audit.by, { signals: stored as number })]
    }

    await database.stage({
      columns: { ...columns, ...voteColumns },
      batches: rows(),
      targets: ['signals', 'signal_hours', 'version_hours', 'signal_subjects'],
      statements: async () => {
        await engine.preparePartitions(months)
        return [
          ...(hasSubjects ? stageVotes(database, engine) : []),
          insertStaged(engine),
          countStaged,
          addStagedToHours,
          addStagedToVersions(database),
          increaseStagedRevisions,
          ...(hasSubjects ? [updateVotes(engine)] : []),
          statement(queueAllForJudge('staged')),
          { ...countResult, andThen: noteResult },
        ]
      },
    })
    return result
  }
}

const isSameSubject = `votes.organisation_id = staged.organisation_id and votes.prompt_id = staged.prompt_id
  and votes.subject = staged.subject`

/**
 * Leaves the last line on each subject, and finds or creates its vote. Votes are locked before anything else and in the order of
 * the signal batch, which therefore can neither change them during the import nor wait for it in a circle.
 */
function stageVotes({ byteOrder }: Database, { newSignalId, rowLock }: ImportEngine): Statement[] {
  const inOrder = `order by staged.organisation_id, staged.prompt_id, staged.subject ${byteOrder}`
  const lockVotes = statement(
    rowLock === 'update'
      ? `update signal_subjects as votes set vote_id = votes.vote_id from staged where ${isSameSubject}`
      : `select count(*) from (
       select 1 from staged join signal_subjects votes on ${isSameSubject} ${inOrder} ${rowLock && `${rowLock} of votes`}
     ) locked`,
  )
  const keptSince = '(select kept_since from signal_retention)'
  const isKept = `(votes.received_at >= ${keptSince} or votes.created_at >= ${keptSince})`
  return [
    statement(
      `delete from staged where line in (
         select line from (
           select line, max(line) over (partition by organisation_id, prompt_id, subject) as last_line
           from staged where subject is not null
         ) lines where line < last_line)`,
    ),
    statement(`update staged set vote_id = ${newSignalId} where subject is not null`),
    lockVotes,
    statement(
      `insert into signal_subjects
         (organisation_id, prompt_id, subject, signal_id, vote_id, value, version, created_at, received_at)
       select organisation_id, prompt_id, subject, vote_id, vote_id, value, version, created_at, received_at
       from staged where subject is not null ${inOrder}
       on conflict (organisation_id, prompt_id, subject) do nothing`,
    ),
    // Another process may have stored some of them since.
    lockVotes,
    statement(
      `update staged set signal_id = votes.signal_id, old_created_at = votes.created_at,
         old_version = votes.version,
         old_value = case when ${isKept} then votes.value end,
         received_at = case when ${isKept} then votes.received_at else staged.received_at end,
         counted = case when ${isKept} then null else 1 end
       from signal_subjects votes where ${isSameSubject} and votes.signal_id <> staged.vote_id`,
    ),
    statement(
      `delete from signals where (organisation_id, prompt_id, created_at, id) in (
         select organisation_id, prompt_id, old_created_at, signal_id from staged where old_created_at is not null)`,
    ),
  ]
}

// Runs after the signals, to keep the lock on signal_usage short, and before the hours, in the same lock order as the signal batch.
const countStaged: Statement = statement(
  `insert into signal_usage (organisation_id, month, used)
   select organisation_id, month, count(*) from staged where counted = 1
   group by organisation_id, month order by organisation_id, month
   on conflict (organisation_id, month) do update set used = signal_usage.used + excluded.used`,
)

const insertStaged = ({ newSignalId }: ImportEngine): Statement =>
  statement(
    `insert into signals (id, organisation_id, prompt_id, value, metadata, created_at, version, subject, voter, comment,
       received_at, trace_id)
     select coalesce(signal_id, vote_id, ${newSignalId}), organisation_id, prompt_id, value, metadata, created_at, version, subject,
       voter, comment, nullif(received_at, created_at), trace_id
     from staged order by line`,
  )

const updateVotes = ({ replacingVoteId }: ImportEngine): Statement =>
  statement(
    `update signal_subjects as votes set vote_id = ${replacingVoteId}, value = staged.value, version = staged.version,
       created_at = staged.created_at, received_at = staged.received_at
     from staged where ${isSameSubject} and staged.signal_id is not null`,
  )

/** What the import adds to sums, and what it takes from them because a vote was replaced. */
const changes = `(
  select organisation_id, prompt_id, version, hour, value, 1 as count from staged
  union all
  select organisation_id, prompt_id, old_version, old_created_at - old_created_at % ${hour}, old_value, -1
  from staged where old_value is not null
) changes`

const sums = `sum(case value when 'positive' then count else 0 end), sum(case value when 'negative' then count else 0 end)`

const addStagedToHours: Statement = statement(
  addToSums(
    'signal_hours',
    `select organisation_id, prompt_id, hour, ${sums} from ${changes}
     group by organisation_id, prompt_id, hour order by organisation_id, prompt_id, hour`,
  ),
)

const addStagedToVersions = ({ byteOrder }: Database): Statement =>
  statement(
    addToSums(
      'version_hours',
      `select organisation_id, prompt_id, version, hour, ${sums} from ${changes} where version is not null
       group by organisation_id, prompt_id, version, hour order by organisation_id, prompt_id, version ${byteOrder}, hour`,
    ),
  )

const increaseStagedRevisions: Statement = statement(
  `insert into hour_revisions (organisation_id, prompt_id, revision)
   select organisation_id, prompt_id, 1 from staged where true group by organisation_id, prompt_id
   order by organisation_id, prompt_id ${increaseRevision}`,
)

const countResult: Statement = statement('select count(counted) as imported, count(*) as stored from staged')
