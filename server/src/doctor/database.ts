import type { SignalToRecord } from '../domain/signals/signal.ts'
import type { Instant } from '../domain/time.ts'
import type { Row, Value } from '../store/sql/database.ts'
import type { Finding } from './finding.ts'
import type { SchemaPart } from './schema.ts'

/** A read-only connection to the database. */
export interface DatabaseReader {
  engine: 'sqlite' | 'postgres'
  rows(sql: string, parameters?: Value[]): Promise<Row[]>
  /** Runs `work` on one snapshot of the database, unaffected by concurrent writes. */
  snapshot<T>(work: () => Promise<T>): Promise<T>
  /** An SQL expression for the first millisecond of the month of a timestamp column. */
  monthOf(column: string): string
  /** What the migrations of this version make, and the query that finds it. */
  schema: { expected(): SchemaPart[]; query: string }
  /** Runs the checks specific to this engine. `migrated`: the tables are of the version that this code expects. */
  runChecks(migrated: boolean): Promise<Finding[]>
  /** A prompt that signals can be recorded for, and one of each server where the signals are on several. */
  promptsToTry(): Promise<Row[]>
  tryRecording(signals: SignalToRecord[]): Promise<void>
  /** The clock of the database server, if it has one of its own. */
  clock?(): Promise<Instant>
  close(): Promise<void>
}

export const anyPrompt = 'select organisation_id, id from prompts where deleted_at is null order by id limit 1'
