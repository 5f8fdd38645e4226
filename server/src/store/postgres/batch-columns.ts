import type { ColumnType, ColumnTypes, Value } from '../sql/database.ts'

export type BatchRow = Record<string, Value | undefined>

/**
 * A `from` item that turns parameters with a column of a batch each into rows called `input`, numbered from 1 as `place`.
 * PostgreSQL reads an array of numbers and a JSON array of texts several times faster than a JSON object per row. `skipped`
 * parameters come before them.
 */
export function batchInput(columns: ColumnTypes, skipped = 0): string {
  const parameters = Object.entries(columns).map(([name, type], i) => ({
    name,
    type,
    parameter: `$${skipped + i + 1}`,
  }))
  const numbers = parameters.filter(({ type }) => type === 'bigint')
  const texts = parameters.filter(({ type }) => type === 'text')
  const functions = [
    `unnest(${numbers.map(({ parameter }) => `${parameter}::bigint[]`).join(', ')})`,
    ...texts.map(({ parameter }) => `json_array_elements_text(${parameter})`),
  ]
  const inOrder = [...numbers, ...texts].map(({ name }) => name)
  return `rows from (${functions.join(', ')}) with ordinality as input (${inOrder.join(', ')}, place)`
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
