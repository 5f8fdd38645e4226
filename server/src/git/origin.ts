import { decode } from './bytes.ts'
import { GitError, git } from './run.ts'

/** The URL that a clone in a folder was cloned from; null if it has none or cannot be read. */
export async function readOriginUrl(folder: string): Promise<string | null> {
  const path = folder.replace(/^file:\/\//, '')
  try {
    return decode(await git(['-C', path, 'config', '--get', 'remote.origin.url'])).trim() || null
  } catch (error) {
    if (error instanceof GitError) return null
    throw error
  }
}
