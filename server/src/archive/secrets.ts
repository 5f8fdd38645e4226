import type { Config } from '../config.ts'
import { parseSecretKey } from '../config.ts'
import type { ArchiveRow, ArchiveTable } from '../domain/archive/archive.ts'
import { newVault, type Vault } from '../domain/repositories/vault.ts'
import { findVault } from '../service/secret-key.ts'

export interface SecretOptions {
  /** The key that they were sealed with where the archive was made; null where it is the same as here. */
  secretKey: string | null
  /** Store them even if nobody can open them. */
  leave: boolean
}

export interface ArchiveSecrets {
  check(table: ArchiveTable, rows: ArchiveRow[]): void
  /** Throws where some of what was checked cannot be opened here. */
  refuse(): void
  sealAnew(table: ArchiveTable, rows: ArchiveRow[]): ArchiveRow[]
}

/** The sealed secrets of repositories: whether the key here opens them, and with another key, sealed with the one here. */
export async function archiveSecrets(config: Config, { secretKey, leave }: SecretOptions): Promise<ArchiveSecrets> {
  const here = await findVault(config)
  const there = secretKey === null ? null : newVault(parseOrFail(secretKey))
  let unreadable = 0

  /** The secret sealed with the key here; null where that cannot be. */
  function toHere(sealed: string): string | null {
    if (here !== null && opens(here, sealed)) return sealed
    return here !== null && there !== null && opens(there, sealed) ? here.seal(there.open(sealed)) : null
  }

  return {
    check(table, rows) {
      unreadable += rows.filter((row) => sealedOf(table, row).some(([, sealed]) => toHere(sealed) === null)).length
    },
    refuse() {
      if (unreadable === 0 || leave) return
      const place = config.databaseUrl.startsWith('sqlite:')
        ? `copy its secret.key to ${config.dataDir}, or set PROMPTLEDGER_SECRET_KEY to it`
        : 'set PROMPTLEDGER_SECRET_KEY to it (beside SQLite it is in secret.key)'
      throw new Error(
        `The secrets of ${unreadable === 1 ? 'a repository' : `${unreadable} repositories`} were stored with another secret key${here === null ? '; here is none' : ''}: ${place}. ` +
          'Where another is in use here, name a variable that holds the old one: --secret-key-env. Where it is lost: --leave-secrets. Nothing was changed',
      )
    },
    sealAnew(table, rows) {
      if (table.name !== 'repositories') return rows
      return rows.map((row) => {
        const sealed = row.slice()
        for (const [place, secret] of sealedOf(table, row)) sealed[place] = toHere(secret) ?? secret
        return sealed
      })
    },
  }
}

/** The secrets in a row, and in which place each stands. */
function sealedOf({ columns }: ArchiveTable, row: ArchiveRow): [number, string][] {
  return Object.keys(columns).flatMap((name, place) => {
    const value = row[place]
    return name.startsWith('sealed_') && typeof value === 'string' ? [[place, value]] : []
  })
}

function opens(vault: Vault, sealed: string): boolean {
  try {
    vault.open(sealed)
    return true
  } catch {
    return false
  }
}

function parseOrFail(text: string): Buffer {
  const key = parseSecretKey(text.trim())
  if (!key) throw new Error('The secret key must be 32 bytes as 64 hexadecimal digits or in base64')
  return key
}
