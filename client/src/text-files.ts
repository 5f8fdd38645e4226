// Looked up at run time and declared here, because the client has no imports: it also loads where Node's modules do not exist.
interface Files {
  statSync(path: string): { uid: number; mtimeMs: number }
  readFileSync(path: string, encoding: 'utf8'): string
  promises: {
    readFile(path: string, encoding: 'utf8'): Promise<string>
    mkdir(path: string, options: { recursive: true; mode: number }): Promise<unknown>
    writeFile(path: string, text: string, options: { mode: number; flag: 'wx' }): Promise<void>
    rename(from: string, to: string): Promise<void>
    rm(path: string, options: { force: true }): Promise<void>
    utimes(path: string, accessed: Date, modified: Date): Promise<void>
  }
}

interface Runtime {
  getBuiltinModule?(name: string): unknown
  getuid?(): number
  env?: Record<string, string | undefined>
}

const runtime = () => (globalThis as { process?: Runtime }).process

/** Undefined in browsers, on edge runtimes, and before Node 20.16 and 22.3. */
const fs = () => runtime()?.getBuiltinModule?.('node:fs') as Files | undefined

// Prompts can be confidential.
const fileMode = 0o600
const folderMode = 0o700

/** Where copies of texts are kept by default: in a folder of the user, because others can write to /tmp. Null if there is none. */
export function defaultFolder(): string | null {
  try {
    const cache = runtime()?.env?.XDG_CACHE_HOME
    if (cache) return `${cache}/promptledger`
    const os = runtime()?.getBuiltinModule?.('node:os') as { homedir(): string } | undefined
    return os === undefined ? null : `${os.homedir()}/.cache/promptledger`
  } catch {
    return null
  }
}

/** The content of a text file that the application ships. */
export async function readText(path: string): Promise<string> {
  const files = fs()?.promises
  if (files === undefined) throw new Error(`${path}: this runtime cannot read files. Pass { text } as the fallback`)
  return files.readFile(path, 'utf8')
}

/** A copy that this user wrote, and how old it is. Null without one. Read at once: a process that is busy starting must not give up on it. */
export function readCopy(path: string): { text: string; ageMs: number } | null {
  const files = fs()
  if (files === undefined) return null
  try {
    const { uid, mtimeMs } = files.statSync(path)
    const me = runtime()?.getuid?.()
    if (me !== undefined && uid !== me) return null
    return { text: files.readFileSync(path, 'utf8'), ageMs: Date.now() - mtimeMs }
  } catch {
    return null
  }
}

/** Replaces a copy. Other processes see the old one or the new one, never a part. */
export async function writeCopy(folder: string, path: string, text: string, suffix: string): Promise<void> {
  const files = fs()?.promises
  if (files === undefined) return
  await files.mkdir(folder, { recursive: true, mode: folderMode })
  const temporary = `${path}.${suffix}`
  try {
    await files.writeFile(temporary, text, { mode: fileMode, flag: 'wx' })
    await files.rename(temporary, path)
  } catch (error) {
    await files.rm(temporary, { force: true })
    throw error
  }
}

/** Notes that a copy is still current. */
export async function touchCopy(path: string): Promise<void> {
  const now = new Date()
  await fs()
    ?.promises.utimes(path, now, now)
    .catch(() => {})
}
