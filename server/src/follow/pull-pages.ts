import type { Repository } from '../domain/repositories/repository.ts'
import type { Instant } from '../domain/time.ts'
import { forgeOf } from '../forges/index.ts'
import { isCherryPick } from '../forges/merge-reference.ts'
import { pageReferenceIn } from '../forges/page-reference.ts'
import { type MergeText, streamMessages } from '../git/log.ts'
import { placeOf } from '../git/merge-message.ts'
import type { PullRefs } from '../git/pull-refs.ts'
import { streamMentions } from './merge-references.ts'
import type { ClaimSearch } from './pull-ancestry.ts'

/** A pull request of this repository whose page the message names. */
interface PullPage {
  number: number
  isTrailer: boolean
}

type PageReader = (commit: MergeText) => PullPage | null

/** A fork keeps the messages of the original, with the original's URL. */
export function pageReader({ forge }: Repository, places: ReadonlySet<string>): PageReader {
  const own = new Set([...places].map(withoutSshHost))
  const { namesPagesInMessages } = forgeOf(forge)
  return ({ parents, message }) => {
    const page = pageReferenceIn(message)
    if (page === null || !own.has(placeOf(page.repositoryUrl))) return null
    if (!page.isTrailer && !namesPagesInMessages) return null
    if (isCherryPick({ parents: parents.length, subject: '', message })) return null
    return { number: page.number, isTrailer: page.isTrailer }
  }
}

/** Some instances have a host of their own for ssh, such as ssh.gitlab.gnome.org. */
function withoutSshHost(place: string): string {
  return place.replace(/^(?:alt)?ssh\./, '')
}

/** Consecutive commits of the default branch that name the same page, newest first. */
interface Row extends PullPage {
  commits: string[]
  /** The commit before the oldest of them. */
  parent: string | undefined
  committedAt: Instant
}

interface PageRows {
  /** Adds the next older commit of the default branch. `page` is null if it names none, or if another proof counts. */
  add(commit: MergeText, page: PullPage | null): void
  rows(): Row[]
}

export function collectPageRows(): PageRows {
  const rows: Row[] = []
  let last: Row | null = null
  return {
    add({ sha, parents, committedAt }, page) {
      const [parent, ...merged] = parents
      if (page === null) last = null
      else if (last !== null && last.number === page.number && merged.length === 0) {
        last.commits.push(sha)
        last.parent = parent
      } else {
        last = { ...page, commits: [sha], parent, committedAt }
        rows.push(last)
      }
    },
    rows: () => rows,
  }
}

// A merge request lands at once, but commits without its URL may be between those that have it.
const maxLandingMs = 24 * 3_600_000

type PageSearch = Pick<ClaimSearch, 'run' | 'from' | 'refs' | 'claims'> & { readPage: PageReader }

/**
 * Claims the commits whose message names the page of a pull request here. A number that was typed wrong is corrected where the
 * newest of the commits is the head of another pull request. Of several landings of one number, that with the head counts, then
 * one that a tool wrote, then the first.
 */
export async function claimPages(search: PageSearch, found: Row[]): Promise<void> {
  const { refs, claims } = search
  const rows = await withEarlierCommits(search, found)
  const earlier = await numbersBefore(search, rows)
  for (const [number, ofNumber] of Map.groupBy(rows, (row) => numberOf(row, refs))) {
    if (claims.claimFor(number) !== undefined || earlier.has(number)) continue
    const head = refs.headOf(number) ?? ''
    const rank = (row: Row) => (row.commits.includes(head) ? 2 : Number(row.isTrailer))
    // They are newest first, and sorting keeps the order of equals.
    const [best] = ofNumber.toReversed().toSorted((a, b) => rank(b) - rank(a))
    if (best === undefined) continue
    const isSameLanding = (row: Row) => Math.abs(row.committedAt - best.committedAt) <= maxLandingMs
    const landed = ofNumber.filter(isSameLanding).flatMap(({ commits }) => commits)
    const [landing] = landed
    if (landing !== undefined) claims.add({ number, proof: 'message', landing, landed })
  }
}

function numberOf({ number, commits: [newest = ''] }: Row, refs: PullRefs): number {
  const heads = refs.numbersOf(newest)
  const [only] = heads
  return only === undefined || heads.length > 1 || heads.includes(number) ? number : only
}

/** The oldest row may have begun before what this sync reads, as after an interrupted backfill. */
async function withEarlierCommits({ run, from, readPage }: PageSearch, rows: Row[]): Promise<Row[]> {
  const oldest = rows.at(-1)
  if (from === null || oldest?.parent !== from) return rows
  const commits = [...oldest.commits]
  for await (const commit of streamMessages(run.mirror.path, ['--first-parent', from])) {
    if (commit.parents.length > 1 || readPage(commit)?.number !== oldest.number) break
    commits.push(commit.sha)
  }
  return [...rows.slice(0, -1), { ...oldest, commits }]
}

/** Of the numbers that people wrote, those that older commits name too: a later commit only mentions them. */
async function numbersBefore({ run, from, readPage }: PageSearch, rows: Row[]): Promise<Set<number>> {
  const written = [...new Set(rows.filter(({ isTrailer }) => !isTrailer).map(({ number }) => number))]
  const found = new Set<number>()
  if (from === null || written.length === 0) return found
  const included = new Set(rows.flatMap(({ commits }) => commits))
  for await (const commit of streamMentions(run.mirror.path, from, written)) {
    const page = included.has(commit.sha) ? null : readPage(commit)
    if (page !== null) found.add(page.number)
  }
  return found
}
