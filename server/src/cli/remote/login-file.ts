import { chmod, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { exitCodes, Failure } from '../failure.ts'
import { printWarnings } from '../output.ts'
import { readRemoteSettings } from './settings.ts'

export interface Login {
  url: string
  key: string
}

export function loginFile(): string {
  return join(readRemoteSettings().configFolder, 'login.json')
}

/** The stored login; null if there is none. */
export async function readLogin(): Promise<Login | null> {
  const file = loginFile()
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw new Failure(exitCodes.notLoggedIn, `Cannot read the login: ${(error as Error).message}`)
  }
  await warnIfReadable(file)
  return parseLogin(text) ?? failDamaged(file)
}

function parseLogin(text: string): Login | null {
  try {
    const { url, key } = JSON.parse(text)
    return typeof url === 'string' && typeof key === 'string' ? { url, key } : null
  } catch {
    return null
  }
}

function failDamaged(file: string): never {
  throw new Failure(exitCodes.notLoggedIn, `${file} is damaged. Run 'promptledger login <url>' to replace it.`)
}

async function warnIfReadable(file: string): Promise<void> {
  // Windows has no such modes.
  if (process.platform === 'win32') return
  const { mode } = await stat(file)
  if ((mode & 0o077) === 0) return
  printWarnings([`Other users can read the key in ${file}. Run: chmod 600 ${file}`])
}

/** Stores the login for this user only. Complete or not at all: the file is renamed into place. */
export async function writeLogin(login: Login): Promise<void> {
  const { configFolder } = readRemoteSettings()
  await mkdir(configFolder, { recursive: true, mode: 0o700 })
  await chmod(configFolder, 0o700)
  const unfinished = join(configFolder, `login.${process.pid}.unfinished`)
  // A leftover of another process with this number may have another mode.
  await rm(unfinished, { force: true })
  const file = await open(unfinished, 'wx', 0o600)
  try {
    await file.writeFile(`${JSON.stringify(login)}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(unfinished, loginFile())
}

export async function deleteLogin(): Promise<void> {
  await rm(loginFile(), { force: true })
}
