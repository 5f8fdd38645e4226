import type { SignalToRecord } from '../../domain/signals/signal.ts'
import { hourStart, type Instant, monthStart } from '../../domain/time.ts'
import { reserveUsage } from './monthly-limit.ts'

/** A signal with the ID it will be stored under. */
export interface NumberedSignal {
  id: number
  signal: SignalToRecord
}

/** The statement's result. `place` is the position in the input, counted from 1. */
export interface RecordResult {
  granted: { place: number; used: number }[] | null
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

/**
 * Records a batch of signals without details (detailed-statement.ts records the others) in a single statement, so in one round trip and one transaction. An organisation's signals are stored all
 * together or, if they exceed its monthly limit, not at all. The caller then retries with as many as fit.
 *
 * Input and result are one JSON value each: for a batch of 30, that costs this process half as much as an array per column and a
 * row per result.
 */
export const recordSql = `
with input as materialized (
  select * from rows from (json_to_recordset($1) as (id bigint, organisation_id bigint, prompt_id bigint, value text,
    metadata text, created_at bigint, month bigint, hour bigint, month_limit bigint, key text, fingerprint text))
    with ordinality as input
    (id, organisation_id, prompt_id, value, metadata, created_at, month, hour, month_limit, key, fingerprint, place)
),
known as materialized (
  select i.place, k.fingerprint, k.signal_id, k.created_at, k.status
  from input i join idempotency_keys k on k.organisation_id = i.organisation_id and k.key = i.key
),
fresh as materialized (
  select * from input where place not in (select place from known)
),
${reserveUsage('fresh')},
granted as materialized (
  select used, fresh.* from fresh join reserved using (organisation_id, month)
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
  (select json_agg(json_build_object('place', place, 'used', used)) from granted) as granted,
  (select json_agg(json_build_object('place', place, 'id', signal_id, 'createdAt', created_at,
    'fingerprint', fingerprint, 'status', status)) from known) as known`

/** Finds which signals of a batch are already stored. */
export const findStoredSql = `
select id, used
from json_to_recordset($1) as input (id bigint, organisation_id bigint, prompt_id bigint, created_at bigint, month bigint)
  join signals using (organisation_id, prompt_id, created_at, id)
  join signal_usage using (organisation_id, month)`

/** The parameter `$1` of both statements. */
export function toInputJson(signals: NumberedSignal[]): string {
  return JSON.stringify(signals.map(toInput))
}

function toInput({ id, signal }: NumberedSignal) {
  const { organisationId, promptId, value, metadata, createdAt, limit, details, idempotency } = signal
  return {
    id,
    organisation_id: organisationId,
    prompt_id: promptId,
    value,
    metadata,
    // Only `findStoredSql` gets signals with details.
    created_at: details?.occurredAt ?? createdAt,
    month: monthStart(createdAt),
    hour: hourStart(createdAt),
    month_limit: limit,
    key: idempotency?.key,
    fingerprint: idempotency?.fingerprint,
  }
}
