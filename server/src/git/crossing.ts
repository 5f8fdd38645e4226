import type { MergeText } from './log.ts'
import { type MergedBranch, mergedBranchIn, upstreamBranchIn } from './merge-message.ts'
import { type LandingKind, readSides, type Side } from './sides.ts'

/** The repository as it is known when a merge is judged. */
export interface MainlineRules {
  /** The default branch's name. */
  branch: string
  /** The repository's own URLs, as `placeOf` writes them. */
  places: string[]
  landingKind(commit: MergeText): LandingKind
  /** Whether the forge made the commit, according to its message or its committer. */
  isForgeMade(commit: MergeText): boolean
}

/** Judges merges of the default branch, from the newest to the oldest. */
export interface CrossingJudge {
  /** Whether the default branch continues at the second parent of the merge. */
  isCrossed(merge: MergeText): Promise<boolean>
  /** Whether a source turned out to be the repository itself after a merge from it was judged without that knowledge. */
  learnedLate(): boolean
}

// Enough for every known repository: rails/rails needs about 300,000. A merge counts as some more, for starting git.
const maxCommitsOfSides = 2_000_000
const commitsPerMerge = 100
// A merge that the repository's own pull requests do not explain can be an exception. So many in a row are imported history.
const minForeignMerges = 10

// A source with so many merges that are not crossed, and none that is, is another repository. rails/rails merges from one 270 times.
const maxRefusals = 8

// What `git clone` calls the repository that was cloned. `upstream` is often the one that it was forked from.
const ownRemote = 'origin'

const mainNames = new Set(['master', 'main', 'trunk', 'default', 'develop', 'development', 'dev'])
// Beside a default branch with one of these names, `master` is usually the branch of releases.
const developNames = new Set(['develop', 'development', 'dev', 'next', 'staging'])

/**
 * A developer who merges the default branch into local work and pushes the result turns the local work into the first parent,
 * and all that others had landed into the second. The merge is crossed if its message says so, unless what the two sides hold
 * contradicts it.
 *
 * `places` holds the sources that are the repository itself, and collects those that turn out to be, such as its former URL.
 */
export function createCrossingJudge(mirror: string, rules: MainlineRules, places: Set<string>): CrossingJudge {
  const budget = { commits: maxCommitsOfSides }
  const refusals = new Map<string, number>()
  let foreignMerges = 0
  for (const place of [ownRemote, ...rules.places]) places.add(place)

  /** Whether the history before was written in another repository, whose names and URL are unknown. */
  const isImported = () => foreignMerges >= minForeignMerges

  function isSecondMainline(sides: [Side, Side], { name, source, into }: MergedBranch, isOwn: boolean): boolean {
    if (isOwn) return into === null || into === name ? !isFirstOnForge(sides) : !isFirstTarget(sides)
    const [first, second] = sides
    // A fork merges from the repository that it was forked from again and again.
    const isFork = source !== null && first.merges.some((message) => source === mergedBranchIn(message)?.source)
    return !isFork && (second.ownLandings > first.ownLandings || (isImported() && preferSecond(sides) > 0))
  }

  return {
    async isCrossed(merge) {
      const [first, second] = merge.parents
      if (first === undefined || second === undefined || merge.parents.length > 2) return false
      const landing = rules.landingKind(merge)
      if (landing === 'own') foreignMerges = 0
      if (landing === 'foreign') foreignMerges++
      // In a fork, the forge merges pull requests from the repository itself. Someone pushed the fork's branch to the default branch.
      const upstream = landing === 'foreign' ? upstreamBranchIn(merge.message, places) : null
      // The forge made it, or a maintainer did for a pull request: the first parent was the default branch.
      if (landing !== null && upstream === null) return false
      const merged = upstream ?? mergedBranchIn(merge.message)
      if (merged === null || !namesMainline(merged, rules.branch, isImported())) return false
      const { source } = merged
      const isOwn = source === null ? merged.name === rules.branch || merged.into !== null : places.has(source)
      if (source !== null && (refusals.get(source) ?? 0) >= maxRefusals) return false
      budget.commits -= commitsPerMerge
      const sides = await readSides(mirror, [first, second], {
        landingKind: rules.landingKind,
        isForgeMade: rules.isForgeMade,
        isPossible: ({ ownLandings, landings }) => isOwn || ownLandings > 0 || (isImported() && landings > 0),
        budget,
      })
      const isCrossed = sides !== null && isSecondMainline(sides, merged, isOwn)
      if (source !== null && isCrossed) places.add(source)
      if (source !== null && !isCrossed && !isOwn) refusals.set(source, (refusals.get(source) ?? 0) + 1)
      return isCrossed
    },
    learnedLate: () => refusals.keys().some((source) => places.has(source)),
  }
}

/** Whether the merged branch can be the default branch, under its current or a former name. */
function namesMainline({ name, source, into }: MergedBranch, branch: string, isImported: boolean): boolean {
  const isFormer = isImported ? mainNames.has(name) : name === 'master' && !developNames.has(branch)
  if (name !== branch && !isFormer) return false
  // Without a source, a branch cannot be merged into itself: GitLab writes this for the `main` of a fork.
  if (into === name) return source !== null
  // Git leaves out the target only if it is `master`: another branch was merged into that.
  if (into === null && name !== branch && name !== 'master') return false
  // Another branch was merged into the default branch, as from `develop` for a release.
  return into === null || (into !== branch && !mainNames.has(into))
}

/** Positive if the second side looks more like the default branch, 0 if nothing tells them apart. */
function preferSecond([first, second]: [Side, Side]): number {
  return second.ownLandings - first.ownLandings || second.landings - first.landings
}

/**
 * Whether the forge landed more on the first side, so that this is what it has as the default branch. Pull requests that were merged
 * by hand do not show that: local work can hold some.
 */
function isFirstOnForge([first, second]: [Side, Side]): boolean {
  return (first.ownForgeLandings - second.ownForgeLandings || first.forgeLandings - second.forgeLandings) > 0
}

// A branch of a large feature has pull requests too: sveltejs/svelte merged 15 into one while 9 went to the default branch.
const [minTargetLandings, minTargetRatio] = [5, 5]

/** Whether the branch into which the default branch was merged was the target of nearly all pull requests. */
function isFirstTarget([first, second]: [Side, Side]): boolean {
  const hasOwn = first.ownLandings + second.ownLandings > 0
  const [a, b] = hasOwn ? [first.ownLandings, second.ownLandings] : [first.landings, second.landings]
  return a >= minTargetLandings && a >= minTargetRatio * b
}
