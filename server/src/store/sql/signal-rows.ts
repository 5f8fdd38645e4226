import type { SignalValue, StoredSignal } from '../../domain/signals/signal.ts'
import type { Row } from './database.ts'

export const columns = 'id, value, metadata, created_at, version, subject, voter, comment, received_at, trace_id'

export function toStoredSignal(row: Row): StoredSignal {
  return {
    id: row.id as number,
    value: row.value as SignalValue,
    metadata: row.metadata as string | null,
    createdAt: (row.received_at ?? row.created_at) as number,
    occurredAt: row.created_at as number,
    version: row.version as string | null,
    subject: row.subject as string | null,
    voter: row.voter as string | null,
    comment: row.comment as string | null,
    traceId: row.trace_id as string | null,
  }
}
