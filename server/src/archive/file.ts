import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import {
  type ArchiveFacts,
  type ArchiveRow,
  type ArchiveTable,
  type LastIds,
  numberedTables,
  RowSum,
  type Snapshot,
} from '../domain/archive/archive.ts'
import { isoTime } from '../domain/time.ts'
import { archiveTables } from '../store/sql/archive-tables.ts'
import { version } from '../version.ts'

// Lines of JSON, compressed by gzip: the header; for each table its name and columns, then its rows as arrays; the end. Rows
// are the lines that begin with a bracket.

const format = 'promptledger archive'
const formatVersion = 1

interface Header {
  format: typeof format
  version: number
  /** Of the database: the number of its newest migration. */
  schema: number
  promptledger: string
  made_at: string
  /** Null for the whole database. */
  organisation: number | null
  kept_since: number
  last_ids: LastIds
}

export interface TableSum {
  table: string
  rows: number
  checksum: string
}

interface End {
  tables: TableSum[]
  /** Of everything before. */
  sha256: string
}

/** Writes the file, durably, and gives what is in it. */
export async function writeArchiveFile(
  file: string,
  snapshot: Snapshot,
  schema: number,
  onRows: (count: number) => void,
): Promise<TableSum[]> {
  const tables: TableSum[] = []
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
      const sum = new RowSum()
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
  // Holds the hashes of keys and the sealed secrets of repositories: for the owner only.
  const target = createWriteStream(file, { flags: 'wx', mode: 0o600, flush: true })
  await pipeline(Readable.from(chunks()), createGzip(), target)
  return tables
}

function toLine(value: object): string {
  return `${JSON.stringify(value)}\n`
}

function headerOf({ organisationId, keptSince, lastIds }: Snapshot, schema: number): Header {
  return {
    format,
    version: formatVersion,
    schema,
    promptledger: version,
    made_at: isoTime(Date.now()),
    organisation: organisationId,
    kept_since: keptSince,
    last_ids: lastIds,
  }
}

function tableLine({ name, columns }: ArchiveTable) {
  return { table: name, columns: Object.keys(columns) }
}

export interface Archive extends ArchiveFacts {
  madeAt: string
  tables: TableSum[]
  sha256: string
}

/** Reads the file from its beginning to its end and makes sure that it is one of ours, of this version, whole and as it was written. */
export async function checkArchiveFile(
  file: string,
  schema: number,
  onBytes: (count: number) => void,
  onRows: (table: ArchiveTable, rows: ArchiveRow[]) => void = () => {},
): Promise<Archive> {
  let header: Header | undefined
  let end: End | undefined
  const counts = new Map<string, number>()
  for await (const part of partsOf(file, onBytes)) {
    if (part.kind === 'header') header = checkHeader(file, part.header, schema)
    if (part.kind === 'end') end = part.end
    if (part.kind === 'rows') {
      counts.set(part.table.name, (counts.get(part.table.name) ?? 0) + part.lines.length)
      if (part.table.name === 'repositories') onRows(part.table, parseRows(file, part.table, part.lines))
    }
  }
  if (header === undefined || end === undefined) throw foreign(file)
  if (end.tables.some(({ table, rows }) => rows !== (counts.get(table) ?? 0))) {
    throw damaged(file, 'its rows are not as many as it says')
  }
  const { organisation: organisationId, kept_since: keptSince, last_ids: lastIds, made_at: madeAt } = header
  return { organisationId, keptSince, lastIds, madeAt, ...end }
}

/** The rows of a file that was checked. */
export async function* readArchiveRows(
  file: string,
  archive: Archive,
): AsyncGenerator<{ table: ArchiveTable; rows: ArchiveRow[] }> {
  for await (const part of partsOf(file)) {
    if (part.kind === 'end' && part.end.sha256 !== archive.sha256) throw damaged(file, 'it has changed meanwhile')
    if (part.kind !== 'rows') continue
    const rows = parseRows(file, part.table, part.lines)
    checkIds(file, part.table, rows, archive)
    yield { table: part.table, rows }
  }
}

type Part =
  | { kind: 'header'; header: Header }
  | { kind: 'rows'; table: ArchiveTable; lines: string[] }
  | { kind: 'end'; end: End }

