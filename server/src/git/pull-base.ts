import { mergeBase } from './log.ts'
import { resolveCommit } from './mirror.ts'
import { revList } from './rev-list.ts'

export interface PullBaseQuery {
  head: string
  /** The newest commit of the default branch. */
  tip: string
  /** What the forge reported: the commits that the head was compared with, possibly outdated, and the number of commits. */
  mergeBases: string[]
  commitCount: number | null
  /** The commit of the default branch before the push that brought the head there; null if unknown. */
  pushedFrom: () => Promise<string | null>
}

export interface PullBase {
  /** Null if the pull request starts with a root commit. */
  base: string | null
  /**
   * What the base follows from. `git`, unless the pull request's own commits are on the default branch: then git alone does not
   * show where it began. `guess`: nothing tells, and one commit was assumed.
   */
  from: 'git' | 'report' | 'push' | 'guess'
}

/** Finds the commit that a pull request began at. */
export async function findPullBase(mirror: string, query: PullBaseQuery): Promise<PullBase> {
  const { head, tip, commitCount } = query
  const shared = await mergeBase(mirror, tip, head)
  if (shared !== head) return { base: shared, from: 'git' }
  const landing = await landingOf(mirror, head, tip)
  if (landing !== null && landing !== head) return { base: await mergeBase(mirror, `${landing}^1`, head), from: 'git' }
  const reported = await closestBase(mirror, head, query.mergeBases)
  if (reported !== null) return { base: reported, from: 'report' }
  if (commitCount !== null) return { base: await ancestor(mirror, head, commitCount), from: 'report' }
  const pushedFrom = await query.pushedFrom()
  const pushed = pushedFrom === null ? null : await closestBase(mirror, head, [pushedFrom])
  if (pushed !== null) return { base: pushed, from: 'push' }
  return { base: await ancestor(mirror, head, 1), from: 'guess' }
}

/** The commit that brought `commit` to the default branch: itself or a merge. Null if it is not on the default branch. */
export async function landingOf(mirror: string, commit: string, tip: string): Promise<string | null> {
  // Each commit with its parents.
  const since = await revList(mirror, ['--first-parent', '--parents', `^${commit}`, tip])
  if (since.length === 0) return commit === tip ? commit : null
  const descendants = new Set(await revList(mirror, ['--ancestry-path', `^${commit}`, tip]))
  for (const [sha, firstParent] of since.toReversed().map((line) => line.split(' '))) {
    if (sha !== undefined && descendants.has(sha)) return firstParent === commit ? commit : sha
  }
  return null
}

/** Of the commits where the head left one of these, the one with the fewest commits up to the head. */
async function closestBase(mirror: string, head: string, commits: string[]): Promise<string | null> {
  let closest: { base: string; distance: number } | null = null
  for (const commit of new Set(commits)) {
    const known = await resolveCommit(mirror, commit)
    const base = known === null ? null : await mergeBase(mirror, known, head)
    // A commit that contains the head does not show where the head began.
    if (base === null || base === head) continue
    const [distance = 0] = (await revList(mirror, ['--count', head, `^${base}`])).map(Number)
    if (closest === null || distance < closest.distance) closest = { base, distance }
  }
  return closest?.base ?? null
}

async function ancestor(mirror: string, head: string, distance: number): Promise<string | null> {
  const [base] = await revList(mirror, ['--first-parent', '--skip', String(distance), '-n', '1', head])
  return base ?? null
}
