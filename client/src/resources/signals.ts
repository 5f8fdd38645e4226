import { dataOf } from '../data.ts'
import { ConnectionError } from '../errors.ts'
import { newIdempotencyKey } from '../idempotency-key.ts'
import { type Pages, pages } from '../page.ts'
import { type QueueOptions, type SignalOptions, type SignalQueue, signalQueue } from '../queue.ts'
import type { RequestOptions, Transport } from '../request.ts'
import type {
  Erased,
  Erasure,
  ExportQuery,
  NewSignal,
  RecordedSignal,
  Signal,
  SignalQuery,
  Summary,
  SummaryQuery,
} from '../types.ts'
import { promptPath } from './prompts.ts'

export type Signals = ReturnType<typeof signals>

export function signals(service: Transport) {
  const pathOf = (promptId: string) => `${promptPath(promptId)}/signals`

  function exported(
    promptId: string,
    query?: ExportQuery & { format?: 'ndjson' | undefined },
    options?: RequestOptions,
  ): AsyncGenerator<Signal, void>
  function exported(
    promptId: string,
    query: ExportQuery & { format: 'csv' },
    options?: RequestOptions,
  ): AsyncGenerator<string, void>
  function exported(promptId: string, query: ExportQuery = {}, options?: RequestOptions) {
    const text = service.text({ method: 'GET', path: `${pathOf(promptId)}/export`, query }, options)
    return query.format === 'csv' ? text : parsedLines(text)
  }

  /** Resolves when the signal is on disk, counted once however many attempts it took. */
  function create(promptId: string, body: NewSignal, options: SignalOptions = {}): Promise<RecordedSignal> {
    const headers = { 'Idempotency-Key': options.idempotencyKey ?? newIdempotencyKey() }
    return dataOf(service, { method: 'POST', path: pathOf(promptId), body, headers, repeatable: true }, options)
  }

  return {
    create,

    /** For signals that nobody waits for: they are sent in the background. Close it before the process ends. */
    queue(options?: QueueOptions): SignalQueue {
      return signalQueue(create, options)
    },

    /** Newest first. What is taken back while you iterate may hide another: `export` sees all. */
    list(promptId: string, query?: SignalQuery, options?: RequestOptions): Pages<Signal> {
      return pages(service, pathOf(promptId), query, options)
    },

    /**
     * All of them, oldest first, in one answer that is read as you iterate: signals, or with the format `csv` pieces of
     * the file's text. `timeout` is how long nothing may arrive; an export that broke off is not tried again.
     */
    export: exported,

    /** Sums by hour, day or week. */
    summary(promptId: string, query?: SummaryQuery, options?: RequestOptions): Promise<Summary> {
      return service.json({ method: 'GET', path: `${pathOf(promptId)}/summary`, query }, options)
    },

    /** Takes a vote back: it leaves every figure; the month's count stays. */
    retract(promptId: string, signalId: number, options?: RequestOptions): Promise<void> {
      return service.json({ method: 'DELETE', path: `${pathOf(promptId)}/${signalId}` }, options)
    },

    /**
     * Removes every signal, of all prompts, whose metadata has each of these members with an equal value; for keys of role
     * `admin`. Takes seconds for each million signals that there are. Where it is tried again, `erased` tells of the last
     * attempt alone.
     */
    erase(body: Erasure, options?: RequestOptions): Promise<Erased> {
      const slow = { repeatable: true, timeout: 600_000 }
      return dataOf(service, { method: 'POST', path: '/signals/erase', body, ...slow }, options)
    },
  }
}

async function* parsedLines(text: AsyncIterable<string>): AsyncGenerator<Signal, void> {
  let rest = ''
  for await (const piece of text) {
    const lines = (rest + piece).split('\n')
    rest = lines.pop() as string
    for (const line of lines) yield JSON.parse(line)
  }
  if (rest !== '') throw new ConnectionError('The export broke off')
}
