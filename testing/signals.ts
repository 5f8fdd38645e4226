import type { NewSignal, SignalDetails, SignalToRecord } from '../server/src/domain/signals/signal.ts'
import type { Tenant } from './service.ts'

/** The details of a signal that has none. */
export const noDetails: SignalDetails = {
  version: null,
  subject: null,
  voter: null,
  comment: null,
  occurredAt: null,
  traceId: null,
}

/** A signal sent now on the Free plan, with the changes a test needs. */
export function signalFor(
  { organisation, prompt, service }: Tenant,
  changes: Partial<SignalToRecord & NewSignal> = {},
): SignalToRecord & NewSignal {
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

/** Batches as the store's import reads them. */
export async function* inBatches<T>(...batches: T[][]): AsyncGenerator<T[]> {
  yield* batches
}
