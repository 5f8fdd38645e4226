import { readdirSync, readFileSync } from 'node:fs'

interface Migration {
  version: number
  name: string
  sql: string
}

const fileName = /^(\d{4})-(.+)\.sql$/

/** Reads the migrations of a folder (`0001-name.sql` and so on), in order. */
export function readMigrations(folder: URL): Migration[] {
  return readdirSync(folder)
    .sort()
    .flatMap((file) => {
      const [, version, name] = fileName.exec(file) ?? []
      if (version === undefined || name === undefined) return []
      return [{ version: Number(version), name, sql: readFileSync(new URL(file, folder), 'utf8') }]
    })
}

/** The migrations that a database at version `current` lacks. Throws if the database is newer than this code. */
export function pendingMigrations(migrations: Migration[], current: number): Migration[] {
  const newest = migrations.at(-1)?.version ?? 0
  if (current > newest) {
    throw new Error(
      `The database is at version ${current}, but this release supports only up to version ${newest}. Update Promptledger`,
    )
  }
  return migrations.filter(({ version }) => version > current)
}

export const createMigrationTable =
  'create table if not exists schema_migrations (version integer primary key, name text not null, applied_at bigint not null)'

export const createdAt = 'select applied_at from schema_migrations order by version limit 1'

export const currentVersion = 'select coalesce(max(version), 0) as version from schema_migrations'
