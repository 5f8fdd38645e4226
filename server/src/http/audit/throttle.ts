import type { AuditStore, NewAuditEntry } from '../../domain/access/audit.ts'
import { type Clock, hour, type Instant, minute } from '../../domain/time.ts'

/**
 * Audits what a key can do any number of times without changing anything, so that a flood of requests does not become a flood
 * of entries: the first is written, and the others of the same period become one entry with their `count` when it ends.
 */
export interface AuditThrottle {
  /** Resolves when the audit log has the first entry of the period. Rejects if it cannot be written. */
  record(event: RepeatedEvent): Promise<void>
  /** Only counts. The next flush writes the entry, so that the caller does not wait and its duration tells nothing. */
  count(event: RepeatedEvent): void
  /** Writes the counts that are due. With `all`, also the counts of periods that have not ended. */
  flush(all?: boolean): Promise<void>
}

type RepeatedEvent = Omit<NewAuditEntry, 'at'> & {
  action: keyof typeof periodMs
  /** Events with the same text are counted together, among those with the same action and key. */
  about: string
}

// A client that was not updated may send its revoked key for months.
const periodMs = {
  'signals.exported': minute,
  'history.exported': minute,
  'session.started': minute,
  'key.rejected': hour,
}

interface Period {
  event: RepeatedEvent
  /** When the first event that is not in the audit log happened. */
  since: Instant
  unwritten: number
  endsAt: Instant
}

export function createAuditThrottle(audit: Pick<AuditStore, 'record'>, clock: Clock): AuditThrottle {
  const periods = new Map<string, Period>()

  function add(event: RepeatedEvent): Period {
    const now = clock()
    const id = `${event.action} ${event.by?.keyId} ${event.about}`
    let period = periods.get(id)
    if (period === undefined) {
      period = { event, since: now, unwritten: 0, endsAt: now }
      periods.set(id, period)
    }
    if (period.unwritten++ === 0) period.since = now
    return period
  }

  async function write(period: Period): Promise<void> {
    const { event, since, unwritten } = period
    const { about: _, details, ...entry } = event
    period.unwritten = 0
    period.endsAt = clock() + periodMs[event.action]
    const counted = unwritten === 1 ? details : { ...details, count: unwritten }
    try {
      await audit.record({ ...entry, at: since, ...(counted && { details: counted }) })
    } catch (error) {
      // The next flush tries again.
      period.unwritten += unwritten
      period.since = since
      period.endsAt = clock()
      throw error
    }
  }

  return {
    async record(event) {
      const period = add(event)
      if (!isOver(period, clock())) return
      await write(period).catch((error) => {
        // An action that cannot be audited is rejected, so it is not counted either.
        period.unwritten--
        throw error
      })
    },
    count: add,
    async flush(all = false) {
      const now = clock()
      const failures: unknown[] = []
      for (const [id, period] of periods) {
        const isDue = all || isOver(period, now)
        // A failure must not keep the entries of other organisations from being written.
        if (isDue && period.unwritten > 0) await write(period).catch((error) => failures.push(error))
        else if (isDue) periods.delete(id)
      }
      if (failures.length > 0) throw failures[0]
    },
  }
}

/** A period that ends too late started before the clock was set back. Waiting for its end would silence the audit log. */
function isOver({ event, endsAt }: Period, now: Instant): boolean {
  return now >= endsAt || endsAt - now > periodMs[event.action]
}
