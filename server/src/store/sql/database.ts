export type Value = string | number | null

export interface Statement {
  sql: string
  parameters: Value[]
  /** Where the statement gives no row, nothing of the act happens: it rejects with this. */
  orElse?: () => Error
  /** What follows from the rows that the statement gave, in the same act. */
  andThen?: (rows: Row[]) => Statement[]
}

export type Row = Record<string, Value>

/** What the shared statements need of an engine. SQL is written with `?` for parameters, in the subset both engines have. */
export interface Database {
  /** The column under which the engine knows where a row lies. */
  rowAddress: 'rowid' | 'ctid'
  /** What to write behind a text to order by its bytes, whatever the database's language. */
  byteOrder: 'collate binary' | 'collate "C"'
  /** What to select from so that a parameter, an array in JSON of objects, becomes rows. */
  records(columns: StagedColumn[]): string
  /** The same for an array of plain values, for the right side of `in`. */
  elements(type: StagedColumn['type']): string
  /** That a column is one of them, so that each is looked up however much of the table they seem to be. */
  among(column: string, type: StagedColumn['type']): string
  rows(sql: string, parameters?: Value[]): Promise<Row[]>
  /** All statements or none; gives the rows of each, without those of what followed from it. */
  write(statements: Statement[]): Promise<Row[][]>
  /** A write that memory must not outlive: this process forgets what it keeps at once, others with their next `refresh`. */
  change(statements: Statement[]): Promise<Row[][]>
  /**
   * Collects rows in the table `staged`, seen by nobody else and holding nobody up, then runs the statements, which move
   * them to where they belong, as `change` does. Takes the rows in portions, so that memory stays flat however many there are.
   */
  stage(staging: Staging): Promise<Row[][]>
}

export interface Staging {
  columns: StagedColumn[]
  portions: AsyncIterable<Value[][]>
  /** The tables that grow by the rows, so that the engine can look at them anew. */
  targets: string[]
  statements: () => Promise<Statement[]>
}

export interface StagedColumn {
  name: string
  type: 'bigint' | 'text'
}

export function statement(sql: string, parameters: Value[] = []): Statement {
  return { sql, parameters }
}

export function firstOrNull<T>(rows: Row[], map: (row: Row) => T): T | null {
  const row = rows[0]
  return row === undefined ? null : map(row)
}

/** The row of a statement that always gives one. */
export function only(rows: Row[] | undefined): Row {
  const row = rows?.[0]
  if (row === undefined) throw new Error('the database gave no row where one was certain')
  return row
}

/** That a time has come. The parameters are now, and the farthest that such a time may lie ahead. */
export function isDueSql(column: string): string {
  return `(${column} <= ? or ${column} > ?)`
}
