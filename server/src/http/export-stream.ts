import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { exportFormats } from '../../../contract/schema.ts'

export type ExportFormat = (typeof exportFormats)[number]

const contentTypes = { ndjson: 'application/x-ndjson; charset=utf-8', csv: 'text/csv; charset=utf-8' }

/** Streams lines as a file with this name and the extension of the format. */
export function sendExport(reply: FastifyReply, name: string, format: ExportFormat, lines: AsyncIterable<string>) {
  return reply
    .type(contentTypes[format])
    .header('Content-Disposition', `attachment; filename="${name}.${format}"`)
    .send(Readable.from(inChunks(lines), { objectMode: false }))
}

const chunkLength = 64 * 1024

/** Stops reading when the client is gone, which a search without matches would not notice. */
export async function* untilClosed<T>(response: ServerResponse, batches: AsyncIterable<T>): AsyncGenerator<T> {
  for await (const batch of batches) {
    if (response.destroyed) return
    yield batch
  }
}

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
