import type { RecordOutcome, SignalToRecord } from '../../domain/signals/signal.ts'
import type { KnownKey, NumberedSignal } from './record-statement.ts'

/** A signal of a batch, with its outcome once it is known. */
export interface PendingSignal extends NumberedSignal {
  outcome: RecordOutcome | null
}

export const replacedStatus = 200

/** Answers a request whose idempotency key was used before. */
export function repeat({ idempotency }: SignalToRecord, known: Omit<KnownKey, 'place'>): RecordOutcome {
  if (idempotency?.fingerprint !== known.fingerprint) return { kind: 'key_reused' }
  const original = known.status === replacedStatus ? 'replaced' : 'recorded'
  return { kind: 'repeated', id: known.id, createdAt: known.createdAt, original }
}

/**
 * Answers the requests that repeat the key of another one in the batch. One per round would do too, but a batch of nothing else
 * would then take as many rounds as it has signals.
 */
export function settleRepeated(batch: PendingSignal[]): void {
  const answered = new Map<string, KnownKey>()
  for (const { outcome, signal } of batch) {
    if (signal.idempotency === null || outcome === null) continue
    if (outcome.kind !== 'recorded' && outcome.kind !== 'replaced' && outcome.kind !== 'repeated') continue
    const original = outcome.kind === 'repeated' ? outcome.original : outcome.kind
    const { id, createdAt } = outcome
    const { key, fingerprint } = signal.idempotency
    const status = original === 'replaced' ? replacedStatus : null
    answered.set(`${signal.organisationId} ${key}`, { place: 0, id, createdAt, fingerprint, status })
  }
  if (answered.size === 0) return
  for (const pending of batch) {
    const { outcome, signal } = pending
    if (outcome !== null || signal.idempotency === null) continue
    const known = answered.get(`${signal.organisationId} ${signal.idempotency.key}`)
    if (known !== undefined) pending.outcome = repeat(signal, known)
  }
}
