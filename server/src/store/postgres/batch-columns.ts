import type { ColumnType, ColumnTypes, Value } from '../sql/database.ts'

export type BatchRow = Record<string, Value | undefined>

/**
 * A `from` item that turns parameters with a column of a batch each into rows called `input`, numbered from 1 as `place`.
 * PostgreSQL reads an array of numbers and a JSON array of texts several times faster than a JSON object per row. `skipped`
 * parameters come before them.
 */
export function batchInput(columns: ColumnTypes, skipped = 0): string {
  const names = Object.keys(columns)
  return columnInput(columns, (name) => {
    const parameter = `$${skipped + names.indexOf(name) + 1}`
    return columns[name] === 'bigint' ? `${parameter}::bigint[]` : parameter
  })
}

/** The same with an expression for the values of each column. */
export function columnInput(columns: ColumnTypes, values: (name: string) => string): string {
  const ofType = (wanted: ColumnType) => Object.keys(columns).filter((name) => columns[name] === wanted)
  const [numbers, texts] = [ofType('bigint'), ofType('text')]
  const functions = [
    `unnest(${numbers.map(values).join(', ')})`,
    ...texts.map((name) => `json_array_elements_text(${values(name)})`),
  ]
  return `rows from (${functions.join(', ')}) with ordinality as input (${[...numbers, ...texts].join(', ')}, place)`
}

/** The parameters of `batchInput`. */
export function batchParameters(columns: ColumnTypes, rows: BatchRow[]): string[] {
  return Object.entries(columns).map(([name, type]) => columnParameter(type, rows, (row) => row[name]))
}

/** The parameter of one column: what `read` finds in each row. */
export function columnParameter<Row>(type: ColumnType, rows: Row[], read: (row: Row) => Value | undefined): string {
  if (type === 'bigint') {
    let text = ''
    for (const row of rows) text += `,${read(row) ?? 'null'}`
    return `{${text.slice(1)}}`
  }
  const values = rows.map((row) => read(row) ?? null)
  // Columns that end early are filled up with nulls.
  return values.every((value) => value === null) ? '[]' : JSON.stringify(values)
}
