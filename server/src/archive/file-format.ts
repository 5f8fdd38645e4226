import type { ArchiveTable, LastIds } from '../domain/archive/archive.ts'

// An archive is gzipped JSON lines: the header; for each table a line with its name and columns, then its rows as arrays; the
// end. Rows are the only lines that start with a bracket.

export const format = 'promptledger archive'
export const formatVersion = 1

export interface Header {
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

export interface End {
  tables: TableSummary[]
  /** Hash of every line before this one. */
  sha256: string
}

export function tableLine({ name, columns }: ArchiveTable): { table: string; columns: string[] } {
  return { table: name, columns: Object.keys(columns) }
}
