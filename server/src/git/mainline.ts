import { type Commit, isAncestor, type LogOptions, readDiff, readLog, streamCommits } from './log.ts'

export interface Range {
  /** What was read before; null to read from the beginning. */
  from: string | null
  to: string
  /** The name of the default branch. */
  branch: string
}

/**
 * The commits that the default branch went through, oldest first, with what each changed as against the one before.
 *
 * That is the line of first parents, with one exception: somebody who merges the default branch into work of their own
 * and pushes the result makes their own work the first parent, and what others had landed the second. There the second
 * parent is the one that the branch came from.
 */
export async function* readMainline(mirror: string, range: Range, options: LogOptions): AsyncGenerator<Commit> {
  const crossings: { merge: Commit; parent: string; until: string }[] = []
  let to = range.to
  for (;;) {
    const crossing = await newestCrossing(mirror, { ...range, to })
    if (crossing === null) break
    crossings.push({ ...crossing, until: to })
    to = crossing.parent
  }
  yield* readLog(mirror, ['--first-parent', '--reverse', ...revisions(range.from, to)], options)
  for (const { merge, parent, until } of crossings.reverse()) {
    const files = await readDiff(mirror, parent, merge.sha, options)
    if (files.length > 0) yield { ...merge, files }
    yield* readLog(mirror, ['--first-parent', '--reverse', ...revisions(merge.sha, until)], options)
  }
}

async function newestCrossing(mirror: string, { from, to, branch }: Range) {
  for await (const merge of streamCommits(mirror, ['--first-parent', '--merges', ...revisions(from, to)])) {
    const parent = await crossedTo(mirror, merge, from, branch)
    if (parent !== null) return { merge, parent }
  }
  return null
}

async function crossedTo(mirror: string, merge: Commit, from: string | null, branch: string): Promise<string | null> {
  const parents: string[] = []
  for (const parent of merge.parents)
    if (from === null || (await isAncestor(mirror, from, parent))) parents.push(parent)
  // Where only one parent leads to what was read before, that one is the default branch; else its message has to tell.
  const [first] = merge.parents
  if (parents.length === 1) return parents[0] === first ? null : (parents[0] as string)
  return mergesBranchIn(merge.message, branch) ? (merge.parents[1] ?? null) : null
}

/** Says `Merge branch 'main' of …`, `Merge branch 'main' into …` or the same of a remote-tracking branch. */
function mergesBranchIn(message: string, branch: string): boolean {
  const [, name = ''] = /^Merge (?:remote-tracking )?branch '([^'\n]+)'/.exec(message) ?? []
  return name === branch || name === `origin/${branch}` || name === `upstream/${branch}`
}

function revisions(from: string | null, to: string): string[] {
  return from === null ? [to] : [to, `^${from}`]
}
