import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { link, mkdir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Config, parseSecretKeys } from '../config.ts'
import { DomainError } from '../domain/errors.ts'
import { createVault, type Vault } from '../domain/repositories/vault.ts'

type KeySettings = Pick<Config, 'secretKey' | 'oldSecretKeys' | 'databaseUrl' | 'dataDir'>

/**
 * Opens the vault with PROMPTLEDGER_SECRET_KEY or, on SQLite, with a key that is generated once and stored in DATA_DIR. On
 * PostgreSQL without a key, the service still starts, and only operations that need a secret fail.
 */
export async function openVault(config: KeySettings): Promise<Vault> {
  if (usesKeyFile(config)) await createKeyFile(keyFile(config.dataDir))
  const vault = findVault(config)
  if (vault !== null) return vault
  const missing = (): never => {
    const message =
      "PROMPTLEDGER_SECRET_KEY must be set to store secrets: 32 bytes, such as the output of 'openssl rand -hex 32'"
    throw new DomainError('conflict', message)
  }
  return { encrypt: missing, decrypt: missing, isCurrent: missing, hasKeyOf: missing }
}

/** Like `openVault`, but returns null instead of generating a key. */
export function findVault(config: KeySettings): Vault | null {
  if (config.secretKey !== null) return createVault(config.secretKey, config.oldSecretKeys)
  if (!usesKeyFile(config) || readKeyFile(keyFile(config.dataDir)) === null) return null
  return createFileVault(keyFile(config.dataDir), config.oldSecretKeys)
}

/** On SQLite, unless a key is set. */
export function usesKeyFile({ secretKey, databaseUrl }: Pick<Config, 'secretKey' | 'databaseUrl'>): boolean {
  return secretKey === null && databaseUrl.startsWith('sqlite:')
}

export function keyFile(dataDir: string): string {
  return join(dataDir, 'secret.key')
}

/**
 * A rotation adds a key to the file while the service runs. So the file is read again before anything is encrypted, and for a
 * value with an unknown key. Keys that the file had are kept, for values read before a rotation removed them.
 */
function createFileVault(file: string, otherKeys: Buffer[]): Vault {
  let known = otherKeys
  let vault = read()

  function read(): Vault {
    const keys = readKeyFile(file) ?? []
    const current = keys.at(-1)
    if (current === undefined) throw new Error(`${file} does not exist any more. Restore it from a backup`)
    known = [...new Map([...known, ...keys].map((key) => [key.toString('hex'), key])).values()]
    return createVault(current, known)
  }

  function readAgain(): Vault {
    vault = read()
    return vault
  }

  return {
    encrypt: (text, place) => readAgain().encrypt(text, place),
    decrypt: (sealed, place) => (vault.hasKeyOf(sealed) ? vault : readAgain()).decrypt(sealed, place),
    isCurrent: (sealed) => vault.isCurrent(sealed),
    hasKeyOf: (sealed) => vault.hasKeyOf(sealed),
  }
}

async function createKeyFile(file: string): Promise<void> {
  if (readKeyFile(file) !== null) return
  // A complete temporary file is linked into place: if several processes start at once, one wins and none reads a partial key.
  const unfinished = unfinishedName(file)
  await mkdir(join(file, '..'), { recursive: true })
  await writeDurably(unfinished, 'wx', newKeyLine())
  try {
    await link(unfinished, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await rm(unfinished)
  }
}

/** Adds a key, which is the current one from then on. Appending keeps the keys that a concurrent rotation adds. */
export async function addKey(file: string): Promise<void> {
  await writeDurably(file, 'a', newKeyLine())
}

/** Removes all keys except the current one. */
export async function removeOldKeys(file: string): Promise<void> {
  const current = readKeyFile(file)?.at(-1)
  if (current === undefined) return
  const unfinished = unfinishedName(file)
  await writeDurably(unfinished, 'wx', `${current.toString('hex')}\n`)
  await rename(unfinished, file)
}

/** The keys in the file, one per line, the current one last. Null if the file does not exist. */
export function readKeyFile(file: string): Buffer[] | null {
  try {
    const keys = parseSecretKeys(readFileSync(file, 'utf8'))
    if (keys === undefined || keys.length === 0) {
      throw new Error(`${file} must contain 64 hexadecimal digits per line. Restore it from a backup.`)
    }
    return keys
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

function newKeyLine(): string {
  return `${randomBytes(32).toString('hex')}\n`
}

function unfinishedName(file: string): string {
  return `${file}.${randomBytes(8).toString('hex')}`
}

/** Flushed before anything is encrypted with the key, so that a power cut cannot lose only the key. */
async function writeDurably(file: string, flags: 'wx' | 'a', text: string): Promise<void> {
  const handle = await open(file, flags, 0o600)
  try {
    await handle.write(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
}
