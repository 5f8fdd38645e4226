import type { SignalToRecord } from '../../domain/signals/signal.ts'
import { hourStart, type Instant, monthStart } from '../../domain/time.ts'
import type { TypedColumn } from '../sql/database.ts'
import { batchInput, batchParameters } from './batch-columns.ts'
import { type ReservedUsage, reservedResult, reserveUsage } from './monthly-limit.ts'

/** A signal with the ID it will be stored under. */
export interface NumberedSignal {
  id: number
  signal: SignalToRecord
}

/** The statement's result. `place` is the position in the input, counted from 1. */
export interface RecordResult {
  /** The organisations and months whose signals are stored: all of them, except those with a known key. */
  reserved: ReservedUsage[] | null
  known: KnownKey[] | null
}

/** An idempotency key that was used before. `status` is that of the first response, null for 201. */
export interface KnownKey {
  place: number
  id: number
  createdAt: Instant
  fingerprint: string
  status: number | null
}

const columns: TypedColumn[] = [
  { name: 'id', type: 'bigint' },
  { name: 'organisation_id', type: 'bigint' },
  { name: 'prompt_id', type: 'bigint' },
  { name: 'created_at', type: 'bigint' },
  { name: 'month', type: 'bigint' },
  { name: 'hour', type: 'bigint' },
  { name: 'month_limit', type: 'bigint' },
  { name: 'value', type: 'text' },
  { name: 'metadata', type: 'text' },
  { name: 'key', type: 'text' },
  { name: 'fingerprint', type: 'text' },
]

/**
 * Records a batch of signals without details (detailed-statement.ts records the others) in a single statement, so in one round
 * trip and one transaction. An organisation's signals are stored all together or, if they exceed its monthly limit, not at all. The
 * caller then retries with as many as fit.
 */
export const recordSql = `
with input as materialized (select * from ${batchInput(columns)}),
known as materialized (
  select i.place, k.fingerprint, k.signal_id, k.created_at, k.status
  from input i join idempotency_keys k on k.organisation_id = i.organisation_id and k.key = i.key
),
fresh as not materialized (
  select * from input where place not in (select place from known)
),
${reserveUsage('fresh')},
granted as materialized (
  select fresh.* from fresh join reserved using (organisation_id, month)
),
stored as (
  insert into signals (id, organisation_id, prompt_id, value, metadata, created_at)
  select id, organisation_id, prompt_id, value, metadata, created_at from granted
),
hours as (
  insert into signal_hours as hours (organisation_id, prompt_id, hour, positive, negative)
  select organisation_id, prompt_id, hour, count(*) filter (where value = 'positive'),
    count(*) filter (where value = 'negative')
  from granted group by organisation_id, prompt_id, hour order by organisation_id, prompt_id, hour
  on conflict (organisation_id, prompt_id, hour) do update
    set positive = hours.positive + excluded.positive, negative = hours.negative + excluded.negative
),
keys as (
  insert into idempotency_keys (organisation_id, key, fingerprint, signal_id, created_at)
  select organisation_id, key, fingerprint, id, created_at from granted where key is not null
  order by organisation_id, key
)
select
  ${reservedResult},
  (select json_agg(json_build_object('place', place, 'id', signal_id, 'createdAt', created_at,
    'fingerprint', fingerprint, 'status', status)) from known) as known`

/** Finds which signals of a batch are already stored. */
export const findStoredSql = (condition: string) => `
select id, used
from json_to_recordset($1) as input (id bigint, organisation_id bigint, prompt_id bigint, created_at bigint, month bigint)
  join signals using (organisation_id, prompt_id, created_at, id)
  join signal_usage using (organisation_id, month) ${condition}`

/** The parameters of `recordSql`. */
export function recordParameters(signals: NumberedSignal[]): string[] {
  return batchParameters(
    columns,
    signals.map(({ id, signal }) => {
      const { organisationId, promptId, value, metadata, createdAt, limit, idempotency } = signal
      return {
        id,
        organisation_id: organisationId,
        prompt_id: promptId,
        created_at: createdAt,
        month: monthStart(createdAt),
        hour: hourStart(createdAt),
        month_limit: limit,
        value,
        metadata,
        key: idempotency?.key,
        fingerprint: idempotency?.fingerprint,
      }
    }),
  )
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
