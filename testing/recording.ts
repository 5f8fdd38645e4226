import type { SignalToRecord } from '../server/src/domain/signals/signal.ts'
import type { Tenant } from './service.ts'

/** A signal of now, on the Free plan, changed as a test needs it. */
export function signalOf(
  { organisation, prompt, service }: Tenant,
  changes: Partial<SignalToRecord> = {},
): SignalToRecord {
  return {
    organisationId: organisation.id,
    promptId: prompt.id,
    value: 'positive',
    metadata: null,
    createdAt: service.now,
    limit: 1_000,
    idempotency: null,
    ...changes,
  }
}

export async function* inBatches<T>(...portions: T[][]): AsyncGenerator<T[]> {
  yield* portions
}
