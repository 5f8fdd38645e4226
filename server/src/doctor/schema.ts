/** A part of the schema that the statements of the service need. */
export interface SchemaPart {
  kind: 'table' | 'view' | 'column' | 'index'
  /** Of a column with that of its table. */
  name: string
  table: string
}

const kinds: SchemaPart['kind'][] = ['table', 'view', 'column', 'index']

/** The parts that are missing, tables first. Of a missing table or view, only itself. */
export function missingParts(expected: SchemaPart[], actual: SchemaPart[]): SchemaPart[] {
  const keyOf = ({ kind, name }: Pick<SchemaPart, 'kind' | 'name'>) => `${kind} ${name}`
  const existing = new Set(actual.map(keyOf))
  const missing = expected.filter((part) => !existing.has(keyOf(part)))
  const gone = new Set(missing.flatMap(({ kind, name }) => (kind === 'table' || kind === 'view' ? [name] : [])))
  return missing
    .filter(({ name, table }) => name === table || !gone.has(table))
    .sort((a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind))
}
