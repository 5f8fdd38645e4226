import { stat } from 'node:fs/promises'
import type { Config } from '../config.ts'
import { type PlacedSecret, tryDecrypt } from '../domain/repositories/secret-rotation.ts'
import { placeColumns, sealedColumnsOf, sealedTables } from '../domain/repositories/vault.ts'
import { findVault, keyFile, usesKeyFile } from '../service/secret-key.ts'
import type { DatabaseReader } from './database.ts'
import { type Finding, fail, ok, plural, warn } from './finding.ts'

/**
 * Checks that the key decrypts the stored secrets. Unlike the start of the service, does not create a key. `database` is null
 * if it cannot be read, or has the tables of another version.
 */
export async function checkSecretKey(config: Config, database: DatabaseReader | null): Promise<Finding> {
  if (database === null) {
    const fix = "Run 'promptledger doctor' again once the database can be opened and has the current version"
    return warn('secret key', 'not checked, because the stored secrets cannot be read', fix)
  }
  const secrets = await encryptedSecrets(database)
  const usesFile = usesKeyFile(config)
  const file = keyFile(config.dataDir)
  const source = usesFile ? file : 'PROMPTLEDGER_SECRET_KEY'
  const vault = findVault(config)
  if (vault === null) {
    const message = usesFile ? `${file} does not exist` : 'PROMPTLEDGER_SECRET_KEY is not set'
    if (secrets.length > 0) {
      const fix =
        'Restore the key that encrypted them. If it is lost, connect the repositories, and add the alerts, sources and signing keys again'
      return fail(
        'secret key',
        `${message}, but ${plural(secrets.length, 'stored secret needs', 'stored secrets need')} it`,
        fix,
      )
    }
    if (usesFile) return ok('secret key', `${message} yet; the service creates it on start`)
    return warn('secret key', message, "Set it before you connect a repository: 'openssl rand -hex 32'")
  }
  const unreadable = secrets.filter((secret) => tryDecrypt(vault, secret) === null)
  if (unreadable.length > 0) {
    const fix =
      'Restore the key that encrypted them, or connect those repositories, and add those alerts, sources and signing keys again'
    return fail(
      'secret key',
      `${source} cannot decrypt ${unreadable.length} of ${plural(secrets.length, 'stored secret')}`,
      fix,
    )
  }
  if (usesFile && ((await stat(file)).mode & 0o077) !== 0) {
    return warn('secret key', `other users of this machine can read ${file}`, `Run 'chmod 600 ${file}'`)
  }
  const outdated = secrets.filter(({ sealed }) => !vault.isCurrent(sealed))
  if (outdated.length > 0) {
    return warn(
      'secret key',
      `${outdated.length} of ${plural(secrets.length, 'stored secret')} are encrypted with an old key or in the old format`,
      "Run 'promptledger secret-key rotate'",
    )
  }
  return ok('secret key', `${source} decrypts all of ${plural(secrets.length, 'stored secret')}`)
}

async function encryptedSecrets(database: DatabaseReader): Promise<PlacedSecret[]> {
  const secrets: PlacedSecret[] = []
  for (const table of sealedTables) {
    const columns = sealedColumnsOf(table)
    const rows = await database.rows(
      `select ${placeColumns[table] ?? 'null'} as place, ${columns.join(', ')} from ${table}`,
    )
    for (const row of rows) {
      for (const column of columns) {
        if (row[column] === null) continue
        secrets.push({ table, place: row.place as string | null, column, sealed: row[column] as string })
      }
    }
  }
  return secrets
}
