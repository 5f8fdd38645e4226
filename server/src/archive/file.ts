import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import {
  type ArchiveMetadata,
  type ArchiveRow,
  type ArchiveTable,
  type LastIds,
  numberedTables,
  RowChecksum,
  type Snapshot,
} from '../domain/archive/archive.ts'
import { isoTime } from '../domain/time.ts'
import { archiveTables } from '../store/sql/archive-tables.ts'
import { version } from '../version.ts'

// An archive is gzipped JSON lines: the header; for each table a line with its name and columns, then its rows as arrays; the
// end. Rows are the only lines that start with a bracket.

const format = 'promptledger archive'
const formatVersion = 1

interface Header {
  format: typeof format
  version: number
  /** Version of the database: the number of its newest migration. */
  schema: number
  promptledger: string
  made_at: string
  /** Null for the whole database. */
  organisation: number | null
  kept_since: number
  last_ids: LastIds
}

export interface TableSummary {
  table: string
  rows: number
  checksum: string
}

interface End {
  tables: TableSummary[]
  /** Hash of every line before this one. */
  sha256: string
}

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

function tableLine({ name, columns }: ArchiveTable): { table: string; columns: string[] } {
  return { table: name, columns: Object.keys(columns) }
}

export interface Archive extends ArchiveMetadata {
  createdAt: string
  tables: TableSummary[]
  sha256: string
}

/** Throws if a row cannot be stored. Takes the batches of each table in order. */
export type CheckRows = (table: ArchiveTable, rows: ArchiveRow[]) => void

/**
 * Reads the whole file and verifies that it is an archive, complete, unmodified and of this database version, with valid rows.
 * Archives are checked when they are written and before they are stored, so that one that was written can be stored.
 */
export async function checkArchiveFile(
  file: string,
  schema: number,
  onBytes: (count: number) => void,
  checkFor: (archive: ArchiveMetadata) => CheckRows = () => () => {},
): Promise<Archive> {
  let metadata: (ArchiveMetadata & { createdAt: string }) | undefined
  let checkRows: CheckRows = () => {}
  let end: End | undefined
  const counts = new Map<string, number>()
  for await (const part of readParts(file, onBytes)) {
    if (part.kind === 'header') {
      metadata = toMetadata(checkHeader(file, part.header, schema))
      checkRows = checkFor(metadata)
    }
    if (part.kind === 'end') end = part.end
    if (part.kind === 'rows') {
      const { table, lines } = part
      counts.set(table.name, (counts.get(table.name) ?? 0) + lines.length)
      const rows = parseRows(file, table, lines)
      checkIds(file, table, rows, metadata as ArchiveMetadata)
      checkRows(table, rows)
    }
  }
  if (metadata === undefined || end === undefined) throw notAnArchive(file)
  if (end.tables.some(({ table, rows }) => rows !== (counts.get(table) ?? 0))) {
    throw damaged(file, 'the row counts do not match')
  }
  return { ...metadata, ...end }
}

/** Reads the rows of a file that `checkArchiveFile` has accepted. Fails at the end if the file was changed since. */
export async function* readArchiveRows(
  file: string,
  archive: Archive,
): AsyncGenerator<{ table: ArchiveTable; rows: ArchiveRow[] }> {
  for await (const part of readParts(file)) {
    if (part.kind === 'end' && part.end.sha256 !== archive.sha256) throw damaged(file, 'it changed while it was read')
    if (part.kind !== 'rows') continue
    yield { table: part.table, rows: parseRows(file, part.table, part.lines) }
  }
}

type Part =
  | { kind: 'header'; header: Header }
  | { kind: 'rows'; table: ArchiveTable; lines: string[] }
  | { kind: 'end'; end: End }

/** Yields the file part by part, rows in batches. Yields the end only if the hash of everything before it matches. */
async function* readParts(file: string, onBytes: (count: number) => void = () => {}): AsyncGenerator<Part> {
  const hash = createHash('sha256')
  const remaining = [...archiveTables]
  let table: ArchiveTable | undefined
  let started = false
  let ended = false
  for await (const lines of readLines(file, onBytes)) {
    for (let i = 0; i < lines.length; ) {
      if (ended) throw damaged(file, 'there is data after its end')
      const start = i
      while (lines[i]?.startsWith('[')) hash.update(`${lines[i++]}\n`)
      if (i > start) {
        if (table === undefined) throw started ? damaged(file, 'rows before the first table') : notAnArchive(file)
        yield { kind: 'rows', table, lines: lines.slice(start, i) }
        continue
      }
      const line = lines[i++] as string
      if (line.startsWith('{"end"')) {
        if (remaining.length > 0) throw damaged(file, `the table ${remaining[0]?.name} is missing`)
        const end = parseEnd(file, line)
        if (hash.digest('hex') !== end.sha256) throw damaged(file, 'the checksum does not match')
        ended = true
        yield { kind: 'end', end }
        continue
      }
      hash.update(`${line}\n`)
      if (!started) {
        started = true
        yield { kind: 'header', header: parseHeader(file, line) }
        continue
      }
      table = remaining.shift()
      if (table === undefined) throw damaged(file, 'there is data after the last table')
      if (line !== JSON.stringify(tableLine(table))) throw damaged(file, `the table ${table.name} does not start here`)
    }
  }
  if (!started) throw notAnArchive(file)
  if (!ended) throw damaged(file, 'the end is missing')
}

