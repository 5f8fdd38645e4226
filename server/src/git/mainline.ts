import { decode } from './bytes.ts'
import type { Commit, LogOptions } from './commit.ts'
import { readDiff, streamCommits } from './log.ts'
import { readFirstParents, revisions } from './log-range.ts'
import { git, withinLimit } from './run.ts'

export interface Range {
  /** The last commit that was read before; null to read from the root. */
  from: string | null
  to: string
  /** The default branch's name. */
  branch: string
}

/**
 * The commits that the default branch went through, oldest first, each with the files it changed.
 *
 * These are the first parents, with one exception. A developer who merges the default branch into local work and pushes
 * the result turns the local work into the first parent and everyone else's commits into the second. At such a merge, the
 * default branch continues at the second parent.
 */
export async function* readMainline(mirror: string, range: Range, options: LogOptions): AsyncGenerator<Commit> {
  const swappedMerges: { merge: Commit; parent: string; until: string }[] = []
  let to = range.to
  for (;;) {
    const swapped = await newestSwappedMerge(mirror, { ...range, to })
    if (swapped === null) break
    swappedMerges.push({ ...swapped, until: to })
    to = swapped.parent
  }
  yield* readFirstParents(mirror, range.from, to, options)
  for (const { merge, parent, until } of swappedMerges.reverse()) {
    const changes = await readDiff(mirror, parent, merge.sha, options)
    if (changes.files.length > 0) yield { ...merge, ...changes }
    yield* readFirstParents(mirror, merge.sha, until, options)
  }
}

async function newestSwappedMerge(mirror: string, { from, to, branch }: Range) {
  const known = from === null ? null : await descendants(mirror, from, to)
  const find = async () => {
    for await (const merge of streamCommits(mirror, ['--first-parent', '--merges', ...revisions(from, to)])) {
      const parent = swappedParent(merge, known, branch)
      if (parent !== null) return { merge, parent }
    }
    return null
  }
  // If messages are too large to be searched, the first parents are the default branch.
  return withinLimit(find(), () => null)
}

/** `known` holds the descendants of the last commit that was read; null on the first read. */
function swappedParent(merge: Commit, known: Set<string> | null, branch: string): string | null {
  const [first] = merge.parents
  const parents = merge.parents.filter((parent) => known === null || known.has(parent))
  // If only one parent descends from what was read before, that parent is the default branch. Otherwise the message decides.
  if (parents.length === 1) return parents[0] === first ? null : (parents[0] as string)
  return isMergeOf(branch, merge.message) ? (merge.parents[1] ?? null) : null
}

/** The commit, and its descendants up to `to`. */
async function descendants(mirror: string, commit: string, to: string): Promise<Set<string>> {
  const shas = decode(await git(['rev-list', '--ancestry-path', to, `^${commit}`, '--'], { mirror }))
  return new Set([commit, ...shas.split('\n')])
}

/** Matches `Merge branch 'main' of …`, `Merge branch 'main' into …` and the same for a remote-tracking branch. */
function isMergeOf(branch: string, message: string): boolean {
  const [, name = ''] = /^Merge (?:remote-tracking )?branch '([^'\n]+)'/.exec(message) ?? []
  return name === branch || name === `origin/${branch}` || name === `upstream/${branch}`
}
