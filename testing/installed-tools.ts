import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Whether a program is on the PATH. */
export function isInstalled(tool: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => folder !== '' && existsSync(join(folder, tool)))
}
