import type { RecordOutcome, SignalToRecord, SignalValue } from '../../domain/signals/signal.ts'
import { hourStart, monthStart } from '../../domain/time.ts'
import type { SqliteDatabase } from './database.ts'
import { monthlyLimit, reserveUsage, type Usage } from './monthly-limit.ts'

interface Hour {
  organisationId: number
  promptId: number
  hour: number
  positive: number
  negative: number
}

/** Records signals in order of arrival, all in one transaction. */
export function recordBatch(database: SqliteDatabase): (signals: SignalToRecord[]) => Promise<RecordOutcome[]> {
  const findKey = database.prepare(
    'select fingerprint, signal_id, created_at from idempotency_keys where organisation_id = ? and key = ?',
  )
  const { readUsage, saveUsage } = monthlyLimit(database)
  const insertSignal = database.prepare(
    'insert into signals (organisation_id, prompt_id, value, metadata, created_at) values (?, ?, ?, ?, ?)',
  )
  const insertKey = database.prepare(
    'insert into idempotency_keys (organisation_id, key, fingerprint, signal_id, created_at) values (?, ?, ?, ?, ?)',
  )
  const addToHour = database.prepare(
    `insert into signal_hours (organisation_id, prompt_id, hour, positive, negative) values (?, ?, ?, ?, ?)
     on conflict do update set positive = positive + excluded.positive, negative = negative + excluded.negative`,
  )

  return (signals) =>
    database.transaction(() => {
      const usages = new Map<string, Usage>()
      const hours = new Map<string, Hour>()

      function usageOf(signal: SignalToRecord): Usage {
        const key = `${signal.organisationId} ${monthStart(signal.createdAt)}`
        return getOrAdd(usages, key, () => readUsage(signal))
      }

      function hourOf({ organisationId, promptId, createdAt }: SignalToRecord): Hour {
        const hour = hourStart(createdAt)
        return getOrAdd(hours, `${promptId} ${hour}`, () => {
          return { organisationId, promptId, hour, positive: 0, negative: 0 }
        })
      }

      function record(signal: SignalToRecord): RecordOutcome {
        const { organisationId, promptId, value, metadata, createdAt, limit, idempotency } = signal
        if (idempotency !== null) {
          const known = findKey.get(organisationId, idempotency.key)
          if (known !== undefined) {
            if (known.fingerprint !== idempotency.fingerprint) return { kind: 'key_reused' }
            return {
              kind: 'repeated',
              id: known.signal_id as number,
              createdAt: known.created_at as number,
              original: 'recorded',
            }
          }
        }
        const usage = usageOf(signal)
        if (!reserveUsage(usage, limit)) return { kind: 'over_limit', used: usage.used }
        hourOf(signal)[value as SignalValue]++
        const id = insertSignal.run(organisationId, promptId, value, metadata, createdAt).lastInsertRowid as number
        if (idempotency !== null) {
          insertKey.run(organisationId, idempotency.key, idempotency.fingerprint, id, createdAt)
        }
        return { kind: 'recorded', id, createdAt, used: usage.used }
      }

      const outcomes = signals.map(record)
      for (const usage of usages.values()) saveUsage(usage)
      for (const { organisationId, promptId, hour, positive, negative } of hours.values()) {
        addToHour.run(organisationId, promptId, hour, positive, negative)
      }
      return outcomes
    })
}

function getOrAdd<Value>(map: Map<string, Value>, key: string, create: () => Value): Value {
  let value = map.get(key)
  if (value === undefined) {
    value = create()
    map.set(key, value)
  }
  return value
}
