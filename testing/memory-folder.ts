import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

// Where Linux keeps files in memory.
const parent = '/dev/shm'
const prefix = 'promptledger-tests-'
const folder = join(parent, `${prefix}${process.pid}`)
const neededBytes = 4 * 1024 ** 3

/** Lets tests keep their temporary files in memory where that is possible: databases and git repositories wait for no disk. */
export function useMemoryFolder(): void {
  if (process.env.TMPDIR !== undefined || !existsSync(parent)) return
  const { bavail, bsize } = statfsSync(parent)
  if (bavail * bsize < neededBytes) return
  removeLeftFolders()
  // An earlier run may have had the same process ID.
  mkdirSync(folder, { recursive: true })
  // PostgreSQL runs as another user if the tests are run by root.
  chmodSync(folder, 0o755)
  if (canExecute()) process.env.TMPDIR = folder
}

export function removeMemoryFolder(): void {
  rmSync(folder, { recursive: true, force: true })
}

/** Containers often forbid it. Tests put programs of their own there. */
function canExecute(): boolean {
  const file = join(folder, 'program')
  writeFileSync(file, '#!/bin/sh\n', { mode: 0o755 })
  try {
    execFileSync(file)
    return true
  } catch {
    return false
  }
}

/** A run that was killed leaves its files behind, in memory. */
function removeLeftFolders(): void {
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(prefix) || existsSync(`/proc/${name.slice(prefix.length)}`)) continue
    rmSync(join(parent, name), { recursive: true, force: true })
  }
}
