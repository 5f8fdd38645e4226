import { existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'

/** Creates a folder and those above it, one at a time: `recursive` never returns below /proc, where folders cannot be created. */
export function createFolder(folder: string, mode?: number): void {
  if (existsSync(folder)) return
  createFolder(dirname(folder), mode)
  try {
    mkdirSync(folder, { mode })
  } catch (error) {
    // Another process may have created it first.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
