import { requestData } from './data.ts'
import { ConnectionError, errorFromBody, type PromptledgerError, type WireError } from './errors.ts'
import { createIdempotencyKey } from './idempotency-key.ts'
import type { RequestOptions, Transport } from './request.ts'
import type { NewSignal, RecordedSignal } from './types.ts'

/** A signal of a batch. */
export type BatchSignal = NewSignal & {
  /** ID, name or path of the prompt. */
  prompt: string
  /** The trace of the output, as in the header of the same name (W3C Trace Context). */
  traceparent?: string | null
  /** Signals with the same key and the same content count once. By default each has a random key. */
  idempotency_key?: string | null
}

/** What became of one signal of a batch: the recorded signal, or the error that it was rejected with. */
export type BatchResult = { signal: RecordedSignal; error: null } | { signal: null; error: PromptledgerError }

type WireResult = { status: number; data: RecordedSignal } | { status: number; error: WireError }

export async function sendBatch(
  service: Transport,
  batch: BatchSignal[],
  options?: RequestOptions,
): Promise<BatchResult[]> {
  const signals = batch.map((signal) => ({
    ...signal,
    idempotency_key: signal.idempotency_key ?? createIdempotencyKey(),
  }))
  const operation = { method: 'POST', path: '/signals', body: { signals }, isIdempotent: true } as const
  const results = await requestData<WireResult[]>(service, operation, options)
  if (results.length !== batch.length)
    throw new ConnectionError(`${results.length} results for ${batch.length} signals`)
  return results.map((result) =>
    'error' in result
      ? { signal: null, error: errorFromBody(result.error, result.status) }
      : { signal: result.data, error: null },
  )
}
