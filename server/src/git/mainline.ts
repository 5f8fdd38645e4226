import { decode } from './bytes.ts'
import { type Commit, type LogOptions, readDiff, readLog, streamCommits } from './log.ts'
import { git } from './run.ts'

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
  const known = from === null ? null : await descendants(mirror, from, to)
  for await (const merge of streamCommits(mirror, ['--first-parent', '--merges', ...revisions(from, to)])) {
    const parent = crossedTo(merge, known, branch)
    if (parent !== null) return { merge, parent }
  }
  return null
}

/** `known`: the commits that lead to what was read before; null where nothing was. */
function crossedTo(merge: Commit, known: Set<string> | null, branch: string): string | null {
  const [first] = merge.parents
  const parents = merge.parents.filter((parent) => known === null || known.has(parent))
  // Where only one parent leads to what was read before, that one is the default branch; else its message has to tell.
  if (parents.length === 1) return parents[0] === first ? null : (parents[0] as string)
  return mergesBranchIn(merge.message, branch) ? (merge.parents[1] ?? null) : null
}

/** The commit and all up to `to` that lead to it. */
async function descendants(mirror: string, commit: string, to: string): Promise<Set<string>> {
  const found = decode(await git(['rev-list', '--ancestry-path', to, `^${commit}`, '--'], { mirror }))
  return new Set([commit, ...found.split('\n')])
}

/** Says `Merge branch 'main' of …`, `Merge branch 'main' into …` or the same of a remote-tracking branch. */
function mergesBranchIn(message: string, branch: string): boolean {
  const [, name = ''] = /^Merge (?:remote-tracking )?branch '([^'\n]+)'/.exec(message) ?? []
  return name === branch || name === `origin/${branch}` || name === `upstream/${branch}`
}

function revisions(from: string | null, to: string): string[] {
  return from === null ? [to] : [to, `^${from}`]
}
