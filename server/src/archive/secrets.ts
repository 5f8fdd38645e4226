import { type Config, parseSecretKey } from '../config.ts'
import type { ArchiveRow, ArchiveTable } from '../domain/archive/archive.ts'
import { createVault, type Vault } from '../domain/repositories/vault.ts'
import { findVault } from '../service/secret-key.ts'

export interface SecretOptions {
  /** The key that the secrets were encrypted with, or null if it is the one configured here. */
  oldKey: string | null
  /** Store secrets that cannot be decrypted as they are. */
  leaveUnreadable: boolean
}

export interface ArchiveSecrets {
  /** Counts the repositories whose secrets cannot be decrypted. */
  check(table: ArchiveTable, rows: ArchiveRow[]): void
  failIfUnreadable(): void
  /** Replaces secrets that only the old key decrypts by ones encrypted with the current key. */
  reencrypt(table: ArchiveTable, rows: ArchiveRow[]): ArchiveRow[]
}

/** The encrypted secrets of the repositories in an archive, which may come from a service with another secret key. */
export async function openArchiveSecrets(
  config: Config,
  { oldKey, leaveUnreadable }: SecretOptions,
): Promise<ArchiveSecrets> {
  const current = await findVault(config)
  const old = oldKey === null ? null : createVault(parseOldKey(oldKey))
  let unreadable = 0

  /** Returns the secret encrypted with the current key, or null if neither key decrypts it. */
  function withCurrentKey(secret: string): string | null {
    if (current === null) return null
    if (canDecrypt(current, secret)) return secret
    return old !== null && canDecrypt(old, secret) ? current.encrypt(old.decrypt(secret)) : null
  }

  return {
    check(table, rows) {
      const isUnreadable = (row: ArchiveRow) =>
        secretsIn(table, row).some(([, secret]) => withCurrentKey(secret) === null)
      unreadable += rows.filter(isUnreadable).length
    },
    failIfUnreadable() {
      if (unreadable === 0 || leaveUnreadable) return
      const repositories = unreadable === 1 ? '1 repository' : `${unreadable} repositories`
      const isSqlite = config.databaseUrl.startsWith('sqlite:')
      throw new Error(
        `The secrets of ${repositories} were encrypted with another secret key${current === null ? ', and none is set here' : ''}. ` +
          (isSqlite
            ? `Copy the secret.key of the old service to ${config.dataDir}, or set PROMPTLEDGER_SECRET_KEY to the old key. `
            : 'Set PROMPTLEDGER_SECRET_KEY to the old key (with SQLite, the contents of secret.key). ') +
          'To keep the key in use here, put the old one into an environment variable and name it with --secret-key-env. ' +
          'If the old key is lost, use --leave-secrets. Nothing was changed.',
      )
    },
    reencrypt(table, rows) {
      if (table.name !== 'repositories') return rows
      return rows.map((row) => {
        const copy = row.slice()
        for (const [column, secret] of secretsIn(table, row)) copy[column] = withCurrentKey(secret) ?? secret
        return copy
      })
    },
  }
}

/** The secrets of a row, each with the index of its column. */
function secretsIn({ columns }: ArchiveTable, row: ArchiveRow): [number, string][] {
  return Object.keys(columns).flatMap((name, column) => {
    const value = row[column]
    return name.startsWith('sealed_') && typeof value === 'string' ? [[column, value]] : []
  })
}

function canDecrypt(vault: Vault, secret: string): boolean {
  try {
    vault.decrypt(secret)
    return true
  } catch {
    return false
  }
}

function parseOldKey(text: string): Buffer {
  const key = parseSecretKey(text.trim())
  if (!key) throw new Error('The secret key must be 32 bytes, as 64 hexadecimal digits or base64.')
  return key
}
