import { constants } from 'node:fs'
import { access, statfs } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { git } from '../git/run.ts'
import { type Finding, ok, reasonOf, warning, wrong } from './finding.ts'

const oldestGit = [2, 31] as const
const megabyte = 1024 * 1024

/** `followed`: how many repositories are, null where nobody knows. Without any, git is not needed. */
export async function installedGit(followed: number | null): Promise<Finding> {
  const serious = followed === 0 ? warning : wrong
  const needed =
    followed === 0 ? 'Install git 2.31 or newer before a repository is connected' : 'Install git 2.31 or newer'
  let text: string
  try {
    text = (await git(['version'])).toString().trim()
  } catch (error) {
    return serious('git', reasonOf(error), needed)
  }
  const [major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(text) ?? []).slice(1).map(Number)
  const isOld = major < oldestGit[0] || (major === oldestGit[0] && minor < oldestGit[1])
  return isOld ? serious('git', `${text} is too old`, needed) : ok('git', text)
}

export async function dataFolder(folder: string): Promise<Finding> {
  const existing = await existingPart(resolve(folder))
  try {
    await access(existing, constants.W_OK)
  } catch (error) {
    const todo = 'Give it to the user that runs the service, or set DATA_DIR to a folder of its own'
    return wrong('data folder', `${existing} cannot be written: ${reasonOf(error)}`, todo)
  }
  return roomIn('data folder', folder)
}

export async function roomIn(check: string, folder: string): Promise<Finding> {
  const path = resolve(folder)
  const { bavail, blocks, bsize } = await statfs(await existingPart(path))
  const free = bavail * bsize
  const found = `${sizeText(free)} free in ${path}`
  const todo = 'Make room there, or move it to a larger disk, before writing fails'
  if (free < 100 * megabyte) return wrong(check, found, todo)
  if (free < 1024 * megabyte || bavail < blocks / 20) return warning(check, found, todo)
  return ok(check, found)
}

/** The folder, or where it is not there yet, the one it would be made in. */
async function existingPart(path: string): Promise<string> {
  try {
    await access(path)
    return path
  } catch (error) {
    const parent = dirname(path)
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === path) throw error
    return existingPart(parent)
  }
}

export function sizeText(bytes: number): string {
  const megabytes = bytes / megabyte
  return megabytes >= 10_240 ? `${Math.floor(megabytes / 1024)} GB` : `${Math.floor(megabytes)} MB`
}
