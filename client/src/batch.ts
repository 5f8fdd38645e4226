import { ConnectionError, errorFromBody, type PromptledgerError } from './errors.ts'
import { createIdempotencyKey } from './idempotency-key.ts'
import { type RequestOptions, requestData, type Transport } from './request.ts'
import type { BatchResult, BatchSignal, RecordedSignal } from './types.ts'

/** What became of one signal of a batch: the recorded signal, or the error that it was rejected with. */
export type SignalResult = { signal: RecordedSignal; error: null } | { signal: null; error: PromptledgerError }

export async function sendBatch(
  service: Transport,
  batch: BatchSignal[],
  options?: RequestOptions,
): Promise<SignalResult[]> {
  const signals = batch.map((signal) => ({
    ...signal,
    idempotency_key: signal.idempotency_key ?? createIdempotencyKey(),
  }))
  const operation = { method: 'POST', path: '/signals', body: { signals }, isIdempotent: true } as const
  const results = await requestData<BatchResult[]>(service, operation, options)
  if (results.length !== batch.length)
    throw new ConnectionError(`${results.length} results for ${batch.length} signals`)
  return results.map(({ status, data, error }) =>
    error === undefined
      ? { signal: data as RecordedSignal, error: null }
      : { signal: null, error: errorFromBody(error, status) },
  )
}
