import type { SignalToRecord, SignalValue } from '../../domain/signals/signal.ts'
import { type Instant, monthStart } from '../../domain/time.ts'
import type { TypedColumn } from '../sql/database.ts'
import { addToSums, createSumChanges } from '../sql/sum-changes.ts'
import { type BatchRow, batchInput, batchParameters } from './batch-columns.ts'
import { reserveUsage } from './monthly-limit.ts'

/** A signal with the ID it will be stored under. */
export interface NumberedSignal {
  id: number
  signal: SignalToRecord
}

/** An idempotency key that was used before. `status` is that of the first response, null for 201. */
export interface KnownKey {
  place: number
  id: number
  createdAt: Instant
  fingerprint: string
  status: number | null
}

const signalColumns: TypedColumn[] = [
  { name: 'id', type: 'bigint' },
  { name: 'organisation_id', type: 'bigint' },
  { name: 'prompt_id', type: 'bigint' },
  { name: 'created_at', type: 'bigint' },
  { name: 'month', type: 'bigint' },
  { name: 'is_positive', type: 'bigint' },
  { name: 'metadata', type: 'text' },
]

const usageColumns: TypedColumn[] = [
  { name: 'organisation_id', type: 'bigint' },
  { name: 'month', type: 'bigint' },
  { name: 'signals', type: 'bigint' },
  { name: 'month_limit', type: 'bigint' },
]

const hourColumns: TypedColumn[] = [
  { name: 'organisation_id', type: 'bigint' },
  { name: 'month', type: 'bigint' },
  { name: 'prompt_id', type: 'bigint' },
  { name: 'hour', type: 'bigint' },
  { name: 'positive', type: 'bigint' },
  { name: 'negative', type: 'bigint' },
]

const keyColumns: TypedColumn[] = [
  { name: 'organisation_id', type: 'bigint' },
  { name: 'month', type: 'bigint' },
  { name: 'signal_id', type: 'bigint' },
  { name: 'created_at', type: 'bigint' },
  { name: 'key', type: 'text' },
  { name: 'fingerprint', type: 'text' },
]

/** The parameters of the statement, in order. */
const tables = [signalColumns, usageColumns, hourColumns, keyColumns]

function rowsOf(columns: TypedColumn[]): string {
  const skipped = tables.slice(0, tables.indexOf(columns)).reduce((sum, { length }) => sum + length, 0)
  return batchInput(columns, undefined, skipped)
}

const ifReserved = 'where (organisation_id, month) in (select organisation_id, month from reserved)'

const keys = `,
keys as (
  insert into idempotency_keys (organisation_id, key, fingerprint, signal_id, created_at)
  select organisation_id, key, fingerprint, signal_id, created_at from ${rowsOf(keyColumns)} ${ifReserved}
  order by organisation_id, key
)`

/**
 * Records a batch of signals without details (detailed-statement.ts records the others) in a single statement, so in one round
 * trip and one transaction. An organisation's signals are stored all together or, if they exceed its monthly limit, not at all. The
 * caller then retries with as many as fit. It also does if the statement fails because an idempotency key is known, after it has
 * found out which.
 *
 * The sums are counted here, so that PostgreSQL only adds rows to tables: grouping and joining took a third of its time.
 */
const recordSql = (hasKeys: boolean) => `
with ${reserveUsage(rowsOf(usageColumns))},
stored as (
  insert into signals (id, organisation_id, prompt_id, value, metadata, created_at)
  select id, organisation_id, prompt_id, case is_positive when 1 then 'positive' else 'negative' end, metadata, created_at
  from ${rowsOf(signalColumns)} ${ifReserved}
),
hours as (
  ${addToSums(
    'signal_hours',
    `select organisation_id, prompt_id, hour, positive, negative from ${rowsOf(hourColumns)} ${ifReserved}
  order by organisation_id, prompt_id, hour`,
  )}
)${hasKeys ? keys : ''}
select organisation_id as organisation, month, used from reserved`

const recordPlainSql = recordSql(false)
const recordKeyedSql = recordSql(true)

/** Finds the idempotency keys of a batch that were used before. */
export const findKeysSql = `
select i.place, k.signal_id as id, k.created_at as "createdAt", k.fingerprint, k.status
from ${batchInput([
  { name: 'organisation_id', type: 'bigint' },
  { name: 'key', type: 'text' },
]).replace(' as input', ' as i')}
  join idempotency_keys k on k.organisation_id = i.organisation_id and k.key = i.key`

/** Finds which signals of a batch are already stored. */
export const findStoredSql = (condition: string) => `
select id, used
from json_to_recordset($1) as input (id bigint, organisation_id bigint, prompt_id bigint, created_at bigint, month bigint)
  join signals using (organisation_id, prompt_id, created_at, id)
  join signal_usage using (organisation_id, month) ${condition}`

/** The statement for these signals without details. */
export function recordStatement(signals: NumberedSignal[]): { sql: string; parameters: string[] } {
  const usage = new Map<string, BatchRow & { signals: number }>()
  const sums = createSumChanges()
  const keyRows: BatchRow[] = []
  const rows = signals.map(({ id, signal }): BatchRow => {
    const { organisationId: organisation_id, promptId: prompt_id, value, metadata, createdAt: created_at } = signal
    const month = monthStart(created_at)
    const usageOf = usage.get(`${organisation_id} ${month}`)
    if (usageOf !== undefined) usageOf.signals++
    else usage.set(`${organisation_id} ${month}`, { organisation_id, month, signals: 1, month_limit: signal.limit })
    // Only the withdrawal of a vote has no value, and a vote has details.
    sums.change(signal, value as SignalValue, null, created_at, 1)
    if (signal.idempotency !== null) {
      keyRows.push({ organisation_id, month, signal_id: id, created_at, ...signal.idempotency })
    }
    return { id, organisation_id, prompt_id, created_at, month, is_positive: value === 'positive' ? 1 : 0, metadata }
  })
  const parameters = [
    ...batchParameters(signalColumns, rows),
    ...batchParameters(usageColumns, [...usage.values()]),
    ...batchParameters(
      hourColumns,
      sums.all().map(({ organisationId: organisation_id, promptId: prompt_id, hour, positive, negative }) => {
        return { organisation_id, month: monthStart(hour), prompt_id, hour, positive, negative }
      }),
    ),
  ]
  if (keyRows.length === 0) return { sql: recordPlainSql, parameters }
  return { sql: recordKeyedSql, parameters: [...parameters, ...batchParameters(keyColumns, keyRows)] }
}

/** The parameter of `findStoredSql`. */
export function toStoredJson(signals: NumberedSignal[]): string {
  return JSON.stringify(
    signals.map(({ id, signal: { organisationId, promptId, createdAt, details } }) => ({
      id,
      organisation_id: organisationId,
      prompt_id: promptId,
      created_at: details?.occurredAt ?? createdAt,
      month: monthStart(createdAt),
    })),
  )
}
