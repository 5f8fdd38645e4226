import { decode } from './bytes.ts'
import { GitError, git } from './run.ts'

export const maxTextBytes = 2 * 1024 * 1024

/** The text of a blob; null if the mirror lacks it or it exceeds 2 MiB. */
export async function readText(mirror: string, blob: string): Promise<string | null> {
  try {
    return decode(await git(['cat-file', 'blob', blob], { mirror, maxBytes: maxTextBytes }))
  } catch (error) {
    if (error instanceof GitError) return null
    throw error
  }
}

/** The unified diff between two blobs. A null blob stands for a file that does not exist. */
export async function readPatch(
  mirror: string,
  path: { old: string; new: string },
  before: string | null,
  after: string | null,
): Promise<string | null> {
  try {
    // Written every time because `git gc` removes unreferenced objects.
    const empty = decode(await git(['hash-object', '-w', '--stdin'], { mirror, input: '' })).trim()
    const diff = decode(
      await git(['diff', '--no-color', '--no-ext-diff', '--no-textconv', '--text', before ?? empty, after ?? empty], {
        mirror,
        maxBytes: 2 * maxTextBytes,
      }),
    )
    // Replace git's header, which names blob hashes, with one that names paths.
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
  // Like git, quote a name that could break the line.
  return /[\p{Cc}"\\]/u.test(name) ? JSON.stringify(name) : name
}