// The body of a delivery is up to 25 MB, and one byte takes up to six characters in JSON.
const maxLineLength = 200 * 1024 * 1024
const chunkSize = 256 * 1024

/** Yields the lines of the file in batches. Each line must end with a line break. */
async function* readLines(file: string, onBytes: (count: number) => void): AsyncGenerator<string[]> {
  const source = createReadStream(file)
  source.on('data', (chunk) => onBytes(chunk.length))
  const text = createGunzip({ chunkSize }).setEncoding('utf8')
  const copied = pipeline(source, text)
  // The loop below reports the error. Without this handler, it would also be an unhandled rejection.
  copied.catch(() => {})
  let rest: string[] = []
  let restLength = 0
  try {
    for await (const chunk of text as AsyncIterable<string>) {
      const end = chunk.lastIndexOf('\n')
      if (end === -1) {
        rest.push(chunk)
        restLength += chunk.length
        if (restLength > maxLineLength) throw notAnArchive(file)
        continue
      }
      yield (rest.join('') + chunk.slice(0, end)).split('\n')
      rest = [chunk.slice(end + 1)]
      restLength = chunk.length - end - 1
    }
    await copied
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    if (message === 'incorrect header check') throw notAnArchive(file)
    throw code.startsWith('Z_') ? damaged(file, message) : error
  }
  if (restLength > 0) throw damaged(file, 'the last line is cut off')
}

function parseHeader(file: string, line: string): Header {
  try {
    const header = JSON.parse(line)
    if (header.format === format) return header
  } catch {}
  throw notAnArchive(file)
}

function parseEnd(file: string, line: string): End {
  const { end } = parseJson(file, line) as { end: End }
  const names = Array.isArray(end?.tables) ? end.tables.map(({ table }) => table) : []
  if (names.join() !== archiveTables.map(({ name }) => name).join()) throw damaged(file, 'the end is invalid')
  return end
}

function checkHeader(file: string, header: Header, schema: number): Header {
  const isSameRelease = header.promptledger === version
  const made = `${file} was created by ${isSameRelease ? 'another build of ' : ''}Promptledger ${header.promptledger}, with database version ${header.schema}`
  const here = `This one${isSameRelease ? '' : `, ${version},`} has database version ${schema}`
  if (header.version !== formatVersion || header.schema > schema) {
    throw new Error(`${made}. ${here}, which is older. Update it and try again.`)
  }
  if (header.schema < schema) {
    throw new Error(
      `${made}. ${here}, which is newer. Restore it with the one that created it, then start this one on the same database to migrate it.`,
    )
  }
  const numbers = [
    header.kept_since,
    header.organisation ?? 0,
    ...numberedTables.map((table) => header.last_ids?.[table]),
  ]
  if (!numbers.every((number) => Number.isSafeInteger(number) && number >= 0)) {
    throw damaged(file, 'the header is invalid')
  }
  return header
}

function toMetadata({ organisation, kept_since, last_ids, made_at }: Header): ArchiveMetadata & { createdAt: string } {
  return { organisationId: organisation, retainedSince: kept_since, lastIds: last_ids, createdAt: made_at }
}

function parseRows(file: string, table: ArchiveTable, lines: string[]): ArchiveRow[] {
  const kinds = Object.values(table.columns)
  return lines.map((line) => {
    const row = parseJson(file, line) as unknown[]
    const isValid = kinds.every((kind, i) => {
      const value = row[i]
      return value === null || (kind === 'text' ? typeof value === 'string' : Number.isSafeInteger(value))
    })
    if (!isValid || row.length !== kinds.length) throw damaged(file, `a row of ${table.name} is invalid`)
    return row as ArchiveRow
  })
}

/** Import shifts IDs. One that was never assigned, or of another organisation, could then point at another tenant's row. */
function checkIds(
  file: string,
  table: ArchiveTable,
  rows: ArchiveRow[],
  { lastIds, organisationId }: ArchiveMetadata,
): void {
  for (const [i, kind] of Object.values(table.columns).entries()) {
    if (kind === 'text' || kind === 'integer') continue
    const isAssigned = (id: number) => id > 0 && id <= lastIds[kind]
    const isValid =
      kind === 'organisations' && organisationId !== null
        ? (row: ArchiveRow) => row[i] === organisationId
        : (row: ArchiveRow) => row[i] === null || isAssigned(row[i] as number)
    if (!rows.every(isValid)) throw damaged(file, `a row of ${table.name} has an invalid ID`)
  }
}

function parseJson(file: string, line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    throw damaged(file, 'a line is not JSON')
  }
}

function notAnArchive(file: string): Error {
  return new Error(`${file} is not a Promptledger archive. Nothing was changed.`)
}

function damaged(file: string, reason: string): Error {
  return new Error(`${file} is damaged (${reason}). Nothing was changed.`)
}
