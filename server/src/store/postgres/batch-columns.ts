import type { TypedColumn, Value } from '../sql/database.ts'

export type BatchRow = Record<string, Value | undefined>

/**
 * A `from` item that turns parameters with a column of a batch each into rows called `input`, numbered from 1 as `place`.
 * PostgreSQL reads an array of numbers and a JSON array of texts several times faster than a JSON object per row. `names` are
 * those of the columns that the rows have, all by default. `skipped` parameters come before them.
 */
export function batchInput(columns: TypedColumn[], names = columns.map(({ name }) => name), skipped = 0): string {
  const parameters = columns.map((column, i) => ({ ...column, parameter: `$${skipped + i + 1}` }))
  const used = parameters.filter(({ name }) => names.includes(name))
  const numbers = used.filter(({ type }) => type === 'bigint')
  const texts = used.filter(({ type }) => type === 'text')
  const functions = [
    `unnest(${numbers.map(({ parameter }) => `${parameter}::bigint[]`).join(', ')})`,
    ...texts.map(({ parameter }) => `json_array_elements_text(${parameter})`),
  ]
  const inOrder = [...numbers, ...texts].map(({ name }) => name)
  return `rows from (${functions.join(', ')}) with ordinality as input (${inOrder.join(', ')}, place)`
}

/** The parameters of `batchInput`. */
export function batchParameters(columns: TypedColumn[], rows: BatchRow[]): string[] {
  return columns.map(({ name, type }) => columnParameter(type, rows, (row) => row[name]))
}

/** The parameter of one column: what `read` finds in each row. */
export function columnParameter<Row>(
  type: TypedColumn['type'],
  rows: Row[],
  read: (row: Row) => Value | undefined,
): string {
  if (type === 'bigint') {
    let text = ''
    for (const row of rows) text += `,${read(row) ?? 'null'}`
    return `{${text.slice(1)}}`
  }
  const values = rows.map((row) => read(row) ?? null)
  // Columns that end early are filled up with nulls.
  return values.every((value) => value === null) ? '[]' : JSON.stringify(values)
}
