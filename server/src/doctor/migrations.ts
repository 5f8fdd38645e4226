import { migrationsFolders } from '../files.ts'
import { readMigrations } from '../store/migrations.ts'
import type { DatabaseReader } from './database.ts'
import { type Finding, fail, listExamples, ok, warn } from './finding.ts'
import { missingParts, type SchemaPart } from './schema.ts'

const migrationTableExists = {
  sqlite: `select count(*) as tables from sqlite_schema where name = 'schema_migrations'`,
  postgres: `select count(to_regclass('schema_migrations')) as tables`,
}

/** `migrated`: the tables are of the version that this code expects. */
export async function checkMigrations(database: DatabaseReader): Promise<{ finding: Finding; migrated: boolean }> {
  const { engine } = database
  const migrations = readMigrations(migrationsFolders[engine])
  const newest = migrations.at(-1)?.version ?? 0
  const { version, applied } = await readVersion(database)
  const message = `the database is at version ${version}, this Promptledger at ${newest}`
  if (version === 0) {
    const fix = "Check DATABASE_URL. If it is correct, start the service or run 'promptledger migrate'"
    return { migrated: false, finding: fail('migrations', 'the database is empty', fix) }
  }
  if (version > newest) {
    const fix = 'Update Promptledger: it does not open a newer database'
    return { migrated: false, finding: fail('migrations', message, fix) }
  }
  // Numbers may be left out, so the version is not the number of migrations.
  if (applied !== migrations.filter((migration) => migration.version <= version).length) {
    const fix = 'Restore a backup: the table schema_migrations was changed by hand'
    return { migrated: false, finding: fail('migrations', `${message}, but it records ${applied} migrations`, fix) }
  }
  if (version < newest) {
    const fix = "Start this version or run 'promptledger migrate'. Until then, stored data is not checked"
    return { migrated: false, finding: warn('migrations', message, fix) }
  }
  const missing = missingParts(
    database.schema.expected(),
    (await database.rows(database.schema.query)) as unknown as SchemaPart[],
  )
  if (missing.length === 0) return { migrated: true, finding: ok('migrations', message) }
  const listed = listExamples(missing.map(({ kind, name }) => `${kind} ${name}`))
  const fix = 'Restore a backup: the last restore was not complete, or this was dropped by hand'
  // The other checks need tables and columns, but no index.
  const migrated = missing.every(({ kind }) => kind === 'index')
  return { migrated, finding: fail('migrations', `${message}, but it lacks the ${listed}`, fix) }
}

async function readVersion(database: DatabaseReader): Promise<{ version: number; applied: number }> {
  const [existing] = await database.rows(migrationTableExists[database.engine])
  if (existing?.tables === 0) return { version: 0, applied: 0 }
  const [row] = await database.rows(
    'select coalesce(max(version), 0) as version, count(*) as applied from schema_migrations',
  )
  return row as { version: number; applied: number }
}
