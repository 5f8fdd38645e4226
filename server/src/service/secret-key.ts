import { randomBytes } from 'node:crypto'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { DomainError } from '../domain/errors.ts'
import { newVault, type Vault } from '../domain/repositories/vault.ts'

/**
 * What secrets are stored with: the key in the settings or, beside an embedded database, one that is made and kept in a file.
 * Where there is neither, only those who store a secret are told.
 */
export async function openVault({ secretKey, databaseUrl, dataDir }: Config): Promise<Vault> {
  if (secretKey !== null) return newVault(secretKey)
  if (databaseUrl.startsWith('sqlite:')) return newVault(await keptKey(dataDir))
  const missing = (): never => {
    const message = 'PROMPTLEDGER_SECRET_KEY must be set to store secrets: 32 bytes, such as from openssl rand -hex 32'
    throw new DomainError('conflict', message)
  }
  return { seal: missing, open: missing }
}

/** The same where there is a key already, else null: none is made. */
export async function findVault({ secretKey, databaseUrl, dataDir }: Config): Promise<Vault | null> {
  if (secretKey !== null) return newVault(secretKey)
  const kept = databaseUrl.startsWith('sqlite:') ? await readKey(keyFile(dataDir)) : null
  return kept && newVault(kept)
}

function keyFile(dataDir: string): string {
  return join(dataDir, 'secret.key')
}

async function keptKey(dataDir: string): Promise<Buffer> {
  const file = keyFile(dataDir)
  const found = await readKey(file)
  if (found !== null) return found
  // Written in full under another name, then linked: of several processes that start together one wins, and none reads half.
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
  return (await readKey(file)) as Buffer
}

/** Null where there is none. */
export async function readKey(file: string): Promise<Buffer | null> {
  try {
    const key = Buffer.from((await readFile(file, 'utf8')).trim(), 'hex')
    if (key.length !== 32) throw new Error(`${file} must hold 64 hexadecimal digits`)
    return key
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
