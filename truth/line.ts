import { type Commit, readCommits } from './commit.ts'
import { type Decision, decide, type Judge } from './foxtrot.ts'
import type { Clone } from './git.ts'
import { type Named, named, type Page, pageIn } from './message.ts'

/** A commit that the default branch went through. */
export interface LineCommit extends Omit<Commit, 'message' | 'parents'> {
  /** The commit before it on the line; null for the root. */
  before: string | null
  /** Its other parents. */
  others: string[]
  named: Named
  /** The pull request whose URL its last paragraph has. */
  page: Page | null
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
  await markUnknown(clone, judge, line)
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
    if (decision.side === 'unknown') line.undecided.push(decision)
    const at = decision.side === 'second' ? 1 : 0
    line.commits.push(onLine(commit, at, forge))
    if (at === 0) continue
    line.crossings.push(decision)
    return commit.parents[1] ?? null
  }
  return null
}

/**
 * Follows the other parent of each undecided merge to where it meets the line. What lies between, on both sides, is
 * unknown. The commits of the line are still newest first.
 */
async function markUnknown(clone: Clone, judge: Judge, line: Line): Promise<void> {
  const places = new Map(line.commits.map(({ sha }, place) => [sha, place]))
  const walked = new Set<string>()
  const starts = line.undecided.map(({ merge }) => merge)
  for (const start of starts) {
    const { others } = line.commits[places.get(start) as number] as LineCommit
    const meeting = await walkToLine(clone, judge, others, { places, walked })
    const until = meeting === null ? line.commits.length : (places.get(meeting) as number)
    for (const { sha } of line.commits.slice(places.get(start), until)) line.unknown.add(sha)
  }
  for (const sha of walked) line.unknown.add(sha)
}

/** The first commit of the line that the default branch reaches if it continues at one of these; null if none. */
async function walkToLine(
  clone: Clone,
  judge: Judge,
  from: string[],
  { places, walked }: { places: Map<string, number>; walked: Set<string> },
): Promise<string | null> {
  let oldest: string | null = null
  const open = [...from]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for await (const commit of readCommits(clone, ['--first-parent', next])) {
      if (places.has(commit.sha)) {
        if ((places.get(oldest ?? '') ?? -1) < (places.get(commit.sha) as number)) oldest = commit.sha
        break
      }
      if (walked.has(commit.sha)) break
      walked.add(commit.sha)
      const { side } = await decide(clone, commit, judge)
      if (side !== 'first') open.push(commit.parents[1] as string)
      if (side === 'second') break
    }
  }
  return oldest
}

function onLine({ parents, message, ...commit }: Commit, at: number, forge: string): LineCommit {
  const before = parents[at] ?? null
  const others = parents.filter((_, i) => i !== at)
  return { ...commit, before, others, named: named({ subject: commit.subject, message }, forge), page: pageIn(message) }
}
