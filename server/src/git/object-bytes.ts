import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** The size of a mirror's packs, also of one that is being fetched, in bytes. */
export function packBytes(mirror: string): number {
  const objects = join(mirror, 'objects')
  return bytesIn(join(objects, 'pack'), namesIn(join(objects, 'pack'))) + bytesIn(objects, unfinishedIn(objects))
}

/** The size of all objects of a mirror. Reading the folders takes less time than starting git. */
export function objectBytes(mirror: string): number {
  const objects = join(mirror, 'objects')
  const folders = namesIn(objects).filter((name) => /^[0-9a-f]{2}$/.test(name))
  return folders.reduce((total, folder) => {
    const path = join(objects, folder)
    return total + bytesIn(path, namesIn(path))
  }, packBytes(mirror))
}

function unfinishedIn(objects: string): string[] {
  return namesIn(objects).filter((name) => name.startsWith('tmp_'))
}

function bytesIn(folder: string, names: string[]): number {
  // A temporary file can disappear at any time.
  return names.reduce((total, name) => total + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0), 0)
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    // Git is still creating the mirror.
    return []
  }
}
