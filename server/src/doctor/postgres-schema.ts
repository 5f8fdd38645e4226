import { migrationsFolders } from '../files.ts'
import { createMigrationTable, readMigrations } from '../store/migrations.ts'
import { splitStatements } from '../store/postgres/migrate.ts'
import type { SchemaPart } from './schema.ts'

// Not those of PostgreSQL and its extensions, which are always visible.
const isOurs = `pg_table_is_visible(c.oid) and c.relnamespace <> 'pg_catalog'::regnamespace
  and not exists (select 1 from pg_depend d where d.objid = c.oid and d.classid = 'pg_class'::regclass and d.deptype = 'e')`

/** An index that could not be completed counts as missing. That of a partitioned table is complete once all months have it. */
export const postgresSchema = `
  select case when c.relkind = 'v' then 'view' else 'table' end as kind, c.relname as name, c.relname as "table"
  from pg_class c where c.relkind in ('r', 'p', 'v') and ${isOurs}
  union all
  select 'column', c.relname || '.' || a.attname, c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid
  where c.relkind in ('r', 'p') and ${isOurs} and a.attnum > 0 and not a.attisdropped
  union all
  select 'index', c.relname, t.relname
  from pg_class c join pg_index i on i.indexrelid = c.oid join pg_class t on t.oid = i.indrelid
  where ${isOurs} and (c.relkind = 'I' or i.indisvalid)`

// The service drops the key of signals, or creates it again when it distributes them: store/postgres/signal-key.ts.
const changedLater = 'signals_pkey'

/** What the migrations make of an empty database, read from their text: nothing is created. A test compares it with a database. */
export function expectedPostgresSchema(): SchemaPart[] {
  const statements = readMigrations(migrationsFolders.postgres).flatMap(({ sql }) => splitStatements(sql))
  const dropped = statements.flatMap((statement) => {
    const [, table, column] = /^alter table (\w+) drop column (\w+)$/i.exec(statement) ?? []
    return table === undefined ? [] : [`${table}.${column}`]
  })
  const gone = new Set([changedLater, ...dropped])
  return [createMigrationTable, ...statements].flatMap(partsOf).filter(({ name }) => !gone.has(name))
}

function partsOf(statement: string): SchemaPart[] {
  const [, table, body] = /^create table (?:if not exists )?(\w+) \((.*)/is.exec(statement) ?? []
  if (table !== undefined) {
    const own: SchemaPart = { kind: 'table', name: table, table }
    return [own, ...definitionsIn(body as string).flatMap((definition) => partsOfDefinition(table, definition))]
  }
  const [, view] = /^create view (\w+)/i.exec(statement) ?? []
  if (view !== undefined) return [{ kind: 'view', name: view, table: view }]
  const [, index, of = ''] = /^create (?:unique )?index (\w+) on (\w+)/i.exec(statement) ?? []
  if (index !== undefined) return [{ kind: 'index', name: index, table: of }]
  const [, changed, definition = ''] = /^alter table (\w+) add column (.*)$/is.exec(statement) ?? []
  return changed === undefined ? [] : partsOfDefinition(changed, definition)
}

/** A line of `create table`: a column, with the indexes of its constraints, or a constraint of the table. */
function partsOfDefinition(table: string, definition: string): SchemaPart[] {
  const [, constraint, columns] = /^(primary key|unique|check|foreign key)\b\s*\(([^)]*)\)/i.exec(definition) ?? []
  const [column = ''] = definition.split(/\s/, 1)
  const parts: SchemaPart[] = constraint === undefined ? [{ kind: 'column', name: `${table}.${column}`, table }] : []
  const constraints = constraint ?? definition
  const keyed = columns?.split(/,\s*/).join('_') ?? column
  if (/\bprimary key\b/i.test(constraints)) parts.push({ kind: 'index', name: `${table}_pkey`, table })
  if (/\bunique\b/i.test(constraints)) parts.push({ kind: 'index', name: `${table}_${keyed}_key`, table })
  return parts
}

/** Splits what follows an opening parenthesis at its commas, up to the closing one. */
function definitionsIn(text: string): string[] {
  const definitions = ['']
  let depth = 0
  for (const character of text) {
    if (character === '(') depth++
    if (character === ')' && depth-- === 0) break
    if (character === ',' && depth === 0) definitions.push('')
    else definitions.push(definitions.pop() + character)
  }
  return definitions.map((definition) => definition.trim())
}
