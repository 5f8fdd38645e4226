import { decode } from './bytes.ts'
import { isAncestor } from './log.ts'
import { git } from './run.ts'

/** Whether a merge brought the ancestor: it is not among the first parents of the commit. */
export async function isMergedInto(mirror: string, ancestor: string, commit: string): Promise<boolean> {
  if (ancestor === commit || !(await isAncestor(mirror, ancestor, commit))) return false
  const listed = await git(['rev-list', '--first-parent', '--parents', commit, `^${ancestor}`, '--'], { mirror })
  const [, firstParent] = decode(listed).trimEnd().split('\n').at(-1)?.split(' ') ?? []
  return firstParent !== ancestor
}
