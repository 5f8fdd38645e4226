import type { FastifyInstance } from 'fastify'
import { exportFormats } from '../../../../contract/schema.ts'
import { csvColumns, operations } from '../../../../contract/signals.ts'
import type { Prompt } from '../../domain/prompt.ts'
import { type CountedSignals, searchedSpans } from '../../domain/signals/counted-signals.ts'
import type { SignalFilter, SignalStore, StoredSignal } from '../../domain/signals/signal.ts'
import { sentVersion } from '../../domain/signals/version.ts'
import { isoTime } from '../../domain/time.ts'
import { allowSilence } from '../admission/connection.ts'
import { auditExport } from '../audit/exports.ts'
import type { Context } from '../context.ts'
import { csvLine } from '../csv.ts'
import { sendExport, untilClosed } from '../export-stream.ts'
import { enumParameter, type Query } from '../parameters.ts'
import { route } from '../route.ts'
import { renderSignalLine } from './body.ts'
import { readSignalFilter } from './filter.ts'

export function exportSignalsRoute(app: FastifyInstance, { store, clock }: Context): void {
  const { takeSlot, inTurns } = app.exports
  route(app, operations.exportSignals, async (request, reply) => {
    const query = request.query as Query
    const format = enumParameter(query, 'format', exportFormats) ?? 'ndjson'
    const { prompt } = request
    const { filter, counted } = await readSignalFilter(store, prompt, query, clock())
    takeSlot(request, reply)
    await auditExport(app.auditThrottle, request, 'signals.exported', format)
    // A search may find nothing for a while.
    if (filter.content !== null) allowSilence(request)
    const parts = counted === null ? [filter] : partsOf(filter, counted)
    const batches = untilClosed(reply.raw, inTurns(request, streamParts(store.signals, prompt, parts)))
    const lines = format === 'csv' ? toCsv(batches) : toNdjson(batches)
    return sendExport(reply, `${prompt.publicId}-signals`, format, lines)
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

async function* toNdjson(batches: AsyncIterable<StoredSignal[]>): AsyncGenerator<string> {
  for await (const signals of batches) for (const signal of signals) yield `${renderSignalLine(signal)}\n`
}

async function* toCsv(batches: AsyncIterable<StoredSignal[]>): AsyncGenerator<string> {
  yield csvLine(csvColumns)
  for await (const signals of batches) {
    for (const { id, value, createdAt, metadata, occurredAt, ...details } of signals) {
      const { version, subject, voter, comment, traceId } = details
      const times = [isoTime(createdAt), isoTime(occurredAt)] as const
      const sent = version === null ? null : sentVersion(version)
      yield csvLine([id, value, times[0], metadata, sent, subject, voter, comment, times[1], traceId])
    }
  }
}
