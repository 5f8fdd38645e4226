import { DatabaseSync } from 'node:sqlite'
import { migrationsFolders } from '../files.ts'
import { createMigrationTable, readMigrations } from '../store/migrations.ts'
import type { SchemaPart } from './schema.ts'

/** Without the indexes of primary keys and unique columns, which SQLite cannot drop. */
export const sqliteSchema = `
  select type as kind, name, tbl_name as "table" from sqlite_schema
  where type in ('table', 'view', 'index') and name not like 'sqlite_%'
  union all
  select 'column', s.name || '.' || c.name, s.name from sqlite_schema s, pragma_table_info(s.name) c
  where s.type in ('table', 'view')`

/** What the migrations make of an empty database. */
export function expectedSqliteSchema(): SchemaPart[] {
  const database = new DatabaseSync(':memory:')
  try {
    database.exec(createMigrationTable)
    for (const { sql } of readMigrations(migrationsFolders.sqlite)) database.exec(sql)
    return database.prepare(sqliteSchema).all() as unknown as SchemaPart[]
  } finally {
    database.close()
  }
}
