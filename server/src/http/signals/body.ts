import type { Signal, StoredSignal } from '../../domain/signals/signal.ts'
import { isoTime } from '../../domain/time.ts'

// Built by hand because metadata is stored as JSON text and must come back exactly as sent.

export function renderSignal({ id, value, createdAt }: Signal): string {
  return `{"id":${id},"value":"${value}","created_at":"${isoTime(createdAt)}"}`
}

export function renderStoredSignal({ id, value, metadata, createdAt }: StoredSignal): string {
  return `{"id":${id},"value":"${value}","metadata":${metadata ?? 'null'},"created_at":"${isoTime(createdAt)}"}`
}

/**
 * The same on one line. JSON allows line breaks between values, and a sender could use them to make part of its metadata look
 * like a line of its own. They cannot occur inside strings, so a space in place of each leaves the value as it is.
 */
export function renderSignalLine(signal: StoredSignal): string {
  return renderStoredSignal(signal).replaceAll(/[\r\n]/g, ' ')
}
