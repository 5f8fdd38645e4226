import { isoTime } from '../time.ts'
import type { StoredSignal } from './signal.ts'
import { sentVersion } from './version.ts'

/** A signal as JSON. Built by hand, because metadata is stored as JSON text and must come back exactly as sent. */
export function signalText(signal: StoredSignal): string {
  const { id, value, metadata, createdAt, version, subject, voter, comment, occurredAt, traceId } = signal
  const details = {
    version: version === null ? null : sentVersion(version),
    subject,
    voter,
    comment,
    occurred_at: isoTime(occurredAt),
    trace_id: traceId,
  }
  return (
    `{"id":${id},"value":"${value}","metadata":${metadata ?? 'null'},"created_at":"${isoTime(createdAt)}",` +
    JSON.stringify(details).slice(1)
  )
}
