import type { Instant } from '../time.ts'
import { type SealedTable, type SecretPlace, sealedColumns, sealedTables, type Vault } from './vault.ts'

/** One encrypted value. */
interface SealedSecret {
  organisationId: number
  table: SealedTable
  id: number
  /** What identifies the row in what is authenticated: see `SecretPlace`. */
  place: string | null
  column: string
  sealed: string
}

export interface SealedSecretStore {
  /** The secrets of up to `limit` rows of the table with an ID above `afterId`, in order of ID. */
  list(table: SealedTable, afterId: number, limit: number): Promise<SealedSecret[]>
  /**
   * Replaces values of one organisation, except those that have changed since they were listed. Its audit log says how many.
   * Returns that number.
   */
  replace(organisationId: number, replacements: Replacement[], at: Instant): Promise<number>
}

export interface Replacement {
  secret: SealedSecret
  sealed: string
}

export interface Reencryption {
  reencrypted: number
  /** Those that none of the keys decrypts. They are left as they are. */
  unreadable: SealedSecret[]
}

export function placeOf({ table, place, column }: Omit<PlacedSecret, 'sealed'>): SecretPlace {
  const kind = (sealedColumns[table] as Record<string, SecretPlace['kind']>)[column]
  if (table === 'alerts') return { alertId: place, kind } as SecretPlace
  if (table === 'sources') return { sourceId: place, kind } as SecretPlace
  return (table === 'api_keys' ? { signingId: place, kind } : { hookId: place, kind }) as SecretPlace
}

export type PlacedSecret = Pick<SealedSecret, 'table' | 'place' | 'column' | 'sealed'>

const batchSize = 500

/**
 * Encrypts every secret with the current key. Safe to interrupt and to run again, and while the service changes secrets: it
 * repeats until it finds nothing to do.
 */
export async function reencryptSecrets(secrets: SealedSecretStore, vault: Vault, now: Instant): Promise<Reencryption> {
  let reencrypted = 0
  for (;;) {
    const unreadable: SealedSecret[] = []
    const replacements: Replacement[] = []
    for await (const secret of listSecrets(secrets)) {
      if (vault.isCurrent(secret.sealed)) continue
      const text = tryDecrypt(vault, secret)
      if (text === null) unreadable.push(secret)
      else replacements.push({ secret, sealed: vault.encrypt(text, placeOf(secret)) })
    }
    if (replacements.length === 0) return { reencrypted, unreadable }
    for (const [organisationId, own] of Map.groupBy(replacements, ({ secret }) => secret.organisationId)) {
      reencrypted += await secrets.replace(organisationId, own, now)
    }
  }
}

export async function* listSecrets(secrets: SealedSecretStore): AsyncGenerator<SealedSecret> {
  for (const table of sealedTables) {
    for (let afterId = 0; ; ) {
      const batch = await secrets.list(table, afterId, batchSize)
      const last = batch.at(-1)
      if (last === undefined) break
      yield* batch
      afterId = last.id
    }
  }
}

/** Null if none of the keys decrypts it. */
export function tryDecrypt(vault: Vault, secret: PlacedSecret): string | null {
  try {
    return vault.decrypt(secret.sealed, placeOf(secret))
  } catch {
    return null
  }
}
