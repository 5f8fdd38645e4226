import { type Instant, isoTime } from '../domain/time.ts'
import type { DatabaseReader } from './database.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

const secondMs = 1_000
const minuteMs = 60 * secondMs

// History entries are left out: their times come from git and can be any.
const newestRecord = `
select max(at) as at from (
  select max(created_at) as at from organisations
  union all select max(created_at) from api_keys
  union all select max(created_at) from prompts
  union all select max(received_at) from deliveries
  union all select max(at) from audit
  union all select max(s.created_at) from hour_sums h join signals s
    on s.organisation_id = h.organisation_id and s.prompt_id = h.prompt_id and s.created_at >= h.hour
    where h.hour = (select max(hour) from hour_sums)
) as newest`

/** Compares our clock with the server's and with the newest record. `migrated`: the tables can be queried. */
export async function checkClock(database: DatabaseReader, migrated: boolean, now: () => Instant): Promise<Finding> {
  const fix = 'Synchronise the clocks of the machines (NTP): monthly limits and the expiry of keys depend on them'
  const facts: string[] = [isoTime(now())]
  if (database.clock !== undefined) {
    const sentAt = now()
    const serverTime = await database.clock()
    const receivedAt = now()
    // Only the part of the difference that the round trip does not explain.
    const offMs = Math.max(sentAt - serverTime, serverTime - receivedAt, 0)
    const message = `${(offMs / secondMs).toFixed(1)} s off the clock of PostgreSQL`
    if (offMs > minuteMs) return fail('clock', message, fix)
    if (offMs > secondMs) return warn('clock', message, fix)
    facts.push('in sync with PostgreSQL')
  }
  if (migrated) {
    const [row] = await database.rows(newestRecord)
    const newest = row?.at as number | null | undefined
    if (newest != null && newest > now() + minuteMs) {
      const message = `the newest record is from ${isoTime(newest)}, but it is ${isoTime(now())}`
      return fail('clock', message, `${fix}. If signals with future times were imported, ignore this`)
    }
    facts.push('no records from the future')
  }
  return ok('clock', facts.join(', '))
}
