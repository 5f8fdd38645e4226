import { stat } from 'node:fs/promises'
import type { Config } from '../config.ts'
import { createVault, type Vault } from '../domain/repositories/vault.ts'
import { keyFile, readKeyFile } from '../service/secret-key.ts'
import type { DatabaseReader } from './database.ts'
import { type Finding, fail, ok, plural, warn } from './finding.ts'

/** Checks that the key decrypts the stored secrets. Unlike the start of the service, does not create a key. */
export async function checkSecretKey(config: Config, database: DatabaseReader | null): Promise<Finding> {
  const secrets = database === null ? [] : await encryptedSecrets(database)
  const usesFile = config.secretKey === null && config.databaseUrl.startsWith('sqlite:')
  const file = keyFile(config.dataDir)
  const source = usesFile ? file : 'PROMPTLEDGER_SECRET_KEY'
  const key = usesFile ? await readKeyFile(file) : config.secretKey
  if (key === null) {
    const message = usesFile ? `${file} does not exist` : 'PROMPTLEDGER_SECRET_KEY is not set'
    if (secrets.length > 0) {
      const fix = 'Restore the key that encrypted them. If it is lost, connect the repositories again'
      return fail(
        'secret key',
        `${message}, but ${plural(secrets.length, 'stored secret needs', 'stored secrets need')} it`,
        fix,
      )
    }
    if (usesFile) return ok('secret key', `${message} yet; the service creates it on start`)
    return warn('secret key', message, "Set it before you connect a repository: 'openssl rand -hex 32'")
  }
  const vault = createVault(key)
  const unreadable = secrets.filter((secret) => !canDecrypt(vault, secret))
  if (unreadable.length > 0) {
    const fix = 'Restore the key that encrypted them, or connect those repositories again'
    return fail(
      'secret key',
      `${source} cannot decrypt ${unreadable.length} of ${plural(secrets.length, 'stored secret')}`,
      fix,
    )
  }
  if (usesFile && ((await stat(file)).mode & 0o077) !== 0) {
    return warn('secret key', `other users of this machine can read ${file}`, `Run 'chmod 600 ${file}'`)
  }
  return ok('secret key', `${source} decrypts all of ${plural(secrets.length, 'stored secret')}`)
}

async function encryptedSecrets(database: DatabaseReader): Promise<string[]> {
  const rows = await database.rows('select sealed_token, sealed_secret, sealed_old_secret from repositories')
  return rows.flatMap((row) => Object.values(row)).filter((value) => typeof value === 'string')
}

function canDecrypt(vault: Vault, secret: string): boolean {
  try {
    vault.decrypt(secret)
    return true
  } catch {
    return false
  }
}
