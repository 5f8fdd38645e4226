import { hash } from 'node:crypto'
import type { Instant } from '../time.ts'

/** The tables whose rows have a number, each of which is given once. */
export const numberedTables = [
  'organisations',
  'api_keys',
  'prompts',
  'history_entries',
  'signals',
  'repositories',
  'deliveries',
  'audit',
] as const

export type NumberedTable = (typeof numberedTables)[number]

/** A text, a whole number, or the number of a row of that table. Each may be null. */
export type ColumnKind = 'text' | 'integer' | NumberedTable

export interface ArchiveTable {
  name: string
  columns: Record<string, ColumnKind>
}

/** The values of a row, in the order of the table's columns. */
export type ArchiveRow = (string | number | null)[]

/** The last number that was given to a row of each table: what is gone is never given again, since others may still know it. */
export type LastIds = Record<NumberedTable, number>

/** By how much the numbers of each table are moved. */
export type Offsets = Record<NumberedTable, number>

/** What an archive says of all its rows. */
export interface ArchiveFacts {
  /** Null for the whole database. */
  organisationId: number | null
  keptSince: Instant
  lastIds: LastIds
}

/** The database as it was at one moment. */
export interface Snapshot extends ArchiveFacts {
  count(table: ArchiveTable): Promise<number>
  /** In portions, in any order. */
  rows(table: ArchiveTable): AsyncIterable<ArchiveRow[]>
}

export interface ArchiveContents extends ArchiveFacts {
  /** In the order of the tables. */
  portions: AsyncIterable<{ table: ArchiveTable; rows: ArchiveRow[] }>
  /** Told of rows that were read back. */
  onCompared(rows: number): void
}

export interface ArchiveStore {
  /** Hands `work` everything, or all that belongs to one organisation. Others go on reading and writing meanwhile. */
  read<T>(organisationId: number | null, work: (snapshot: Snapshot) => Promise<T>): Promise<T>
  /**
   * Stores all of it or nothing, and reads it back before that counts. A whole database goes into an empty one and keeps its
   * numbers; an organisation goes beside others, behind whose numbers its own are moved.
   */
  write(contents: ArchiveContents): Promise<Offsets>
}

const lanes = 8
const laneBytes = 4

/**
 * How many rows there are, and a checksum of them that does not depend on their order: the sum of the SHA-256 of each. So
 * each engine may give them as it finds them, without sorting a table that does not fit into memory.
 */
export class RowSum {
  rows = 0
  readonly #sum = new Uint32Array(lanes)

  /** `text` is the row as JSON. */
  add(text: string): void {
    const digest = hash('sha256', text, 'buffer')
    for (let i = 0; i < lanes; i++) this.#sum[i] = (this.#sum[i] as number) + digest.readUInt32LE(i * laneBytes)
    this.rows++
  }

  get checksum(): string {
    return Buffer.from(this.#sum.buffer).toString('hex')
  }
}
