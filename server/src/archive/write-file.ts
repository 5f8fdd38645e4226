import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { RowChecksum, type Snapshot } from '../domain/archive/archive.ts'
import { isoTime } from '../domain/time.ts'
import { archiveTables } from '../store/sql/archive-tables.ts'
import { version } from '../version.ts'
import { type End, format, formatVersion, type Header, type TableSummary, tableLine } from './file-format.ts'

/** Writes a new archive file, flushes it to disk and returns a summary of each table. */
export async function writeArchiveFile(
  file: string,
  snapshot: Snapshot,
  schema: number,
  onRows: (count: number) => void,
): Promise<TableSummary[]> {
  const tables: TableSummary[] = []
  async function* chunks(): AsyncGenerator<Buffer> {
    const hash = createHash('sha256')
    const hashed = (text: string) => {
      const bytes = Buffer.from(text)
      hash.update(bytes)
      return bytes
    }
    yield hashed(toLine(headerOf(snapshot, schema)))
    for (const table of archiveTables) {
      yield hashed(toLine(tableLine(table)))
      const sum = new RowChecksum()
      for await (const rows of snapshot.rows(table)) {
        const lines = rows.map((row) => JSON.stringify(row))
        for (const line of lines) sum.add(line)
        yield hashed(`${lines.join('\n')}\n`)
        onRows(rows.length)
      }
      tables.push({ table: table.name, rows: sum.rows, checksum: sum.checksum })
    }
    yield Buffer.from(toLine({ end: { tables, sha256: hash.digest('hex') } satisfies End }))
  }
  // Readable by the owner only: it contains key hashes and encrypted repository secrets.
  const target = createWriteStream(file, { flags: 'wx', mode: 0o600, flush: true })
  await pipeline(Readable.from(chunks()), createGzip(), target)
  return tables
}

function headerOf({ organisationId, retainedSince, lastIds }: Snapshot, schema: number): Header {
  return {
    format,
    version: formatVersion,
    schema,
    promptledger: version,
    made_at: isoTime(Date.now()),
    organisation: organisationId,
    kept_since: retainedSince,
    last_ids: lastIds,
  }
}

function toLine(value: object): string {
  return `${JSON.stringify(value)}\n`
}
