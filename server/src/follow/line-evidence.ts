import { type MergeText, streamMessages } from '../git/log.ts'
import { readReplaced } from '../git/mainline.ts'

/** Where a commit is on the default branch. */
export interface LinePlace {
  commit: MergeText
  /** The number of newer commits on the default branch. */
  newer: number
  /** The closest newer merge at which the default branch continues at another than the first parent. */
  crossing: Crossing | null
  /** The parent on the default branch, if the commit is such a merge itself. */
  swappedParent: string | null
}

export interface Crossing {
  merge: string
  /** The first line of its message. */
  subject: string
  /** The parent at which the default branch continues. */
  parent: string
}

/** Finds these commits on the default branch, newest first. Stops when it has found all. */
export async function readPlaces(
  mirror: string,
  tip: string,
  commits: ReadonlySet<string>,
): Promise<Map<string, LinePlace>> {
  const places = new Map<string, LinePlace>()
  if (commits.size === 0) return places
  const swapped = await readReplaced(mirror)
  let newer = 0
  let crossing: Crossing | null = null
  for await (const commit of streamMessages(mirror, ['--first-parent', tip])) {
    const { sha, parents, message } = commit
    const swappedParent = swapped.has(sha) ? (parents[0] ?? null) : null
    if (commits.has(sha)) places.set(sha, { commit, newer, crossing, swappedParent })
    if (swappedParent !== null) {
      crossing = { merge: sha, subject: message.split('\n', 1)[0] ?? '', parent: swappedParent }
    }
    newer++
    if (places.size === commits.size) break
  }
  return places
}
