import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { DomainError, invalidField } from '../errors.ts'
import type { SecretPlace, Vault } from '../repositories/vault.ts'

export interface VoterKeyStore {
  /** The encrypted key of the organisation, or null before its first voter. */
  voterKey(organisationId: number): Promise<string | null>
  /** Stores the key unless the organisation has one already. Returns the one that it has then. */
  addVoterKey(organisationId: number, sealed: string): Promise<string>
}

/** Hashes who voted with a key of the organisation, so that the same person cannot be recognised anywhere else. */
export interface Voters {
  hash(organisationId: number, text: string): Promise<string>
}

const place: SecretPlace = { hookId: null, kind: 'voter_key' }
const keyBytes = 32
// Keys are 32 bytes each. Beyond this number, they are decrypted again.
const maxCachedKeys = 10_000

/** Each key is created with the first voter and never changes, so it can be cached as long as the process runs. */
export function createVoters(organisations: VoterKeyStore, vault: Vault): Voters {
  const keys = new Map<number, KeyObject>()

  async function findKey(organisationId: number): Promise<KeyObject> {
    const sealed =
      (await organisations.voterKey(organisationId)) ??
      (await organisations.addVoterKey(organisationId, vault.encrypt(randomBytes(keyBytes).toString('base64'), place)))
    // Not bytes: Node would create such an object for each hash, which takes several times as long as hashing.
    const key = createSecretKey(vault.decrypt(sealed, place), 'base64')
    if (keys.size >= maxCachedKeys) keys.clear()
    keys.set(organisationId, key)
    return key
  }

  return {
    async hash(organisationId, text) {
      const key = keys.get(organisationId) ?? (await findKey(organisationId).catch(explain))
      return createHmac('sha256', key).update(text).digest('base64url')
    },
  }
}

/** A service without a secret key can still record signals, but it cannot keep voters secret. */
function explain(error: unknown): never {
  if (!(error instanceof DomainError && error.code === 'conflict')) throw error
  throw invalidField(
    'voter',
    'cannot be stored, because this service has no key to hash it with. Its operator must set PROMPTLEDGER_SECRET_KEY',
  )
}
