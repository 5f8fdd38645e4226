import { decode } from './bytes.ts'
import { git, withinLimit } from './run.ts'

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
