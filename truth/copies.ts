import { hash } from 'node:crypto'
import { type Clone, gitFields } from './git.ts'
import type { Heads } from './heads.ts'
import type { LineCommit } from './line.ts'

/** A pull request whose commits landed as copies: whole, in order and without gaps. */
export interface Rebase {
  number: number
  landing: string
  commits: string[]
}

export interface Copies {
  /** The rebases that contain a commit. */
  of: Map<string, Rebase[]>
  /** Commits that some pull request also has, although not all of its commits landed in a row. */
  partly: Set<string>
  /** Copies of earlier commits of the line, such as those that were reverted and applied again. */
  again: Set<string>
}

interface Side {
  trace: number
  committedAt: number
  parents: string[]
}

// A copy is made after the original. A newer commit is a copy of the landing, such as a backport to another branch.
const maxClockDifferenceMs = 5 * 60_000
const maxPullCommits = 500

/** Looks for the commits of every pull request on the line, by author, author date and title. */
export async function findCopies(clone: Clone, line: LineCommit[], heads: Heads, tip: string): Promise<Copies> {
  const copies: Copies = { of: new Map(), partly: new Set(), again: new Set() }
  if (heads.byNumber.size === 0) return copies
  const sides = await readSides(clone, heads, tip)
  const places = new Map<number, number[]>()
  const traces = line.map(traceOf)
  for (const [at, { others }] of line.entries()) {
    if (others.length > 0) continue
    const trace = traces[at] as number
    const earlier = places.get(trace) ?? []
    if (earlier.length > 0) copies.again.add((line[at] as LineCommit).sha)
    places.set(trace, [...earlier, at])
  }
  for (const [number, { sha }] of heads.byNumber) {
    const wanted = tracesOf(sha, sides)
    if (wanted === null || wanted.size === 0) continue
    const found = [...wanted.keys()].map((trace) => places.get(trace) ?? [])
    for (const at of found.flat()) copies.partly.add((line[at] as LineCommit).sha)
    if (found.some((each) => each.length === 0)) continue
    // A pull request lands once. Later copies of it, such as those of a release branch that was merged, land nothing.
    for (const end of [...new Set(found.flat())].sort((a, b) => a - b)) {
      const block = line.slice(Math.max(0, end - wanted.size + 1), end + 1)
      const landing = line[end] as LineCommit
      const isWhole =
        block.length === wanted.size &&
        block.every((commit) => commit.others.length === 0 && isCopy(commit, wanted)) &&
        new Set(block.map(traceOf)).isSupersetOf(wanted)
      // One of them is the head of another pull request, which has the same commits. Git does not tell which of the two landed.
      const isShared = block.some((each) => heads.numbersOf.get(each.sha)?.includes(number) === false)
      if (!isWhole || isShared) continue
      const rebase = { number, landing: landing.sha, commits: block.map((each) => each.sha) }
      for (const each of rebase.commits) copies.of.set(each, [...(copies.of.get(each) ?? []), rebase])
      break
    }
  }
  return copies
}

function isCopy(commit: LineCommit, wanted: Map<number, number>): boolean {
  const originalAt = wanted.get(traceOf(commit))
  return originalAt !== undefined && originalAt <= commit.committedAt + maxClockDifferenceMs
}

/** The commits that only pull requests have. */
async function readSides(clone: Clone, heads: Heads, tip: string): Promise<Map<string, Side>> {
  const sides = new Map<string, Side>()
  const open = [...heads.numbersOf.keys()].filter((sha) => !heads.landed.has(sha))
  const format = '--format=%H%x00%P%x00%an%x00%at%x00%ct%x00%s'
  const input = [`^${tip}\n`, ...open.map((sha) => `${sha}\n`)]
  let values: string[] = []
  for await (const value of gitFields(clone, ['log', '-z', '--encoding=UTF-8', format, '--stdin'], '\0', input)) {
    if (values.push(value) < 6) continue
    const [sha = '', parents = '', name = '', seconds, committed, title = ''] = values
    values = []
    sides.set(sha, {
      trace: trace(name, Number(seconds), title),
      committedAt: Number(committed) * 1_000,
      parents: parents.split(' ').filter(Boolean),
    })
  }
  return sides
}

/** The traces of a pull request's own commits, with their dates. Null if there are too many. */
function tracesOf(head: string, sides: Map<string, Side>): Map<number, number> | null {
  const traces = new Map<number, number>()
  const seen = new Set([head])
  for (const sha of seen) {
    const side = sides.get(sha)
    if (side === undefined) continue
    if (side.parents.length < 2) traces.set(side.trace, side.committedAt)
    for (const parent of side.parents) seen.add(parent)
    if (seen.size > maxPullCommits) return null
  }
  return traces
}

function traceOf({ author, authoredAt, title }: LineCommit): number {
  return trace(author.name, authoredAt / 1_000, title)
}

/** What a rebase preserves of a commit, as a number: a repository can have a million of them. */
function trace(name: string, seconds: number, title: string): number {
  const text = `${name}\0${seconds}\0${title.replaceAll(/\s+/g, ' ').trim()}`
  return Number.parseInt(hash('sha1', text, 'hex').slice(0, 13), 16)
}
