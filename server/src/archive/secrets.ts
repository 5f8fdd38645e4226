import { type Config, parseSecretKeys } from '../config.ts'
import type { ArchiveRow, ArchiveTable } from '../domain/archive/archive.ts'
import { placeOf, type SealedSecret, tryDecrypt } from '../domain/repositories/secret-rotation.ts'
import { createVault, type SealedColumn, sealedColumns, type Vault } from '../domain/repositories/vault.ts'
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
  const current = findVault(config)
  const old = oldKey === null ? null : openOldVault(oldKey)
  let unreadable = 0

  /** Returns the secret encrypted with the current key, or null if neither key decrypts it. */
  function withCurrentKey(secret: RowSecret): string | null {
    if (current === null) return null
    if (tryDecrypt(current, secret) !== null) return secret.sealed
    const text = old === null ? null : tryDecrypt(old, secret)
    return text === null ? null : current.encrypt(text, placeOf(secret))
  }

  return {
    check(table, rows) {
      const isUnreadable = (row: ArchiveRow) => secretsIn(table, row).some((secret) => withCurrentKey(secret) === null)
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
        for (const secret of secretsIn(table, row)) copy[secret.index] = withCurrentKey(secret) ?? secret.sealed
        return copy
      })
    },
  }
}

type RowSecret = Pick<SealedSecret, 'hookId' | 'column' | 'sealed'> & { index: number }

/** The secrets of a row, each with the index of its column. */
function secretsIn({ columns }: ArchiveTable, row: ArchiveRow): RowSecret[] {
  const names = Object.keys(columns)
  const hookId = row[names.indexOf('hook_id')] as string
  return names.flatMap((name, index) => {
    const sealed = row[index]
    return name in sealedColumns && typeof sealed === 'string'
      ? [{ hookId, column: name as SealedColumn, sealed, index }]
      : []
  })
}

/** The contents of a key file may be given too, with the current key last. */
function openOldVault(text: string): Vault {
  const keys = parseSecretKeys(text)
  const current = keys?.at(-1)
  if (current === undefined) throw new Error('The secret key must be 32 bytes, as 64 hexadecimal digits or base64.')
  return createVault(current, keys)
}
