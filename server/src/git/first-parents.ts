import { decode } from './bytes.ts'
import { isAncestor } from './log.ts'
import { git, withinLimit } from './run.ts'

/** Whether a merge brought the ancestor: it is not among the first parents of the commit. */
export async function isMergedInto(mirror: string, ancestor: string, commit: string): Promise<boolean> {
  if (ancestor === commit || !(await isAncestor(mirror, ancestor, commit))) return false
  const listed = await git(['rev-list', '--first-parent', '--parents', commit, `^${ancestor}`, '--'], { mirror })
  const [, firstParent] = decode(listed).trimEnd().split('\n').at(-1)?.split(' ') ?? []
  return firstParent !== ancestor
}

// A larger merge is that of another history.
const maxMergedBytes = 1024 * 1024

/** Whether the merge brought the commit: its first parent did not have it. */
export async function hasMerged(
  mirror: string,
  { merge, parent }: { merge: string; parent: string | null },
  commit: string,
): Promise<boolean> {
  const range = parent === null ? [merge] : [merge, `^${parent}`]
  const list = async () => decode(await git(['rev-list', ...range, '--'], { mirror, maxBytes: maxMergedBytes }))
  return (await withinLimit(list(), () => '')).split('\n').includes(commit)
}
