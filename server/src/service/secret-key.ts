import { randomBytes } from 'node:crypto'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { DomainError } from '../domain/errors.ts'
import { createVault, type Vault } from '../domain/repositories/vault.ts'

/**
 * Opens the vault with PROMPTLEDGER_SECRET_KEY or, on SQLite, with a key that is generated once and stored in DATA_DIR. On
 * PostgreSQL without a key, the service still starts, and only operations that need a secret fail.
 */
export async function openVault({ secretKey, databaseUrl, dataDir }: Config): Promise<Vault> {
  if (secretKey !== null) return createVault(secretKey)
  if (databaseUrl.startsWith('sqlite:')) return createVault(await readOrCreateKey(dataDir))
  const missing = (): never => {
    const message =
      "PROMPTLEDGER_SECRET_KEY must be set to store secrets: 32 bytes, such as the output of 'openssl rand -hex 32'"
    throw new DomainError('conflict', message)
  }
  return { encrypt: missing, decrypt: missing }
}

/** Like `openVault`, but returns null instead of generating a key. */
export async function findVault({ secretKey, databaseUrl, dataDir }: Config): Promise<Vault | null> {
  if (secretKey !== null) return createVault(secretKey)
  const key = databaseUrl.startsWith('sqlite:') ? await readKeyFile(keyFile(dataDir)) : null
  return key && createVault(key)
}

export function keyFile(dataDir: string): string {
  return join(dataDir, 'secret.key')
}

async function readOrCreateKey(dataDir: string): Promise<Buffer> {
  const file = keyFile(dataDir)
  const existing = await readKeyFile(file)
  if (existing !== null) return existing
  // A complete temporary file is linked into place: if several processes start at once, one wins and none reads a partial key.
  const unfinished = `${file}.${randomBytes(8).toString('hex')}`
  await mkdir(dataDir, { recursive: true })
  await writeFile(unfinished, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600 })
  try {
    await link(unfinished, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await rm(unfinished)
  }
  return (await readKeyFile(file)) as Buffer
}

/** Returns null if the file does not exist. */
export async function readKeyFile(file: string): Promise<Buffer | null> {
  try {
    const key = Buffer.from((await readFile(file, 'utf8')).trim(), 'hex')
    if (key.length !== 32) throw new Error(`${file} must contain 64 hexadecimal digits. Restore it from a backup.`)
    return key
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
