import type { RecordOutcome, SignalToRecord } from '../../domain/signal.ts'
import { hourStart, type Instant, monthStart } from '../../domain/time.ts'
import type { PostgresDatabase } from './database.ts'

/**
 * Everything in one statement, so in one round trip and one transaction. An organisation's signals are taken all
 * together or, where they do not fit below its limit any more, not at all; the caller then asks for as many as fit. The
 * row of signal_usage is locked first, which makes processes that write for one organisation take turns.
 */
const recordSql = `
with input as materialized (
  select * from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[],
    $8::bigint[], $9::text[], $10::text[]) with ordinality as input
    (organisation_id, prompt_id, value, metadata, created_at, month, hour, month_limit, key, fingerprint, place)
),
known as materialized (
  select i.place, k.fingerprint, k.signal_id, k.created_at
  from input i join idempotency_keys k on k.organisation_id = i.organisation_id and k.key = i.key
),
fresh as materialized (
  select * from input where place not in (select place from known)
),
reserved as (
  insert into signal_usage as usage (organisation_id, month, used, month_limit)
  select organisation_id, month, count(*), max(month_limit) from fresh
  group by organisation_id, month having count(*) <= max(month_limit) order by organisation_id, month
  on conflict (organisation_id, month) do update
    set used = usage.used + excluded.used, month_limit = excluded.month_limit
    where usage.used + excluded.used <= excluded.month_limit
  returning organisation_id, month
),
granted as materialized (
  select nextval('signal_ids') as id, fresh.* from fresh join reserved using (organisation_id, month) order by place
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
select granted.id, known.signal_id as known_id, known.created_at as known_at, known.fingerprint as known_fingerprint,
  coalesce(usage.used, 0) as used
from input left join granted using (place) left join known using (place)
  left join signal_usage usage on usage.organisation_id = input.organisation_id and usage.month = input.month
order by place`

interface Answer {
  id: number | null
  known_id: number | null
  known_at: number | null
  known_fingerprint: string | null
  /** As it was before the statement. */
  used: number
}

interface Place {
  signal: SignalToRecord
  outcome: RecordOutcome | null
}

export function recordBatch(
  database: PostgresDatabase,
  prepareMonths: (months: Iterable<Instant>) => Promise<void>,
): (signals: SignalToRecord[]) => Promise<RecordOutcome[]> {
  return async (signals) => {
    await prepareMonths(signals.map(({ createdAt }) => monthStart(createdAt)))
    const places: Place[] = signals.map((signal) => ({ signal, outcome: null }))
    const room = new Map<string, number>()
    let open = places
    while (open.length > 0) {
      const round = nextRound(open, room)
      const answers = await ask(
        database,
        round.map(({ signal }) => signal),
      )
      for (const [i, place] of round.entries()) {
        const answer = answers[i] as Answer
        place.outcome = outcomeOf(place.signal, answer)
        if (place.outcome === null) room.set(quotaOf(place.signal), place.signal.limit - answer.used)
      }
      open = open.filter(({ outcome }) => outcome === null)
    }
    return places.map(({ outcome }) => outcome as RecordOutcome)
  }
}

/**
 * The signals to try next, in order of arrival: of those with the same idempotency key the first, since the others are
 * answered from what becomes of it; of an organisation near its limit no more than there was room for.
 */
function nextRound(open: Place[], room: Map<string, number>): Place[] {
  const keys = new Set<string>()
  const taken = new Map<string, number>()
  return open.filter(({ signal }) => {
    const quota = quotaOf(signal)
    const count = taken.get(quota) ?? 0
    if (count >= (room.get(quota) ?? Number.POSITIVE_INFINITY)) return false
    if (signal.idempotency !== null) {
      const key = `${signal.organisationId} ${signal.idempotency.key}`
      if (keys.has(key)) return false
      keys.add(key)
    }
    taken.set(quota, count + 1)
    return true
  })
}

function quotaOf({ organisationId, createdAt }: SignalToRecord): string {
  return `${organisationId} ${monthStart(createdAt)}`
}

/** Null where the signal did not fit together with the others of its round, but may fit with fewer. */
function outcomeOf({ limit, createdAt, idempotency }: SignalToRecord, answer: Answer): RecordOutcome | null {
  if (answer.id !== null) return { kind: 'recorded', id: answer.id, createdAt }
  if (answer.known_id !== null) {
    if (answer.known_fingerprint !== idempotency?.fingerprint) return { kind: 'key_reused' }
    return { kind: 'repeated', id: answer.known_id, createdAt: answer.known_at as number }
  }
  return answer.used >= limit ? { kind: 'over_limit', used: answer.used } : null
}

const uniqueViolation = '23505'
const deadlock = '40P01'
const serializationFailure = '40001'

async function ask(database: PostgresDatabase, signals: SignalToRecord[]): Promise<Answer[]> {
  const values = [
    signals.map(({ organisationId }) => organisationId),
    signals.map(({ promptId }) => promptId),
    signals.map(({ value }) => value),
    signals.map(({ metadata }) => metadata),
    signals.map(({ createdAt }) => createdAt),
    signals.map(({ createdAt }) => monthStart(createdAt)),
    signals.map(({ createdAt }) => hourStart(createdAt)),
    signals.map(({ limit }) => limit),
    signals.map(({ idempotency }) => idempotency?.key ?? null),
    signals.map(({ idempotency }) => idempotency?.fingerprint ?? null),
  ]
  for (;;) {
    try {
      return (await database.query(recordSql, values)) as unknown as Answer[]
    } catch (error) {
      // Another process stored one of the idempotency keys at the same moment: by now the statement sees it.
      if (!isConflict(error)) throw error
    }
  }
}

function isConflict(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === uniqueViolation || code === deadlock || code === serializationFailure
}
