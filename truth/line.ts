import { type Commit, readCommits } from './commit.ts'
import { type Decision, decide, type Judge } from './foxtrot.ts'
import type { Clone } from './git.ts'
import { type Named, named } from './message.ts'

/** A commit that the default branch went through. */
export interface LineCommit extends Omit<Commit, 'message' | 'parents'> {
  /** The commit before it on the line; null for the root. */
  before: string | null
  /** Its other parents. */
  others: string[]
  named: Named
}

export interface Line {
  /** Oldest first. */
  commits: LineCommit[]
  /** Merges that the line leaves through another than the first parent. */
  crossings: Decision[]
  /** Merges about which git proves nothing. */
  undecided: Decision[]
  /** Commits between an undecided merge and where both of its sides meet: on the line or not, nothing proves it. */
  unknown: Set<string>
}

/**
 * Reads the line from its newest commit: first parents, except at a merge of the default branch into local work, where
 * the line continues at the other parent.
 */
export async function readLine(clone: Clone, tip: string, forge: string, judge: Judge): Promise<Line> {
  const line: Line = { commits: [], crossings: [], undecided: [], unknown: new Set() }
  let from: string | null = tip
  while (from !== null) from = await readUntilCrossing(clone, from, forge, judge, line)
  line.commits.reverse()
  return line
}

/** Returns the parent at which the line continues after a crossing. */
async function readUntilCrossing(
  clone: Clone,
  from: string,
  forge: string,
  judge: Judge,
  line: Line,
): Promise<string | null> {
  for await (const commit of readCommits(clone, ['--first-parent', from])) {
    const decision = await decide(clone, commit, judge)
    if (decision.side === 'unknown') {
      line.undecided.push(decision)
      for (const sha of decision.doubtful) line.unknown.add(sha)
    }
    const at = decision.side === 'second' ? 1 : 0
    line.commits.push(onLine(commit, at, forge))
    if (at === 0) continue
    line.crossings.push(decision)
    return commit.parents[1] ?? null
  }
  return null
}

function onLine({ parents, message, ...commit }: Commit, at: number, forge: string): LineCommit {
  const before = parents[at] ?? null
  const others = parents.filter((_, i) => i !== at)
  return { ...commit, before, others, named: named({ subject: commit.subject, message }, forge) }
}
