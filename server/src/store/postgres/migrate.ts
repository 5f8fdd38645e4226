import type { Clock } from '../../domain/time.ts'
import { migrationsFolders } from '../../files.ts'
import { createMigrationTable, currentVersion, pendingMigrations, readMigrations } from '../migrations.ts'
import { chainEarlierEntries } from '../sql/unchained-audit.ts'
import type { PostgresDatabase } from './database.ts'
import { completeDistribution, inSequence } from './distribute.ts'
import { dropSignalKey } from './signal-key.ts'

export async function migrate(database: PostgresDatabase, clock: Clock): Promise<number> {
  const migrations = readMigrations(migrationsFolders.postgres)
  await database.withLock(async (client) => {
    await client.query(createMigrationTable)
    const current = (await client.query(currentVersion)).rows[0]?.version as number
    for (const { version, name, sql } of pendingMigrations(migrations, current)) {
      await client.query('begin')
      if (database.isDistributed) await client.query(inSequence)
      for (const statement of splitStatements(sql)) await client.query(statement)
      await client.query('insert into schema_migrations (version, name, applied_at) values ($1, $2, $3)', [
        version,
        name,
        clock(),
      ])
      await client.query('commit')
    }
    if (database.isDistributed) await completeDistribution(client)
    else await dropSignalKey(client)
  })
  await chainEarlierEntries(database, clock())
  return migrations.at(-1)?.version ?? 0
}

/**
 * The statements of a migration, one by one: Citus does not take several in one query once tables are distributed. Migrations have
 * no `--` or `;` inside of texts, and a statement ends at the end of a line.
 */
export function splitStatements(sql: string): string[] {
  return sql
    .replaceAll(/--.*$/gm, '')
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
}
