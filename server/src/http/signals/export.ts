import type { FastifyInstance } from 'fastify'
import { exportFormats } from '../../../../contract/schema.ts'
import { csvColumns, operations } from '../../../../contract/signals.ts'
import type { Prompt } from '../../domain/prompt.ts'
import { type CountedSignals, searchedSpans } from '../../domain/signals/counted-signals.ts'
import type { SignalFilter, SignalStore, StoredSignal } from '../../domain/signals/signal.ts'
import { sentVersion } from '../../domain/signals/version.ts'
import { isoTime } from '../../domain/time.ts'
import { allowSilence } from '../admission/connection.ts'
import type { Context } from '../context.ts'
import { sendExport } from '../export-stream.ts'
import { enumParameter, type Query } from '../parameters.ts'
import { route } from '../route.ts'
import { renderSignalLine } from './body.ts'
import { readSignalFilter } from './filter.ts'

export function exportSignalsRoute(app: FastifyInstance, { store, clock }: Context): void {
  route(app, operations.exportSignals, async (request, reply) => {
    const query = request.query as Query
    const format = enumParameter(query, 'format', exportFormats) ?? 'ndjson'
    const { prompt } = request
    const { filter, counted } = await readSignalFilter(store, prompt, query, clock())
    const parts = counted === null ? [filter] : partsOf(filter, counted)
    return sendExport(request, reply, {
      name: 'signals',
      format,
      columns: csvColumns,
      toCells,
      toText: renderSignalLine,
      read() {
        // A search may find nothing for a while.
        if (filter.content !== null) allowSilence(request)
        return streamParts(store.signals, prompt, parts)
      },
    })
  })
}

/** The times that have signals of the change, oldest first. */
function partsOf(filter: SignalFilter, counted: CountedSignals): SignalFilter[] {
  return searchedSpans(counted, filter)
    .reverse()
    .map(({ from, until }) => ({ ...filter, since: from, until }))
}

async function* streamParts(
  signals: Pick<SignalStore, 'stream'>,
  prompt: Prompt,
  parts: SignalFilter[],
): AsyncGenerator<StoredSignal[]> {
  for (const part of parts) yield* signals.stream(prompt, part)
}

function toCells({ id, value, createdAt, metadata, occurredAt, ...details }: StoredSignal) {
  const { version, subject, voter, comment, traceId } = details
  const times = [isoTime(createdAt), isoTime(occurredAt)] as const
  const sent = version === null ? null : sentVersion(version)
  return [id, value, times[0], metadata, sent, subject, voter, comment, times[1], traceId]
}
