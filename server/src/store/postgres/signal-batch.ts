import { setTimeout as pause } from 'node:timers/promises'
import type { RecordOutcome, SignalToRecord } from '../../domain/signals/signal.ts'
import { hourStart, type Instant, monthStart } from '../../domain/time.ts'
import { type PostgresDatabase, UnknownOutcome } from './database.ts'
import type { PrepareMonths } from './months.ts'
import { signalIds } from './signal-ids.ts'

/**
 * Everything in one statement, so in one round trip and one transaction. An organisation's signals are taken all
 * together or, where they do not fit below its limit any more, not at all; the caller then asks for as many as fit. The
 * row of signal_usage is locked first, which makes processes that write for one organisation take turns.
 *
 * The signals go in and the answers come out as one JSON value each: for a batch of 30 that costs this process half of
 * what an array for each column and a row for each answer do.
 */
const recordSql = `
with input as materialized (
  select * from rows from (json_to_recordset($1) as (id bigint, organisation_id bigint, prompt_id bigint, value text,
    metadata text, created_at bigint, month bigint, hour bigint, month_limit bigint, key text, fingerprint text))
    with ordinality as input
    (id, organisation_id, prompt_id, value, metadata, created_at, month, hour, month_limit, key, fingerprint, place)
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
  returning organisation_id, month, used
),
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
    'fingerprint', fingerprint)) from known) as known`

const findSql = `
select id, used
from json_to_recordset($1) as input (id bigint, organisation_id bigint, prompt_id bigint, created_at bigint, month bigint)
  join signals using (organisation_id, prompt_id, created_at, id)
  join signal_usage using (organisation_id, month)`

/** Places are counted from 1. */
interface Answer {
  granted: { place: number; used: number }[] | null
  known: { place: number; id: number; createdAt: Instant; fingerprint: string }[] | null
}

interface Place {
  id: number
  signal: SignalToRecord
  outcome: RecordOutcome | null
}

// Milliseconds. PostgreSQL is back by then, or whoever waits should be told something.
const patience = 5_000
const pauseBetweenTries = 50

export function recordBatch(
  database: PostgresDatabase,
  prepareMonths: PrepareMonths,
): (signals: SignalToRecord[]) => Promise<RecordOutcome[]> {
  const ids = signalIds(database)

  return async (signals) => {
    const drawn = await ids.draw(signals.length)
    const places: Place[] = signals.map((signal, i) => ({ id: drawn[i] as number, signal, outcome: null }))
    await prepareMonths(monthsOf(places))
    const room = new Map<string, number>()
    // Set once it is not known any more whether some are stored: they have to be looked for, however often it takes.
    let deadline: number | null = null
    let unsure = false
    for (let open = places; open.length > 0; open = open.filter(({ outcome }) => outcome === null)) {
      try {
        if (unsure) {
          await settleStored(database, open)
          unsure = false
          continue
        }
        const round = nextRound(open, room)
        settle(round, await ask(database, round, prepareMonths))
        const refused = round.filter(({ outcome }) => outcome === null)
        if (refused.length > 0) await settleRefused(database, refused, room, deadline !== null)
      } catch (error) {
        const nothingStored = places.every(({ outcome }) => outcome === null) && !(error instanceof UnknownOutcome)
        if (deadline === null && nothingStored) throw error
        ids.forget()
        deadline ??= performance.now() + patience
        if (performance.now() > deadline) throw error
        unsure = true
        await pause(pauseBetweenTries)
      }
    }
    return places.map(({ outcome }) => outcome as RecordOutcome)
  }
}

/**
 * Those that are stored after all. One that is not may still be under way on a connection that broke: it is sent again with the
 * same id, of which PostgreSQL stores only one.
 */
async function settleStored(database: PostgresDatabase, open: Place[]): Promise<void> {
  const found = await database.query(findSql, [toJson(open)])
  const used = new Map(found.map((row) => [row.id as number, row.used as number]))
  for (const place of open.filter(({ id }) => used.has(id))) {
    const { id, signal } = place
    place.outcome = { kind: 'recorded', id, createdAt: signal.createdAt, used: used.get(id) as number }
  }
}

