import type { Clock } from '../../domain/time.ts'
import { migrationsFolders } from '../../files.ts'
import { createMigrationTable, currentVersion, pendingMigrations, readMigrations } from '../migrations.ts'
import { chainEarlierEntries } from '../sql/unchained-audit.ts'
import type { SqliteDatabase } from './database.ts'

export async function migrate(database: SqliteDatabase, clock: Clock): Promise<number> {
  const migrations = readMigrations(migrationsFolders.sqlite)
  await database.transaction(() => {
    database.execute(createMigrationTable)
    const current = database.prepare(currentVersion).get()?.version as number
    for (const { version, name, sql } of pendingMigrations(migrations, current)) {
      database.execute(sql)
      database
        .prepare('insert into schema_migrations (version, name, applied_at) values (?, ?, ?)')
        .run(version, name, clock())
    }
  })
  await chainEarlierEntries(database, clock())
  return migrations.at(-1)?.version ?? 0
}
