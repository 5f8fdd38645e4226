import { constants } from 'node:fs'
import { access, statfs } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { type Finding, fail, ok, reasonOf, warn } from './finding.ts'

const megabyte = 1024 * 1024
const minFreeBytes = 100 * megabyte
const lowFreeBytes = 1024 * megabyte

/** `isUsed`: it has files of the service. PostgreSQL without repositories needs none. */
export async function checkDataDirectory(directory: string, isUsed: boolean): Promise<Finding> {
  const existing = await existingParent(resolve(directory))
  try {
    await access(existing, constants.W_OK)
  } catch (error) {
    const fix = 'Make it writable for the user that runs the service, or set DATA_DIR to another directory'
    return fail('data directory', `${existing} is not writable: ${reasonOf(error)}`, fix)
  }
  if (existing !== resolve(directory)) {
    const message = `${resolve(directory)} does not exist`
    if (!isUsed) return ok('data directory', `${message} yet; the service creates it with the first repository`)
    const fix = 'Check DATA_DIR, or the path in DATABASE_URL. If they are correct, the service creates it'
    return warn('data directory', message, fix)
  }
  return checkFreeSpace('data directory', directory)
}

export async function checkFreeSpace(check: string, directory: string): Promise<Finding> {
  const path = resolve(directory)
  const { bavail, blocks, bsize } = await statfs(await existingParent(path))
  const free = bavail * bsize
  const message = `${formatSize(free)} free in ${path}`
  const fix = 'Free disk space or move to a larger disk before writes fail'
  if (free < minFreeBytes) return fail(check, message, fix)
  if (free < lowFreeBytes || bavail < blocks / 20) return warn(check, message, fix)
  return ok(check, message)
}

/** The path itself or, if it does not exist yet, the closest parent that does. */
async function existingParent(path: string): Promise<string> {
  try {
    await access(path)
    return path
  } catch (error) {
    const parent = dirname(path)
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === path) throw error
    return existingParent(parent)
  }
}

export function formatSize(bytes: number): string {
  const megabytes = bytes / megabyte
  return megabytes >= 10_240 ? `${Math.floor(megabytes / 1024)} GB` : `${Math.floor(megabytes)} MB`
}
