import type { Signal, StoredSignal } from '../../domain/signals/signal.ts'
import { isoTime } from '../../domain/time.ts'

// Built by hand because metadata is stored as JSON text and must come back exactly as sent.

export function renderSignal({ id, value, createdAt }: Signal): string {
  return `{"id":${id},"value":"${value}","created_at":"${isoTime(createdAt)}"}`
}

export function renderStoredSignal({ id, value, metadata, createdAt }: StoredSignal): string {
  return `{"id":${id},"value":"${value}","metadata":${metadata ?? 'null'},"created_at":"${isoTime(createdAt)}"}`
}
