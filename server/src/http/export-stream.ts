import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { exportFormats } from '../../../contract/schema.ts'
import { writeCell } from '../domain/csv-cell.ts'

/** The rows of an export, and how each is written. */
interface Exported<Row> {
  name: 'signals' | 'history'
  format: (typeof exportFormats)[number]
  columns: readonly string[]
  toCells(row: Row): Cell[]
  /** As JSON on one line. */
  toText(row: Row): string
  /** Called once it is known that the export may run. */
  read(): AsyncGenerator<Row[]> | Promise<AsyncGenerator<Row[]>>
}

const contentTypes = { ndjson: 'application/x-ndjson; charset=utf-8', csv: 'text/csv; charset=utf-8' }

/** Streams data of the prompt in the path as a file, and audits that before the first line is sent. */
export async function sendExport<Row>(
  request: FastifyRequest,
  reply: FastifyReply,
  { name, format, columns, toCells, toText, read }: Exported<Row>,
): Promise<FastifyReply> {
  const { access, prompt, server } = request
  server.exports.takeSlot(request, reply)
  await server.auditThrottle.record({
    organisationId: access.organisationId,
    by: access,
    action: `${name}.exported`,
    subject: { id: prompt.publicId, name: prompt.name },
    details: { format },
    about: `${prompt.publicId} ${format}`,
  })
  const batches = untilClosed(reply.raw, server.exports.inTurns(request, await read()))
  const lines =
    format === 'csv'
      ? linesOf(batches, (row) => csvLine(toCells(row)), csvLine(columns))
      : linesOf(batches, (row) => `${toText(row)}\n`)
  return reply
    .type(contentTypes[format])
    .header('Content-Disposition', `attachment; filename="${prompt.publicId}-${name}.${format}"`)
    .send(Readable.from(inChunks(lines), { objectMode: false }))
}

/** Stops reading when the client is gone, which a search without matches would not notice. */
async function* untilClosed<T>(response: ServerResponse, batches: AsyncIterable<T>): AsyncGenerator<T> {
  for await (const batch of batches) {
    if (response.destroyed) return
    yield batch
  }
}

async function* linesOf<Row>(
  batches: AsyncIterable<Row[]>,
  write: (row: Row) => string,
  head = '',
): AsyncGenerator<string> {
  yield head
  for await (const rows of batches) for (const row of rows) yield write(row)
}

const chunkLength = 64 * 1024

/** Joins lines to chunks of one size, so that the memory of an export does not depend on the size of its rows. */
async function* inChunks(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let chunk = ''
  for await (const line of lines) {
    chunk += line
    if (chunk.length < chunkLength) continue
    yield chunk
    chunk = ''
  }
  if (chunk !== '') yield chunk
}

type Cell = string | number | null

const needsQuotes = /[",\r\n]/

/** One line of CSV (RFC 4180), safe to open in a spreadsheet. */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(cell).join(',')}\r\n`
}

function cell(value: Cell): string {
  if (value === null) return ''
  if (typeof value === 'number') return String(value)
  const text = writeCell(value)
  return needsQuotes.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
