import { stat } from 'node:fs/promises'
import type { Config } from '../config.ts'
import type { Plan } from '../domain/access/plan.ts'
import type { ArchiveMetadata, ArchiveRow, ArchiveTable, Offsets } from '../domain/archive/archive.ts'
import type { Store } from '../domain/store.ts'
import { migrationsFolders } from '../files.ts'
import { readMigrations } from '../store/migrations.ts'
import type { StartProgress } from './backup.ts'
import { type Archive, type CheckRows, checkArchiveFile, readArchiveRows } from './file.ts'
import { importCheck, withGrants } from './imported-rows.ts'
import { openArchiveSecrets, type SecretOptions } from './secrets.ts'

export interface RestoredArchive {
  archive: Archive
  bytes: number
}

/** An archive that this version can store, with secrets that it can read. */
interface CheckedArchive extends RestoredArchive {
  storeIn(store: Store): Promise<Offsets>
}

/** Checks a backup, which needs no database: one that is damaged must not create an empty one. */
export async function checkBackup(
  config: Config,
  file: string,
  secretOptions: SecretOptions,
  startProgress: StartProgress,
): Promise<CheckedArchive> {
  // Migrations come in pairs, so both engines have the same version.
  const schema = readMigrations(migrationsFolders.sqlite).at(-1)?.version ?? 0
  return checkArchive(schema, config, file, secretOptions, startProgress, {
    checkFor({ organisationId }) {
      // A backup is as trusted as the database that it replaces.
      if (organisationId === null) return () => {}
      throw new Error(`${file} contains one organisation. Use 'promptledger import organisation ${file}'.`)
    },
  })
}

export interface ImportedOrganisation extends RestoredArchive {
  organisationId: number
  /** How far the IDs of each table were shifted. Tables whose IDs are unchanged are left out. */
  shifted: Record<string, number>
}

export interface ImportOptions extends SecretOptions {
  /** Null for the plan in the file. */
  plan: Plan | null
  /** Imports an organisation although its audit log was changed. */
  acceptBrokenAudit?: boolean
}

/** Adds an exported organisation to a database, empty or not. */
export async function importOrganisation(
  store: Store,
  config: Config,
  file: string,
  { plan, acceptBrokenAudit = false, ...secretOptions }: ImportOptions,
  startProgress: StartProgress,
): Promise<ImportedOrganisation> {
  const { storeIn, ...restored } = await checkArchive(store.schemaVersion, config, file, secretOptions, startProgress, {
    checkFor({ organisationId, lastIds }) {
      if (organisationId !== null) return importCheck(file, { lastIds, allowLocal: config.allowLocalRepositories })
      throw new Error(`${file} contains a whole database. Use 'promptledger restore ${file}'.`)
    },
    adapt: (table, rows) => withGrants(table, rows, plan),
    acceptBrokenAudit,
  })
  const offsets = await storeIn(store)
  return {
    ...restored,
    organisationId: (restored.archive.organisationId as number) + offsets.organisations,
    shifted: Object.fromEntries(Object.entries(offsets).filter(([, offset]) => offset > 0)),
  }
}

interface ReadOptions {
  /** Rejects archives of the wrong kind, and rows that cannot be stored. */
  checkFor(archive: ArchiveMetadata): CheckRows
  /** The rows as they are stored here. */
  adapt?(table: ArchiveTable, rows: ArchiveRow[]): ArchiveRow[]
  acceptBrokenAudit?: boolean
}

/** Checks the file to its end before the database is changed. */
async function checkArchive(
  schema: number,
  config: Config,
  file: string,
  secretOptions: SecretOptions,
  startProgress: StartProgress,
  { checkFor, adapt = (_table, rows) => rows, acceptBrokenAudit = false }: ReadOptions,
): Promise<CheckedArchive> {
  const { size: bytes } = await stat(file).catch((error: Error) => {
    throw new Error(`Cannot read ${file}: ${error.message}`)
  })
  const secrets = await openArchiveSecrets(config, secretOptions)
  const onBytes = startProgress('Checking', bytes, 'bytes')
  const archive = await checkArchiveFile(file, schema, onBytes, (metadata) => {
    const checkRows = checkFor(metadata)
    return (table, rows) => {
      checkRows(table, rows)
      secrets.check(table, rows)
    }
  })
  secrets.failIfUnreadable()
  return {
    archive,
    bytes,
    storeIn(store) {
      const total = archive.tables.reduce((sum, { rows }) => sum + rows, 0)
      const onStored = startProgress('Storing', total, 'rows')
      async function* batches(): AsyncGenerator<{ table: ArchiveTable; rows: ArchiveRow[] }> {
        for await (const { table, rows } of readArchiveRows(file, archive)) {
          yield { table, rows: secrets.reencrypt(table, adapt(table, rows)) }
          onStored(rows.length)
        }
      }
      const onVerified = startProgress('Verifying', total, 'rows')
      const at = Date.now()
      return store.archive.write({ ...archive, at, batches: batches(), acceptBrokenAudit, onVerified })
    },
  }
}
