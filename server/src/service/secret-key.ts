import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { link, open, rename, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { type Config, parseSecretKeys } from '../config.ts'
import { DomainError } from '../domain/errors.ts'
import { listSecrets, type SealedSecretStore } from '../domain/repositories/secret-rotation.ts'
import { createVault, type Vault } from '../domain/repositories/vault.ts'
import { createFolder } from '../folder.ts'

type KeySettings = Pick<Config, 'secretKey' | 'oldSecretKeys' | 'databaseUrl' | 'dataDir'>

/**
 * Opens the vault with PROMPTLEDGER_SECRET_KEY or, on SQLite, with a key that is generated once and stored in DATA_DIR. On
 * PostgreSQL without a key, the service still starts, and only operations that need a secret fail.
 */
export async function openVault(config: KeySettings, secrets: SealedSecretStore): Promise<Vault> {
  if (usesKeyFile(config)) await ensureKeyFile(keyFile(config.dataDir), secrets)
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

/**
 * Throws if the SQLite database is missing or empty beside its key. A mount may be missing, or DATABASE_URL be wrong: signals would go to
 * a new database, unnoticed.
 */
export function requireDatabaseOfKey(config: KeySettings): void {
  const file = keyFile(config.dataDir)
  if (!usesKeyFile(config) || !existsSync(file)) return
  const path = config.databaseUrl.slice('sqlite:'.length)
  const size = path === ':memory:' ? 1 : statSync(path, { throwIfNoEntry: false })?.size
  if (size !== undefined && size > 0) return
  throw new Error(
    `The database ${resolve(path)} ${size === 0 ? 'is empty' : 'does not exist'}, but its key ${resolve(file)} does, so there was one. ` +
      "Check DATABASE_URL and that its volume is mounted, or restore a backup with 'promptledger restore <file>'. " +
      'For a new database instead, move the key to a safe place or set DATA_DIR to another folder',
  )
}

async function ensureKeyFile(file: string, secrets: SealedSecretStore): Promise<void> {
  if (readKeyFile(file) !== null) return
  for await (const _secret of listSecrets(secrets)) {
    // Another process that started at the same time has created the key and stored the secret.
    if (existsSync(file)) return
    throw new Error(
      `${resolve(file)} does not exist, but the database has secrets that were encrypted with it. Restore it from a backup, check ` +
        'DATA_DIR, or set PROMPTLEDGER_SECRET_KEY if they were encrypted with that. If the key is lost, write a new one to the file ' +
        "(openssl rand -hex 32): 'promptledger doctor' then says what has to be connected again",
    )
  }
  try {
    await createKeyFile(file)
  } catch (error) {
    throw new Error(`Cannot create ${file}: ${(error as Error).message}. Check DATA_DIR`, { cause: error })
  }
}

async function createKeyFile(file: string): Promise<void> {
  // A complete temporary file is linked into place: if several processes start at once, one wins and none reads a partial key.
  const unfinished = unfinishedName(file)
  createFolder(dirname(file))
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
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return null
    throw code === undefined ? error : new Error(`Cannot read ${file}: ${message}. Check DATA_DIR`, { cause: error })
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
