import { decode } from './bytes.ts'
import { GitError, git } from './run.ts'

const largest = 2 * 1024 * 1024

/** The text of a version, null where the mirror does not have it or it is too large to be one. */
export async function readText(mirror: string, blob: string): Promise<string | null> {
  try {
    return decode(await git(['cat-file', 'blob', blob], { mirror, limit: largest }))
  } catch (error) {
    if (error instanceof GitError) return null
    throw error
  }
}

/** The unified diff between two versions; null stands for a file that is not there. */
export async function readPatch(
  mirror: string,
  path: { old: string; new: string },
  before: string | null,
  after: string | null,
): Promise<string | null> {
  try {
    // Written each time: git tidies away what nothing leads to.
    const empty = decode(await git(['hash-object', '-w', '--stdin'], { mirror, input: '' })).trim()
    const diff = decode(
      await git(['diff', '--no-color', '--no-ext-diff', '--no-textconv', '--text', before ?? empty, after ?? empty], {
        mirror,
        limit: 2 * largest,
      }),
    )
    // git names the versions in the head of the diff; people know them by their path.
    const start = diff.indexOf('\n@@ ')
    const hunks = start === -1 ? '' : diff.slice(start + 1)
    return `--- ${label('a', path.old, before)}\n+++ ${label('b', path.new, after)}\n${hunks}`
  } catch (error) {
    if (error instanceof GitError) return null
    throw error
  }
}

function label(side: string, path: string, blob: string | null): string {
  if (blob === null) return '/dev/null'
  const name = `${side}/${path}`
  // As git does it: a name that could break the line is quoted.
  return /[\p{Cc}"\\]/u.test(name) ? JSON.stringify(name) : name
}