/** The parts of a file in their order, rows as many at a time as come together. The end comes only where all before it is as it was written. */
async function* partsOf(file: string, onBytes: (count: number) => void = () => {}): AsyncGenerator<Part> {
  const hash = createHash('sha256')
  const remaining = [...archiveTables]
  let table: ArchiveTable | undefined
  let started = false
  let ended = false
  for await (const lines of linesOf(file, onBytes)) {
    for (let i = 0; i < lines.length; ) {
      if (ended) throw damaged(file, 'it goes on behind its end')
      const start = i
      while (lines[i]?.startsWith('[')) hash.update(`${lines[i++]}\n`)
      if (i > start) {
        if (table === undefined) throw started ? damaged(file, 'rows without a table') : foreign(file)
        yield { kind: 'rows', table, lines: lines.slice(start, i) }
        continue
      }
      const line = lines[i++] as string
      if (line.startsWith('{"end"')) {
        if (remaining.length > 0) throw damaged(file, `the table ${remaining[0]?.name} is missing`)
        const end = parseEnd(file, line)
        if (hash.digest('hex') !== end.sha256) throw damaged(file, 'its checksum does not fit')
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
      if (table === undefined || line !== JSON.stringify(tableLine(table))) {
        throw damaged(file, `where the table ${table?.name} should begin is something else`)
      }
    }
  }
  if (!started) throw foreign(file)
  if (!ended) throw damaged(file, 'its end is missing')
}

// A delivery's body has up to 25 MB, each byte of which may take six as JSON.
const longestLine = 200 * 1024 * 1024
const chunkSize = 256 * 1024

/** The lines of the file, as many as come together. What follows the last line break is none. */
async function* linesOf(file: string, onBytes: (count: number) => void): AsyncGenerator<string[]> {
  const source = createReadStream(file)
  source.on('data', (chunk) => onBytes(chunk.length))
  const text = createGunzip({ chunkSize }).setEncoding('utf8')
  const copied = pipeline(source, text)
  // Whoever reads the text is told of it as well.
  copied.catch(() => {})
  let rest: string[] = []
  let restLength = 0
  try {
    for await (const chunk of text as AsyncIterable<string>) {
      const end = chunk.lastIndexOf('\n')
      if (end === -1) {
        rest.push(chunk)
        restLength += chunk.length
        if (restLength > longestLine) throw foreign(file)
        continue
      }
      yield (rest.join('') + chunk.slice(0, end)).split('\n')
      rest = [chunk.slice(end + 1)]
      restLength = chunk.length - end - 1
    }
    await copied
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    if (message === 'incorrect header check') throw foreign(file)
    throw code.startsWith('Z_') ? damaged(file, message) : error
  }
  if (restLength > 0) throw damaged(file, 'its last line is cut off')
}

function parseHeader(file: string, line: string): Header {
  try {
    const header = JSON.parse(line)
    if (header.format === format) return header
  } catch {}
  throw foreign(file)
}

function parseEnd(file: string, line: string): End {
  const { end } = parse(file, line) as { end: End }
  const names = Array.isArray(end?.tables) ? end.tables.map(({ table }) => table) : []
  if (names.join() !== archiveTables.map(({ name }) => name).join()) throw damaged(file, 'its end is wrong')
  return end
}

function checkHeader(file: string, header: Header, schema: number): Header {
  if (header.version !== formatVersion || header.schema > schema) {
    throw new Error(`${file} was made by a newer Promptledger, ${header.promptledger}: update this one, ${version}`)
  }
  if (header.schema < schema) {
    throw new Error(
      `${file} was made by Promptledger ${header.promptledger}, whose database is at version ${header.schema}; here it is ${schema}: ` +
        'restore it with that Promptledger, then start this one on the same database, which brings it up to date',
    )
  }
  const numbers = [
    header.kept_since,
    header.organisation ?? 0,
    ...numberedTables.map((table) => header.last_ids?.[table]),
  ]
  if (!numbers.every((number) => Number.isSafeInteger(number) && number >= 0))
    throw damaged(file, 'its header is wrong')
  return header
}

function parseRows(file: string, table: ArchiveTable, lines: string[]): ArchiveRow[] {
  const kinds = Object.values(table.columns)
  return lines.map((line) => {
    const row = parse(file, line) as unknown[]
    const fits = kinds.every((kind, i) => {
      const value = row[i]
      return value === null || (kind === 'text' ? typeof value === 'string' : Number.isSafeInteger(value))
    })
    if (!fits || row.length !== kinds.length) throw damaged(file, `a row of ${table.name} is wrong`)
    return row as ArchiveRow
  })
}

/** A number that was never given, or another organisation's, could become one of somebody else's where ids are moved. */
function checkIds(file: string, table: ArchiveTable, rows: ArchiveRow[], { lastIds, organisationId }: Archive): void {
  for (const [i, kind] of Object.values(table.columns).entries()) {
    if (kind === 'text' || kind === 'integer') continue
    const given = (id: number) => id > 0 && id <= lastIds[kind]
    const fits =
      kind === 'organisations' && organisationId !== null
        ? (row: ArchiveRow) => row[i] === organisationId
        : (row: ArchiveRow) => row[i] === null || given(row[i] as number)
    if (!rows.every(fits)) throw damaged(file, `a row of ${table.name} has an id that it cannot have`)
  }
}

function parse(file: string, line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    throw damaged(file, 'a line is no JSON')
  }
}

function foreign(file: string): Error {
  return new Error(`${file} is no archive of Promptledger: nothing was changed`)
}

function damaged(file: string, reason: string): Error {
  return new Error(`${file} is damaged (${reason}): nothing was changed`)
}
