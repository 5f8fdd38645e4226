import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = new URL('../dist/', import.meta.url)
const sources = ['../src/', '../public/', '../index.html', '../vite.config.ts', '../../client/src/']

/** Where the built console lies. A test of an old one would say nothing about the sources. */
export function builtConsole(): URL {
  const built = newest(fileURLToPath(new URL('index.html', folder)))
  const written = Math.max(...sources.map((source) => newest(fileURLToPath(new URL(source, import.meta.url)))))
  if (built < written) throw new Error('console/dist is missing or older than its sources: run `npm run build`')
  return folder
}

/** When the file, or the newest in the folder, was written; 0 where there is nothing. */
function newest(path: string): number {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) return 0
  if (!found.isDirectory()) return found.mtimeMs
  return Math.max(...readdirSync(path).map((name) => newest(join(path, name))))
}
