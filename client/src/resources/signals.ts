import { type SignalResult, sendBatch } from '../batch.ts'
import { signals as generated } from '../generated/resources.ts'
import { createIdempotencyKey } from '../idempotency-key.ts'
import { parseLines } from '../lines.ts'
import { createPages, type Pages } from '../page.ts'
import { type PromptText, signalOn } from '../prompt-text.ts'
import { createSignalQueue, type QueueOptions, type SignalOptions, type SignalQueue } from '../queue.ts'
import { type RequestOptions, requestData, type Transport } from '../request.ts'
import type { BatchSignal, ExportQuery, NewSignal, RecordedSignal, Signal, SignalPage, SignalQuery } from '../types.ts'

export type Signals = ReturnType<typeof signals>

export function signals(service: Transport) {
  const pathOf = (promptId: string) => `/prompts/${encodeURIComponent(promptId)}/signals`

  function exportSignals(
    promptId: string,
    query?: ExportQuery & { format?: 'ndjson' | undefined },
    options?: RequestOptions,
  ): AsyncGenerator<Signal, void>
  function exportSignals(
    promptId: string,
    query: ExportQuery & { format: 'csv' },
    options?: RequestOptions,
  ): AsyncGenerator<string, void>
  function exportSignals(promptId: string, query: ExportQuery = {}, options?: RequestOptions) {
    const text = service.text({ method: 'GET', path: `${pathOf(promptId)}/export`, query: wireQuery(query) }, options)
    return query.format === 'csv' ? text : parseLines<Signal>(text)
  }

  /**
   * Records a signal. Resolves when it is stored durably. Retries never count it twice. For a text from `prompts.text`, its version and
   * unit are recorded too.
   */
  function create(
    prompt: string | PromptText,
    signal: NewSignal,
    options: SignalOptions = {},
  ): Promise<RecordedSignal> {
    const { promptId, signal: body } = signalOn(prompt, signal)
    const { idempotencyKey = createIdempotencyKey(), traceparent } = options
    const headers = { 'Idempotency-Key': idempotencyKey, ...(traceparent && { traceparent }) }
    return requestData(service, { method: 'POST', path: pathOf(promptId), body, headers, isIdempotent: true }, options)
  }

  /**
   * Records up to 1,000 signals, of any prompts, in one request. Resolves with the result of each, in order. Retries never
   * count a signal twice.
   */
  function createMany(signals: BatchSignal[], options?: RequestOptions): Promise<SignalResult[]> {
    return sendBatch(service, signals, options)
  }

  return {
    ...generated(service),

    create,
    createMany,

    /** Withdraws the vote on a subject. Not found if there is none. */
    withdraw(promptId: string, subject: string, options?: SignalOptions): Promise<RecordedSignal> {
      return create(promptId, { value: null, subject }, options)
    },

    /** Creates a queue that sends signals in the background. Close it before the process ends. */
    queue(options?: QueueOptions): SignalQueue {
      // Without a key, the queue would drop every signal, even those of the spool.
      service.requireKey()
      return createSignalQueue({ create, createMany }, options)
    },

    /** Lists signals, newest first. Deleting signals while you iterate can hide others; `export` returns all of them. */
    list(promptId: string, query?: SignalQuery, options?: RequestOptions): Pages<Signal, SignalPage> {
      return createPages(service, pathOf(promptId), wireQuery(query), options)
    },

    /**
     * Streams all signals, oldest first, or with the format `csv` the text of a CSV file in chunks. `timeout` limits the
     * wait for each chunk. An export that breaks off is not retried.
     */
    export: exportSignals,
  }
}

/** Each member of `metadata` is a parameter of its own. */
function wireQuery<Query extends { metadata?: Record<string, string> | undefined }>(
  { metadata, ...query }: Query = {} as Query,
) {
  const members = Object.entries(metadata ?? {}).map(([name, value]) => [`metadata.${name}`, value])
  return { ...query, ...Object.fromEntries(members) }
}
