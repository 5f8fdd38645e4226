import { revisions } from './rev-list.ts'
import { gitOutput } from './run.ts'

/** When commits became part of the default branch. Positions count its own commits, the newest first. */
export interface Arrivals {
  /** The position of the commit that brought it. Infinite if it was there before what was read, -1 if it never arrived. */
  positionOf(sha: string): number
}

const timeoutMs = 5 * 60_000
const lineFeed = 0x0a

/**
 * Finds where each of these commits became part of the default branch, in one pass over the history. To ask git about each, as
 * `merge-base --is-ancestor` does, walks through the history once for every question.
 */
export async function readArrivals(
  mirror: string,
  range: { from: string | null; to: string },
  wanted: ReadonlySet<string>,
): Promise<Arrivals> {
  const found = new Map<string, number>()
  // Of the commits whose children were read. A child comes before its parents.
  const pending = new Map<string, number>()
  let position = -1
  let next: string | undefined = range.to
  const visit = (sha: string, parents: string[]) => {
    const brought = pending.get(sha) ?? 0
    pending.delete(sha)
    const isOnLine = sha === next
    if (isOnLine) {
      position++
      next = parents[0]
    }
    const own = isOnLine ? position : brought
    if (wanted.has(sha)) found.set(sha, own)
    // The oldest commit of the default branch that contains it brought it.
    for (const parent of parents) pending.set(parent, Math.max(pending.get(parent) ?? 0, own))
  }
  for await (const [sha = '', ...parents] of listParents(mirror, range)) visit(sha, parents)
  const otherwise = range.from === null ? -1 : Number.POSITIVE_INFINITY
  return { positionOf: (sha) => found.get(sha) ?? otherwise }
}

/** Each commit, followed by its parents. */
async function* listParents(mirror: string, { from, to }: { from: string | null; to: string }) {
  const args = ['rev-list', '--topo-order', '--parents', ...revisions(from, to), '--']
  const step = to.length + 1
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of gitOutput(args, { mirror, timeoutMs })) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    let start = 0
    for (let end = bytes.indexOf(lineFeed); end !== -1; end = bytes.indexOf(lineFeed, start)) {
      const hashes: string[] = []
      // Each is decoded on its own: a slice of a longer text would keep all of it in memory.
      for (; start < end; start += step) hashes.push(bytes.toString('latin1', start, start + to.length))
      yield hashes
    }
    rest = bytes.subarray(start)
  }
}
