import type { Instant } from '../domain/time.ts'
import type { Row } from '../store/sql/database.ts'
import type { Finding } from './finding.ts'

/** A database that is looked at and nothing else. */
export interface Reading {
  engine: 'sqlite' | 'postgres'
  rows(sql: string): Promise<Row[]>
  /** Runs `work` on the database as it is now, whatever others write meanwhile. */
  snapshot<T>(work: () => Promise<T>): Promise<T>
  /** In SQL, the first millisecond of the month that a time lies in. */
  monthOf(column: string): string
  /** What only this engine can get wrong. `current`: its tables are those that this code knows. */
  findings(current: boolean): Promise<Finding[]>
  /** By the database's own clock, where that may be another than ours. */
  clock?(): Promise<Instant>
  close(): Promise<void>
}
