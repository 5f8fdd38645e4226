import { createHash } from 'node:crypto'
import { any, type Call, invalid, ok, type Prediction, page, parseRange } from './request.ts'
import { hour, iso, type Key, type Model, type NewAuditEntry, type Organisation, type RepeatedEvent } from './state.ts'

export function audit({ organisation, key, action, subject, details = null }: NewAuditEntry, at: number): void {
  const last = organisation.audit.at(-1)
  const { id, name } = subject
  const seq = (last?.seq ?? 0) + 1
  const fields = [last?.hash ?? '', organisation.id, seq, at, key?.id ?? null, key?.name ?? null, action]
  const text = JSON.stringify([...fields, String(id), name, details && JSON.stringify(details)])
  organisation.audit.push({
    at: iso(at),
    actor: key && { key_id: key.id, name: key.name },
    action,
    subject: { id: String(id), name },
    details,
    seq,
    hash: createHash('sha256').update(text).digest('hex'),
  })
}

const minute = 60_000
const periods: Record<string, number> = { 'signals.exported': minute, 'session.started': minute, 'key.rejected': hour }

/** `about` tells apart events of one action and key. */
function count(model: Model, entry: NewAuditEntry, about: string, now: number): RepeatedEvent {
  const id = `${entry.action} ${entry.key?.id} ${about}`
  const periodMs = periods[entry.action] ?? 0
  const event = model.repeated.get(id) ?? { entry, periodMs, since: now, unwritten: 0, endsAt: now }
  model.repeated.set(id, event)
  if (event.unwritten++ === 0) event.since = now
  return event
}

/** Audits the first event of a period at once. */
export function auditRepeated(model: Model, entry: NewAuditEntry, about: string, now: number): void {
  const event = count(model, entry, about, now)
  if (isOver(event, now)) write(event, now)
}

/** The entry waits for the next flush. */
export function auditRejectedKey(model: Model, organisation: Organisation, key: Key, now: number): void {
  const reason = key.revokedAt === null ? 'expired' : 'revoked'
  const details = { reason, network: '127.0.0.1' }
  count(model, { organisation, key, action: 'key.rejected', subject: key, details }, reason, now)
}

/** Writes the entries that are due, or all of them, as a service that stops does. */
export function flushAudit({ repeated }: Model, now: number, all = false): void {
  for (const [id, event] of repeated) {
    if (!all && !isOver(event, now)) continue
    if (event.unwritten > 0) write(event, now)
    else repeated.delete(id)
  }
  if (all) repeated.clear()
}

function write(event: RepeatedEvent, now: number): void {
  const { entry, since, unwritten, periodMs } = event
  audit(unwritten === 1 ? entry : { ...entry, details: { ...entry.details, count: unwritten } }, since)
  event.unwritten = 0
  event.endsAt = now + periodMs
}

/** A period that ends too late started before the clock was set back. */
function isOver({ endsAt, periodMs }: RepeatedEvent, now: number): boolean {
  return now >= endsAt || endsAt - now > periodMs
}

export function listAudit({ organisation, query }: Call): Prediction {
  const { action, since, until } = query
  if (action?.includes('.') === false) invalid()
  const isInRange = parseRange(since, until)
  const entries = organisation.audit
    .filter((entry) => isInRange(Date.parse(entry.at)) && (action ?? entry.action) === entry.action)
    .sort((a, b) => Date.parse(b.at) - Date.parse(a.at) || b.seq - a.seq)
    .map((entry) => ({ id: any, ...entry }))
  return ok(page(entries, query))
}
