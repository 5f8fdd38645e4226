import { type Config, parseSecretKeys } from '../config.ts'
import type { ArchiveRow, ArchiveTable } from '../domain/archive/archive.ts'
import { type PlacedSecret, placeOf, tryDecrypt } from '../domain/repositories/secret-rotation.ts'
import { createVault, placeColumns, type SealedTable, sealedColumns, type Vault } from '../domain/repositories/vault.ts'
import { findVault } from '../service/secret-key.ts'

export interface SecretOptions {
  /** The key that the secrets were encrypted with, or null if it is the one configured here. */
  oldKey: string | null
  /** Store secrets that cannot be decrypted as they are. */
  leaveUnreadable: boolean
}

interface ArchiveSecrets {
  /** Counts the rows whose secrets cannot be decrypted. */
  check(table: ArchiveTable, rows: ArchiveRow[]): void
  failIfUnreadable(): void
  /** Replaces secrets that only the old key decrypts by ones encrypted with the current key. */
  reencrypt(table: ArchiveTable, rows: ArchiveRow[]): ArchiveRow[]
}

/** The encrypted secrets in an archive, which may come from a service with another secret key. */
export async function openArchiveSecrets(
  config: Config,
  { oldKey, leaveUnreadable }: SecretOptions,
): Promise<ArchiveSecrets> {
  const current = findVault(config)
  const old = oldKey === null ? null : openOldVault(oldKey)
  const unreadable: Record<SealedTable, number> = {
    repositories: 0,
    organisations: 0,
    alerts: 0,
    api_keys: 0,
    sources: 0,
  }

  /** Returns the secret encrypted with the current key, or null if neither key decrypts it. */
  function withCurrentKey(secret: RowSecret): string | null {
    if (current === null) return null
    if (tryDecrypt(current, secret) !== null) return secret.sealed
    const text = old === null ? null : tryDecrypt(old, secret)
    return text === null ? null : current.encrypt(text, placeOf(secret))
  }

  return {
    check(table, rows) {
      if (!isSealedTable(table.name)) return
      const isUnreadable = (row: ArchiveRow) => secretsIn(table, row).some((secret) => withCurrentKey(secret) === null)
      unreadable[table.name] += rows.filter(isUnreadable).length
    },
    failIfUnreadable() {
      const { repositories, organisations, alerts, api_keys: signingKeys, sources } = unreadable
      if (Object.values(unreadable).every((count) => count === 0) || leaveUnreadable) return
      const owners = [
        counted(repositories, '1 repository', 'repositories'),
        counted(organisations, '1 organisation', 'organisations'),
        counted(alerts, '1 alert', 'alerts'),
        counted(signingKeys, '1 signing key', 'signing keys'),
        counted(sources, '1 source', 'sources'),
      ].filter((owner) => owner !== null)
      const isSqlite = config.databaseUrl.startsWith('sqlite:')
      throw new Error(
        `The secrets of ${new Intl.ListFormat('en-GB').format(owners)} were encrypted with another secret key${current === null ? ', and none is set here' : ''}. ` +
          (isSqlite
            ? `Copy the secret.key of the old service to ${config.dataDir}, or set PROMPTLEDGER_SECRET_KEY to the old key. `
            : 'Set PROMPTLEDGER_SECRET_KEY to the old key (with SQLite, the contents of secret.key). ') +
          'To keep the key in use here, put the old one into an environment variable and name it with --secret-key-env. ' +
          'If the old key is lost, use --leave-secrets. Nothing was changed.',
      )
    },
    reencrypt(table, rows) {
      if (!isSealedTable(table.name)) return rows
      return rows.map((row) => {
        const copy = row.slice()
        for (const secret of secretsIn(table, row))
          copy[secret.index] = withCurrentKey(secret) ?? unreadableValue(secret)
        return copy
      })
    },
  }
}

function counted(count: number, one: string, many: string): string | null {
  if (count === 0) return null
  return count === 1 ? one : `${count} ${many}`
}

type RowSecret = PlacedSecret & { index: number }

/**
 * A repository shows that its secrets are unreadable and can be connected again, and an alert that messages cannot be sent. A signing
 * key can be rotated, and the secret of a source set again. A voter key is created again where it is missing.
 */
function unreadableValue({ table, sealed }: RowSecret): string | null {
  return table === 'organisations' ? null : sealed
}

function isSealedTable(name: string): name is SealedTable {
  return name in sealedColumns
}

/** The secrets of a row, each with the index of its column. */
function secretsIn({ name: table, columns }: ArchiveTable, row: ArchiveRow): RowSecret[] {
  if (!isSealedTable(table)) return []
  const names = Object.keys(columns)
  const place = (row[names.indexOf(placeColumns[table] ?? '')] ?? null) as string | null
  return names.flatMap((column, index) => {
    const sealed = row[index]
    return column in sealedColumns[table] && typeof sealed === 'string' ? [{ table, place, column, sealed, index }] : []
  })
}

/** The contents of a key file may be given too, with the current key last. */
function openOldVault(text: string): Vault {
  const keys = parseSecretKeys(text)
  const current = keys?.at(-1)
  if (current === undefined) throw new Error('The secret key must be 32 bytes, as 64 hexadecimal digits or base64.')
  return createVault(current, keys)
}
