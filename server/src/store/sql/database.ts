export type Value = string | number | null

export interface Statement {
  sql: string
  parameters: Value[]
  /** If the statement returns no row, the transaction rolls back and rejects with this error. */
  orThrow?: () => Error
  /**
   * Returns no rows, and no other statement of the transaction reads or writes what it writes. PostgreSQL runs all of these
   * together, right before the commit.
   */
  atEnd?: true
  /** Statements to run next in the same transaction, given the rows that this one returned. */
  andThen?: (rows: Row[]) => Statement[]
}

export type Row = Record<string, Value>

/** What the shared statements need from an engine. They use `?` placeholders and the SQL that both engines support. */
export interface Database {
  /** Whether the tables of signals are distributed over several servers. Statements on them then name one organisation, or join. */
  readonly isDistributed: boolean
  /** The engine's system column for the physical address of a row. */
  rowAddress: 'rowid' | 'ctid'
  /** The collation that sorts text by its bytes, regardless of the database's locale. */
  byteOrder: 'collate binary' | 'collate "C"'
  /** What sorts prompts by the bytes of their names, regardless of the database's locale, and finds the first ones in an index. */
  byName(direction: 'asc' | 'desc', table?: string): string
  /**
   * What to compare, in addition to the text itself, to find a name or path of any length by index. PostgreSQL does not index
   * long text, so its indexes hold a hash.
   */
  textKey(text: string): string
  /** A `from` item that turns the next parameter, a JSON array of objects, into rows called `records`. */
  jsonRecords(columns: ColumnTypes): string
  /**
   * Statements that insert rows. PostgreSQL gets many rows at once. SQLite gets them one by one, as `values`: reading them from
   * JSON takes it longer than storing them, and before an `insert … select` it copies every page that the statement changes.
   */
  insertRows(insert: RowInsert): Statement[]
  /** A subquery that turns the next parameter, a JSON array of scalars, into rows, for the right side of `in`. */
  jsonElements(type: ColumnType): string
  /** A condition like `in`, written so that the engine looks up each value by index, whatever its row estimates. */
  inJsonArray(column: string, type: ColumnType): string
  /**
   * A condition for the rows of an organisation with these IDs. Takes two parameters: the organisation and a JSON array. SQLite looks
   * up each ID, instead of searching all rows of the organisation for them.
   */
  haveIds(table?: string): string
  /** A query of the sums of the first hours in order, and maybe of some more. The condition has no parameters. */
  firstHourSums(condition: string, order: string, hours: number): string
  /** An aggregate that returns the text of a JSON array. Null or an empty array without rows. */
  jsonArray(expression: string): string
  rows(sql: string, parameters?: Value[]): Promise<Row[]>
  /**
   * Like `rows`, but planned for these very parameters. PostgreSQL plans a repeated statement for any parameters, and then may
   * sort all signals of a prompt to return the first few.
   */
  rowsPlanned(sql: string, parameters: Value[]): Promise<Row[]>
  /** Runs all statements in one transaction. Returns the rows of each, without those of its `andThen` statements. */
  write(statements: Statement[]): Promise<Row[][]>
  /** Like `write`, and invalidates caches: those of this process at once, those of others on their next `refresh`. */
  writeAndInvalidate(statements: Statement[]): Promise<Row[][]>
  /**
   * Loads rows into the private table `staged` without blocking others, then runs the statements, which move them to their
   * final tables, like `writeAndInvalidate`. Reads in batches so memory use stays constant.
   */
  stage(staging: Staging): Promise<Row[][]>
}

export interface Staging {
  columns: ColumnTypes
  batches: AsyncIterable<Value[][]>
  /** The tables that the rows end up in, whose planner statistics need a refresh. */
  targets: string[]
  statements: () => Promise<Statement[]>
}

export interface RowInsert {
  table: string
  /** All with the same columns. */
  rows: Row[]
  /** The types of their columns, for a table that archives leave out. */
  types?: ColumnTypes
  /** A column that follows from others. `value` refers to one of the row, which can be one of `unstored`. */
  computed?: { name: string; sql(value: (column: string) => string): string; unstored: ColumnTypes }
  onConflict: string
}

export type ColumnType = 'bigint' | 'text'

/** Columns by name, in order. */
export type ColumnTypes = Record<string, ColumnType>

export function statement(sql: string, parameters: Value[] = []): Statement {
  return { sql, parameters }
}

export function columnNames(columns: object): string {
  return Object.keys(columns).join(', ')
}

/** The names of the columns that an insert stores. */
export function storedNames({ rows, computed }: RowInsert): string[] {
  return Object.keys(rows[0] ?? {}).filter((name) => computed?.unstored[name] === undefined)
}

// A commit can change thousands of files, and every row repeats its message, so one parameter must not hold them all.
const chunkSize = 500

export function inChunks<T>(items: T[]): T[][] {
  const count = Math.ceil(items.length / chunkSize)
  return Array.from({ length: count }, (_, i) => items.slice(i * chunkSize, (i + 1) * chunkSize))
}

export function firstOrNull<T>(rows: Row[], map: (row: Row) => T): T | null {
  const row = rows[0]
  return row === undefined ? null : map(row)
}

/** The first row of a statement that always returns one. */
export function requireRow(rows: Row[] | undefined): Row {
  const row = rows?.[0]
  if (row === undefined) throw new Error('Expected the statement to return a row, but it returned none')
  return row
}

/** Runs one statement as a transaction of its own, and returns its rows. */
export async function writeRows(database: Database, sql: string, parameters: Value[]): Promise<Row[]> {
  const [rows = []] = await database.write([statement(sql, parameters)])
  return rows
}

/** How many rows there are. `rows` comes after `from`. */
export async function countRows(database: Database, rows: string, parameters: Value[] = []): Promise<number> {
  return requireRow(await database.rows(`select count(*) as count from ${rows}`, parameters)).count as number
}

/** Whether a due time has come. Takes two parameters: now, and now plus `maxFuture` (see domain/repositories/lease.ts). */
export function isDueSql(column: string): string {
  return `(${column} <= ? or ${column} > ?)`
}
