import type { SignalToRecord } from '../../domain/signals/signal.ts'
import { type Instant, monthStart } from '../../domain/time.ts'
import type { SqliteDatabase } from './database.ts'

/** What an organisation has used in a month, including the signals of the current batch. */
export interface Usage {
  organisationId: number
  month: Instant
  before: number
  used: number
  limit: number | null
}

/** Counts one more signal towards the month. False if the limit is reached. */
export function reserveUsage(usage: Usage, limit: number | null): boolean {
  if (limit !== null && usage.used >= limit) return false
  usage.used++
  usage.limit = limit
  return true
}

/**
 * Enforces the monthly limit. The limit is exact across processes: a batch reads and writes `used` in one `begin immediate`
 * transaction, and SQLite allows only one of those at a time.
 */
export function monthlyLimit(database: SqliteDatabase) {
  const findUsage = database.prepare('select used from signal_usage where organisation_id = ? and month = ?')
  const setUsage = database.prepare(
    `insert into signal_usage (organisation_id, month, used, month_limit) values (?, ?, ?, ?)
     on conflict do update set used = excluded.used, month_limit = excluded.month_limit`,
  )
  return {
    readUsage({ organisationId, createdAt, limit }: SignalToRecord): Usage {
      const month = monthStart(createdAt)
      const used = (findUsage.get(organisationId, month)?.used ?? 0) as number
      return { organisationId, month, before: used, used, limit }
    },

    saveUsage({ organisationId, month, before, used, limit }: Usage): void {
      if (used > before) setUsage.run(organisationId, month, used, limit)
    },
  }
}