/**
 * The signals to try next, in order of arrival: of those with the same idempotency key the first, since the others are
 * answered from what becomes of it; of an organisation near its limit no more than there was room for; and only signals
 * that go by the same limit, which differ when the plan was changed while some were waiting.
 */
function nextRound(open: Place[], room: Map<string, number>): Place[] {
  const keys = new Set<string>()
  const taken = new Map<string, { count: number; limit: number }>()
  return open.filter(({ signal }) => {
    const usage = usageOf(signal)
    const { count, limit } = taken.get(usage) ?? { count: 0, limit: signal.limit }
    if (signal.limit !== limit || count >= (room.get(usage) ?? Number.POSITIVE_INFINITY)) return false
    if (signal.idempotency !== null) {
      const key = `${signal.organisationId} ${signal.idempotency.key}`
      if (keys.has(key)) return false
      keys.add(key)
    }
    taken.set(usage, { count: count + 1, limit })
    return true
  })
}

/** Names the organisation's count for the month that the signal belongs to. */
function usageOf({ organisationId, createdAt }: SignalToRecord): string {
  return `${organisationId} ${monthStart(createdAt)}`
}

function settle(round: Place[], { granted, known }: Answer): void {
  for (const { place, used } of granted ?? []) {
    const { id, signal } = at(round, place)
    at(round, place).outcome = { kind: 'recorded', id, createdAt: signal.createdAt, used }
  }
  for (const { place, id, createdAt, fingerprint } of known ?? []) {
    const same = at(round, place).signal.idempotency?.fingerprint === fingerprint
    at(round, place).outcome = same ? { kind: 'repeated', id, createdAt } : { kind: 'key_reused' }
  }
}

function at(round: Place[], place: number): Place {
  return round[place - 1] as Place
}

/**
 * Over the limit, unless the signal only did not fit together with the others: then notes how many do. Where a connection broke
 * before, the limit may have been used up by these very signals, in the end.
 */
async function settleRefused(
  database: PostgresDatabase,
  refused: Place[],
  room: Map<string, number>,
  mayBeStored: boolean,
): Promise<void> {
  for (const [usage, places] of Map.groupBy(refused, ({ signal }) => usageOf(signal))) {
    const { organisationId, createdAt, limit } = (places[0] as Place).signal
    const [row] = await database.rows('select used from signal_usage where organisation_id = ? and month = ?', [
      organisationId,
      monthStart(createdAt),
    ])
    const used = (row?.used ?? 0) as number
    if (used < limit) {
      room.set(usage, limit - used)
      continue
    }
    room.delete(usage)
    if (mayBeStored) await settleStored(database, places)
    for (const place of places) place.outcome ??= { kind: 'over_limit', used }
  }
}

const uniqueViolation = '23505'
const deadlock = '40P01'
const serializationFailure = '40001'
// Of all that is checked, signals can only miss their partition.
const checkViolation = '23514'
const mostTries = 10

async function ask(database: PostgresDatabase, round: Place[], prepareMonths: PrepareMonths): Promise<Answer> {
  const input = toJson(round)
  for (let tries = 1; ; tries++) {
    try {
      const [answer] = await database.attempt(recordSql, [input])
      return answer as unknown as Answer
    } catch (error) {
      // Another process was at the same rows at the same moment, an idempotency key mostly: by now the statement sees it.
      if (!isConflict(error) || tries === mostTries) throw error
      // The clock went back to a month that was removed because it was long ago.
      if (codeOf(error) === checkViolation) await prepareMonths(monthsOf(round), true)
    }
  }
}

function toJson(places: Place[]): string {
  return JSON.stringify(places.map(toInput))
}

function toInput({ id, signal }: Place) {
  const { organisationId, promptId, value, metadata, createdAt, limit, idempotency } = signal
  return {
    id,
    organisation_id: organisationId,
    prompt_id: promptId,
    value,
    metadata,
    created_at: createdAt,
    month: monthStart(createdAt),
    hour: hourStart(createdAt),
    month_limit: limit,
    key: idempotency?.key,
    fingerprint: idempotency?.fingerprint,
  }
}

function monthsOf(places: Place[]): Instant[] {
  return places.map(({ signal }) => monthStart(signal.createdAt))
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

function isConflict(error: unknown): boolean {
  return [uniqueViolation, deadlock, serializationFailure, checkViolation].includes(codeOf(error) as string)
}
