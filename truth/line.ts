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
  /** The addresses, as `owner/project`, from which the default branch itself was pulled. */
  former: Set<string>
}

/**
 * Reads the line from its newest commit: first parents, except at a merge of the default branch into local work, where
 * the line continues at the other parent.
 *
 * A repository that was renamed, or that continues another one, was pulled from under other addresses. Where pull requests
 * prove that, merges from the same address that they do not decide are read again with this knowledge.
 */
export async function readLine(clone: Clone, tip: string, forge: string, judge: Judge): Promise<Line> {
  const line = await readOnce(clone, tip, forge, judge)
  const former = line.former.difference(judge.projects)
  if (former.size === 0) return line
  return readOnce(clone, tip, forge, { ...judge, projects: judge.projects.union(former) })
}

async function readOnce(clone: Clone, tip: string, forge: string, judge: Judge): Promise<Line> {
  const line: Line = { commits: [], crossings: [], undecided: [], unknown: new Set(), former: new Set() }
  const votes = new Map<string, number>()
  const onDecision = ({ side, proven }: Decision) => {
    if (proven !== null) votes.set(proven, (votes.get(proven) ?? 0) + (side === 'second' ? 1 : -1))
  }
  let from: string | null = tip
  while (from !== null) from = await readUntilCrossing(clone, from, { forge, judge, line, onDecision })
  line.commits.reverse()
  line.former = new Set([...votes].filter(([, count]) => count > 0).map(([project]) => project))
  return line
}

interface Reading {
  forge: string
  judge: Judge
  line: Line
  onDecision: (decision: Decision) => void
}

/** Returns the parent at which the line continues after a crossing. */
async function readUntilCrossing(clone: Clone, from: string, reading: Reading): Promise<string | null> {
  const { forge, judge, line, onDecision } = reading
  for await (const commit of readCommits(clone, ['--first-parent', from])) {
    const decision = await decide(clone, commit, judge)
    onDecision(decision)
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
