import type { Repository } from '../domain/repositories/repository.ts'
import { isLocalUrl } from '../domain/repositories/repository-url.ts'
import { forgeOf, referenceOfAnyForge } from '../forges/index.ts'
import { type AddedCommits, readAddedCommits } from '../git/added-commits.ts'
import type { MainlineRules } from '../git/crossing.ts'
import type { MergeText } from '../git/log.ts'
import { alignMainline } from '../git/mainline.ts'
import type { PullRefs } from '../git/pull-refs.ts'
import type { LandingKind } from '../git/sides.ts'
import { referenceReader } from './merge-references.ts'
import type { SyncRun } from './sync-run.ts'

/**
 * Makes the first parents in the mirror the commits that the default branch went through. Returns the commits since the last one
 * that was recorded, or all, if they are few.
 */
export async function alignDefaultBranch(
  { mirror, tip, branch, pullRefs, places }: Pick<SyncRun, 'mirror' | 'tip' | 'branch' | 'pullRefs' | 'places'>,
  repository: Repository,
): Promise<AddedCommits | null> {
  const { tip: recorded } = repository
  const forge = forgeOf(repository.forge)
  const readAdded = () => readAddedCommits(mirror.path, recorded, tip)
  const added = await readAdded()
  const range = { tip, recorded, added }
  const hasSwapped = await alignMainline(mirror.path, range, async (): Promise<MainlineRules> => {
    const refs = await pullRefs()
    return {
      branch,
      places: [...(await places())],
      landingKind: landingKindWith(repository, refs),
      isForgeMade: (commit) =>
        forge.isForgeCommitter(commit.committer) || referenceOfAnyForge(commit)?.isForgeText === true,
    }
  })
  return hasSwapped ? readAdded() : added
}

// GitHub was the first forge to squash pull requests.
const firstSquashes = Date.UTC(2016, 3, 1)

function landingKindWith(repository: Repository, refs: PullRefs): (commit: MergeText) => LandingKind {
  const { keepsPullRefs } = forgeOf(repository.forge)
  const readReference = referenceReader(repository)
  // A clone in a folder may lack the refs of the forge. Then nothing proves whose pull request it was.
  const hasRefs = refs.isComplete && (refs.count > 0 || !isLocalUrl(repository.url))
  return (commit) => {
    const [, ...merged] = commit.parents
    if (merged.some(refs.isPullHead)) return 'own'
    const written = referenceOfAnyForge(commit)
    if (written === null) return null
    const named = readReference(commit)
    if (!keepsPullRefs) return named?.isForgeText ? 'own' : 'claimed'
    const isKnown = named !== null && refs.headOf(named.number) !== null
    if (merged.length === 0) {
      // Before, numbers in titles are mostly those of issues, which the forge counts together with pull requests.
      if (commit.committedAt < firstSquashes) return null
      return isKnown ? 'own' : 'claimed'
    }
    // The forge keeps the head of every pull request, and it is not the one that was merged.
    return hasRefs && written.isForgeText ? 'foreign' : 'claimed'
  }
}
