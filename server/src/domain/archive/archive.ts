import { hash } from 'node:crypto'
import type { Instant } from '../time.ts'

/** The tables whose rows have an ID that is never reused. */
export const numberedTables = [
  'organisations',
  'api_keys',
  'people',
  'prompts',
  'history_entries',
  'signals',
  'repositories',
  'deliveries',
  'deployments',
  'regressions',
  'alerts',
  'notices',
  'alert_deliveries',
  'sources',
  'proposals',
  'shares',
  'invitations',
  'regression_steps',
  'shift_steps',
  'audit',
] as const

export type NumberedTable = (typeof numberedTables)[number]

/** Text, an integer, or the ID of a row in the named table. Every column may be null. */
type ColumnKind = 'text' | 'integer' | NumberedTable

export interface ArchiveTable {
  name: string
  columns: Record<string, ColumnKind>
}

/** A row's values, in the order of the table's columns. */
export type ArchiveRow = (string | number | null)[]

/** The highest ID assigned in each table. IDs of deleted rows must not be reused, because clients may still hold them. */
export type LastIds = Record<NumberedTable, number>

/** How much to add to the IDs of each table on import. */
export type Offsets = Record<NumberedTable, number>

/** What an archive says about its contents as a whole. */
export interface ArchiveMetadata {
  /** Null for the whole database. */
  organisationId: number | null
  /** Signals from before this instant were removed by retention. */
  retainedSince: Instant
  lastIds: LastIds
}

/** The database as of one moment. */
export interface Snapshot extends ArchiveMetadata {
  count(table: ArchiveTable): Promise<number>
  /** In batches, in no particular order. */
  rows(table: ArchiveTable): AsyncIterable<ArchiveRow[]>
}

export interface ArchiveContents extends ArchiveMetadata {
  /** When the contents are stored, for the audit log. */
  at: Instant
  /** Ordered by table. */
  batches: AsyncIterable<{ table: ArchiveTable; rows: ArchiveRow[] }>
  /** For one organisation: imports it although an entry of its audit log does not fit the chain. */
  acceptBrokenAudit: boolean
  /** Called after a batch of stored rows was read back for comparison. */
  onVerified(rows: number): void
}

export interface ArchiveStore {
  /** Gives `work` the whole database, or one organisation. Other readers and writers are not blocked. */
  read<T>(organisationId: number | null, work: (snapshot: Snapshot) => Promise<T>): Promise<T>
  /**
   * Stores everything or nothing, and verifies the stored rows before committing. A whole database needs an empty one and
   * keeps its IDs. An organisation is added next to existing ones, with its IDs shifted past theirs.
   */
  write(contents: ArchiveContents): Promise<Offsets>
}

const lanes = 8
const laneBytes = 4

/**
 * Counts rows and sums their SHA-256 hashes. The checksum does not depend on row order, so an engine can read a table in
 * any order instead of sorting one that does not fit into memory.
 */
export class RowChecksum {
  rows = 0
  readonly #sum = new Uint32Array(lanes)

  /** Takes the row as JSON text. */
  add(text: string): void {
    const digest = hash('sha256', text, 'buffer')
    for (let i = 0; i < lanes; i++) this.#sum[i] = (this.#sum[i] as number) + digest.readUInt32LE(i * laneBytes)
    this.rows++
  }

  get checksum(): string {
    return Buffer.from(this.#sum.buffer).toString('hex')
  }
}
