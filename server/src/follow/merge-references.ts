import type { Repository } from '../domain/repositories/repository.ts'
import { isLocalUrl, webUrlOf } from '../domain/repositories/repository-url.ts'
import { forgeOf } from '../forges/index.ts'
import { isCherryPick, type MergeReference } from '../forges/merge-reference.ts'
import type { Commit } from '../git/commit.ts'
import { type MergeText, streamMessages } from '../git/log.ts'

/** The pull request of this repository that the message names; null if it names none or one of another repository. */
export type ReferenceReader = (commit: MergeText) => MergeReference | null

export function referenceReader(repository: Repository): ReferenceReader {
  const forge = forgeOf(repository.forge)
  let ownPath = pathOf(repository)
  return (commit) => {
    const { parents, message } = commit
    const subject = message.split('\n', 1)[0] ?? ''
    const reference = forge.mergeReference({ parents: parents.length, subject, message })
    if (reference === null) return null
    // The forge itself never copies commits to the default branch, but squashes keep the text of the commits.
    const text = { parents: parents.length, subject, message }
    if (isCherryPick(text) && !forge.isForgeCommitter(commit.committer)) return null
    if (reference.repository === null) return reference
    // A folder has no path on the forge. The line is read newest first, and the newest merge is the repository's own.
    ownPath ??= reference.repository
    return reference.repository === ownPath ? reference : null
  }
}

/** `acme/prompts` for `https://forge.example/acme/prompts.git`; null for a folder. */
function pathOf(repository: Repository): string | null {
  if (isLocalUrl(repository.url)) return null
  return (URL.parse(webUrlOf(repository))?.pathname ?? '').replace(/^\/+|\/+$/g, '').toLowerCase()
}

// To look for more of them in each message takes git longer than to print all messages.
const maxNumbersToSearch = 20

/** Streams the commits of the default branch up to `from` that may name one of these pull requests, and perhaps others. */
export function streamMentions(
  mirror: string,
  from: string,
  numbers: number[],
  options: string[] = [],
): AsyncGenerator<Commit> {
  const isSearch = numbers.length <= maxNumbersToSearch
  const greps = isSearch ? ['--fixed-strings', ...numbers.flatMap((number) => ['--grep', String(number)])] : []
  return streamMessages(mirror, ['--first-parent', ...options, ...greps, from])
}
