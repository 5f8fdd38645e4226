import type { SignalImportAudit, SignalStore } from '../../domain/signals/signal.ts'
import { hourStart, type Instant, monthStart } from '../../domain/time.ts'
import { auditEntry } from './audit-chain.ts'
import { type Database, type Statement, statement, type TypedColumn } from './database.ts'
import { receivedAt } from './vote.ts'

const columns: TypedColumn[] = [
  { name: 'line', type: 'bigint' },
  { name: 'organisation_id', type: 'bigint' },
  { name: 'prompt_id', type: 'bigint' },
  { name: 'value', type: 'text' },
  { name: 'metadata', type: 'text' },
  { name: 'created_at', type: 'bigint' },
  { name: 'version', type: 'text' },
  { name: 'voter', type: 'text' },
  { name: 'comment', type: 'text' },
  { name: 'received_at', type: 'bigint' },
  { name: 'trace_id', type: 'text' },
  { name: 'month', type: 'bigint' },
  { name: 'hour', type: 'bigint' },
]

/** `preparePartitions` creates the partitions for these months, if the engine uses any. */
export function sqlSignalImport(
  database: Database,
  preparePartitions: (months: Iterable<Instant>) => Promise<void>,
): SignalStore['import'] {
  return async (batches, audit) => {
    let imported = 0
    const months = new Set<Instant>()
    async function* rows() {
      for await (const signals of batches) {
        yield signals.map(({ organisationId, promptId, value, metadata, createdAt, details }) => {
          const occurredAt = details?.occurredAt ?? createdAt
          months.add(monthStart(occurredAt))
          return [
            ...[imported++, organisationId, promptId, value, metadata, occurredAt],
            ...[details?.version ?? null, details?.voter ?? null, details?.comment ?? null],
            ...[receivedAt({ occurredAt, createdAt }), details?.traceId ?? null],
            ...[monthStart(createdAt), hourStart(occurredAt)],
          ]
        })
      }
    }
    await database.stage({
      columns,
      batches: rows(),
      targets: ['signals', 'signal_hours', 'version_hours'],
      statements: async () => {
        await preparePartitions(months)
        const noted = audit === undefined || imported === 0 ? [] : [importEntry(audit, imported)]
        return [insertStaged, countStaged, addStagedToHours, addStagedToVersions, ...noted]
      },
    })
    return { imported }
  }
}

function importEntry({ prompt, at, by }: SignalImportAudit, signals: number): Statement {
  const { organisationId, publicId, name } = prompt
  const subject = { id: publicId, name }
  return auditEntry({ organisationId, by, at, action: 'signals.imported', subject, details: { signals } })
}

// Runs after the signals, to keep the lock on signal_usage short, and before the hours, in the same lock order as the signal batch.
const countStaged: Statement = statement(
  `insert into signal_usage (organisation_id, month, used)
   select organisation_id, month, count(*) from staged group by organisation_id, month order by organisation_id, month
   on conflict (organisation_id, month) do update set used = signal_usage.used + excluded.used`,
)

const insertStaged: Statement = statement(
  `insert into signals
     (organisation_id, prompt_id, value, metadata, created_at, version, voter, comment, received_at, trace_id)
   select organisation_id, prompt_id, value, metadata, created_at, version, voter, comment, received_at, trace_id
   from staged order by line`,
)

const addStagedToHours: Statement = statement(
  `insert into signal_hours (organisation_id, prompt_id, hour, positive, negative)
   select organisation_id, prompt_id, hour, sum(case value when 'positive' then 1 else 0 end),
     sum(case value when 'negative' then 1 else 0 end)
   from staged group by organisation_id, prompt_id, hour order by organisation_id, prompt_id, hour
   on conflict (organisation_id, prompt_id, hour) do update set
     positive = signal_hours.positive + excluded.positive, negative = signal_hours.negative + excluded.negative`,
)

const addStagedToVersions: Statement = statement(
  `insert into version_hours (organisation_id, prompt_id, version, hour, positive, negative)
   select organisation_id, prompt_id, version, hour, sum(case value when 'positive' then 1 else 0 end),
     sum(case value when 'negative' then 1 else 0 end)
   from staged where version is not null
   group by organisation_id, prompt_id, version, hour order by organisation_id, prompt_id, version, hour
   on conflict (organisation_id, prompt_id, version, hour) do update set
     positive = version_hours.positive + excluded.positive, negative = version_hours.negative + excluded.negative`,
)
