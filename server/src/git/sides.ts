import { type MergeText, streamOriginals } from './log.ts'

/**
 * Whether a commit landed a pull request: one of the repository itself (`own`), one of another repository (`foreign`), or one
 * that only the message tells of (`claimed`). Null if nothing says so.
 */
export type LandingKind = 'own' | 'foreign' | 'claimed' | null

/** The first parents of one side of a merge, as far as the other side does not contain them. */
export interface Side {
  /** Commits that landed a pull request of the repository itself, and those that landed any. */
  ownLandings: number
  landings: number
  /** Those of both that the forge itself made. */
  ownForgeLandings: number
  forgeLandings: number
  /** The messages of its merges. */
  merges: string[]
}

interface SidesQuery {
  landingKind(commit: MergeText): LandingKind
  /** Whether the forge made the commit, according to its message or its committer. */
  isForgeMade(commit: MergeText): boolean
  /** Called with the second side as soon as it is known. The first is not read if this returns false. */
  isPossible(second: Side): boolean
  /** How many commits may still be read. Decreases. */
  budget: { commits: number }
}

// A branch that was merged after a year in rails/rails needs 8,000.
const maxCommits = 20_000
const [inFirst, inSecond, inBoth] = [1, 2, 3]

/**
 * Reads the two sides of a merge, newest first, until the first parents of each lead to a commit that both contain. Null if they
 * do not, as in the history of another project, or if there is too much to read.
 */
export async function readSides(
  mirror: string,
  [first, second]: [string, string],
  query: SidesQuery,
): Promise<[Side, Side] | null> {
  const { isPossible, budget } = query
  const graph = createGraph()
  graph.reach(first, inFirst)
  graph.reach(second, inSecond)
  const chains = [startChain(graph, first), startChain(graph, second)] as const
  let isSecondKnown = false
  let read = 0
  for await (const commit of streamOriginals(mirror, [first, second])) {
    if (++read > maxCommits || --budget.commits < 0) return null
    graph.add(commit)
    if (!isSecondKnown && chains[1].meets()) {
      isSecondKnown = true
      if (!isPossible(sideOf(chains[1].commits(), query))) return null
    }
    if (isSecondKnown && chains[0].meets()) {
      // Read again: with commit dates out of order, a commit can turn out late to be in both.
      return [sideOf(chains[0].commits(), query), sideOf(chains[1].commits(), query)]
    }
  }
  return null
}

function sideOf(commits: MergeText[], { landingKind, isForgeMade }: SidesQuery): Side {
  const landings = commits.flatMap((commit) => {
    const kind = landingKind(commit)
    return kind === null ? [] : { isOwn: kind === 'own', byForge: isForgeMade(commit) }
  })
  return {
    ownLandings: landings.filter(({ isOwn }) => isOwn).length,
    landings: landings.length,
    ownForgeLandings: landings.filter(({ isOwn, byForge }) => isOwn && byForge).length,
    forgeLandings: landings.filter(({ byForge }) => byForge).length,
    merges: commits.flatMap(({ parents, message }) => (parents.length > 1 ? message : [])),
  }
}

/** The commits that were read, and which sides contain them. */
function createGraph() {
  const commits = new Map<string, MergeText>()
  const sidesOf = new Map<string, number>()

  /** Marks a commit, and those before it that were read already: commit dates can be out of order. */
  function reach(start: string, sides: number): void {
    const stack = [start]
    for (let sha = stack.pop(); sha !== undefined; sha = stack.pop()) {
      const before = sidesOf.get(sha) ?? 0
      if ((before | sides) === before) continue
      sidesOf.set(sha, before | sides)
      stack.push(...(commits.get(sha)?.parents ?? []))
    }
  }

  return {
    reach,
    add(commit: MergeText): void {
      commits.set(commit.sha, commit)
      for (const parent of commit.parents) reach(parent, sidesOf.get(commit.sha) ?? 0)
    },
    commit: (sha: string) => commits.get(sha),
    isInBoth: (sha: string) => sidesOf.get(sha) === inBoth,
  }
}

function startChain(graph: ReturnType<typeof createGraph>, start: string) {
  let next: string | undefined = start
  return {
    /** Whether the first parents that were read lead to a commit of both sides. */
    meets(): boolean {
      for (let commit = next && graph.commit(next); commit; commit = next && graph.commit(next)) {
        if (graph.isInBoth(commit.sha)) return true
        next = commit.parents[0]
      }
      return false
    },
    commits(): MergeText[] {
      const chain: MergeText[] = []
      for (let commit = graph.commit(start); commit && !graph.isInBoth(commit.sha); ) {
        chain.push(commit)
        commit = graph.commit(commit.parents[0] ?? '')
      }
      return chain
    },
  }
}
