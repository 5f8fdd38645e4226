import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const dist = join(root, 'dist')
const sources = [
  'src',
  'demo',
  'public',
  'index.html',
  'vite.config.ts',
  '../client/src',
  '../server/src/domain/hidden-text.ts',
]

/**
 * The folder of a console built from the current sources: `dist` if it is up to date, otherwise a new build in a temporary
 * folder, because another process may be serving `dist`.
 */
export function builtConsole(): Promise<URL> {
  // Suites that share a process share the build.
  building ??= isBuilt() ? Promise.resolve(pathToFileURL(`${dist}/`)) : buildElsewhere()
  return building
}

let building: Promise<URL> | undefined

async function buildElsewhere(): Promise<URL> {
  const outDir = mkdtempSync(join(tmpdir(), 'promptledger-console-'))
  process.on('exit', () => rmSync(outDir, { recursive: true, force: true }))
  const { build } = await import('vite')
  await build({ root, logLevel: 'error', build: { outDir } })
  return pathToFileURL(`${outDir}/`)
}

/** Whether `dist` is newer than all sources. */
export function isBuilt(): boolean {
  const builtAt = lastModified(join(dist, 'index.html'))
  return builtAt > Math.max(...sources.map((source) => lastModified(join(root, source))))
}

/** The modification time of a file, or of the newest file in a folder; 0 if it does not exist. */
function lastModified(path: string): number {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return 0
  if (!stats.isDirectory()) return stats.mtimeMs
  return Math.max(...readdirSync(path).map((name) => lastModified(join(path, name))))
}
