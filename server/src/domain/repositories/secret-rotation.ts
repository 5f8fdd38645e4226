import type { Instant } from '../time.ts'
import { kindOf, type SealedColumn, type SecretPlace, type Vault } from './vault.ts'

/** One encrypted value. Without a repository, it is a secret of the organisation. */
export interface SealedSecret {
  organisationId: number
  repositoryId: number | null
  hookId: string | null
  column: SealedColumn
  sealed: string
}

export interface SealedSecretStore {
  /** The secrets of up to `limit` repositories with an ID above `afterId`, in order of ID. */
  list(afterId: number, limit: number): Promise<SealedSecret[]>
  /** The secrets of up to `limit` organisations with an ID above `afterId`, without those of their repositories, in order of ID. */
  listOfOrganisations(afterId: number, limit: number): Promise<SealedSecret[]>
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

export function placeOf({ hookId, column }: Pick<SealedSecret, 'hookId' | 'column'>): SecretPlace {
  return { hookId, kind: kindOf(column) }
}

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
  for (let afterId = 0; ; ) {
    const batch = await secrets.list(afterId, batchSize)
    const last = batch.at(-1)
    if (last === undefined) break
    yield* batch
    afterId = last.repositoryId as number
  }
  for (let afterId = 0; ; ) {
    const batch = await secrets.listOfOrganisations(afterId, batchSize)
    const last = batch.at(-1)
    if (last === undefined) return
    yield* batch
    afterId = last.organisationId
  }
}

/** Null if none of the keys decrypts it. */
export function tryDecrypt(vault: Vault, secret: Pick<SealedSecret, 'hookId' | 'column' | 'sealed'>): string | null {
  try {
    return vault.decrypt(secret.sealed, placeOf(secret))
  } catch {
    return null
  }
}
