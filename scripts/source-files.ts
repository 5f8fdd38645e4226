import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Files of the checkout that git tracks or would track, as paths from its root. */
export function sourceFiles(root: string, patterns: string[]): string[] {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', ...patterns]
  const files = execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }).split('\0')
  // git still lists a file that was deleted but not committed.
  return [...new Set(files)].filter((file) => file !== '' && existsSync(join(root, file)))
}
