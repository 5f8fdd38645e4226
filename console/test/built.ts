import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = join(root, 'dist')
const sources = ['src', 'public', 'index.html', 'vite.config.ts', '../client/src']

/**
 * Where the console lies, built from the sources as they are: what `npm ci` or `npm run build` made, unless something was written
 * since. Then it is built to the side, because others may be using that.
 */
export async function builtConsole(): Promise<URL> {
  if (isBuilt()) return pathToFileURL(`${folder}/`)
  const aside = mkdtempSync(join(tmpdir(), 'promptledger-console-'))
  process.on('exit', () => rmSync(aside, { recursive: true, force: true }))
  const { build } = await import('vite')
  await build({ root, logLevel: 'error', build: { outDir: aside } })
  return pathToFileURL(`${aside}/`)
}

export function isBuilt(): boolean {
  return newest(join(folder, 'index.html')) > Math.max(...sources.map((source) => newest(join(root, source))))
}

/** When the file, or the newest in the folder, was written; 0 where there is nothing. */
function newest(path: string): number {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) return 0
  if (!found.isDirectory()) return found.mtimeMs
  return Math.max(...readdirSync(path).map((name) => newest(join(path, name))))
}
