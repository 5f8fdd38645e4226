import type { Config } from '../config.ts'
import {
  listSecrets,
  type Reencryption,
  reencryptSecrets,
  type SealedSecretStore,
} from '../domain/repositories/secret-rotation.ts'
import type { Vault } from '../domain/repositories/vault.ts'
import type { Store } from '../domain/store.ts'
import { addKey, findVault, keyFile, openVault, readKeyFile, removeOldKeys, usesKeyFile } from './secret-key.ts'

/**
 * Encrypts all secrets with the current key. With a key file, generates that key first, unless an earlier rotation was
 * interrupted: then continues that one.
 */
export async function rotateSecretKey(config: Config, store: Store): Promise<Reencryption> {
  const vault = await openVault(config, store.secrets)
  if (!usesKeyFile(config)) return reencryptSecrets(store.secrets, vault, Date.now())
  const file = keyFile(config.dataDir)
  const isContinued = (readKeyFile(file)?.length ?? 0) > 1 && (await countOutdated(store.secrets, vault)) > 0
  if (!isContinued) await addKey(file)
  // Opened again, so that it has the new key.
  return reencryptSecrets(store.secrets, await openVault(config, store.secrets), Date.now())
}

/** Removes old keys from the key file. Rejects while a secret needs one of them. */
export async function forgetOldKeys(config: Config, store: Store): Promise<{ forgotten: number }> {
  if (!usesKeyFile(config)) {
    throw new Error(
      'The keys are in the settings. Remove PROMPTLEDGER_OLD_SECRET_KEYS there, and restart all processes of the service',
    )
  }
  const file = keyFile(config.dataDir)
  const vault = findVault(config)
  const outdated = vault === null ? 0 : await countOutdated(store.secrets, vault)
  if (outdated > 0) {
    const secrets = outdated === 1 ? '1 stored secret is' : `${outdated} stored secrets are`
    throw new Error(
      `${secrets} not encrypted with the current key. Run 'promptledger secret-key rotate' first. Nothing was changed`,
    )
  }
  const forgotten = Math.max(0, (readKeyFile(file)?.length ?? 0) - 1)
  if (forgotten > 0) await removeOldKeys(file)
  return { forgotten }
}

async function countOutdated(secrets: SealedSecretStore, vault: Vault): Promise<number> {
  let count = 0
  for await (const { sealed } of listSecrets(secrets)) if (!vault.isCurrent(sealed)) count++
  return count
}
