import type { Repository } from '../domain/repositories/repository.ts'
import { isLocalUrl, webUrlOf } from '../domain/repositories/repository-url.ts'
import { forgeOf } from '../forges/index.ts'
import { isCherryPick, type MergeReference } from '../forges/merge-reference.ts'
import type { MergeText } from '../git/log.ts'

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
