import {
  commitTrace,
  type Pull,
  type PullEvent,
  type PullFile,
  type PullHead,
  stateOf,
  withEvent,
} from '../domain/pull.ts'
import { forgeOf } from '../forges/index.ts'
import { fetchCommit } from '../git/mirror.ts'
import { readPullHead } from '../git/pull-head.ts'
import { pullReportsOf } from './arrivals.ts'
import { type Paths, person } from './edits.ts'
import { findLanding } from './landing.ts'
import type { Work } from './work.ts'

/** The pull requests that a sync has to do with. */
export interface Pulls {
  /** Those that deliveries told of, and all that are not settled. */
  all: Map<number, Pull>
  /** Those of which something new is known. */
  touched: Set<number>
}

// For as long a forge may take to show in git what it has told us.
const patience = 120_000

/** Takes in what deliveries tell about pull requests, and looks in git for what they change and where they landed. */
export async function learnPulls(work: Work): Promise<Pulls> {
  const { repository } = work.lease
  const { facts } = work.follow.store
  const numbers = new Set(work.arrivals.flatMap((arrival) => pullReportsOf(arrival).map(({ number }) => number)))
  const known = [...(await facts.unsettledPulls(repository)), ...(await facts.pulls(repository, [...numbers]))]
  const all = new Map(known.map((pull) => [pull.number, pull]))
  for (const { report, ...arrival } of work.arrivals) {
    for (const event of pullReportsOf({ report, ...arrival })) {
      const intoDefault = event.event.base === (report?.defaultBranch ?? work.branch)
      all.set(event.number, withEvent(all.get(event.number), event, intoDefault))
    }
  }
  const touched = new Set<number>()
  for (const [number, pull] of all) {
    const learned = numbers.has(number)
    try {
      const { pull: read, problem } = learned ? await withHeads(work, pull) : { pull, problem: null }
      const landed = await withLanding(work, read)
      if (learned || landed.landing !== pull.landing) touched.add(number)
      all.set(number, landed)
      complain(
        work,
        number,
        problem ?? (isMissing(landed) ? `the merge of pull request ${number} is not in git` : null),
      )
    } catch (error) {
      complain(work, number, (error as Error).message)
      // Whatever is wrong with it is no reason to hold up the others; it is tried again with its deliveries.
      all.delete(number)
    }
  }
  return { all, touched }
}

/** Reads each newest commit that the pull request is known to have had. */
async function withHeads(work: Work, pull: Pull): Promise<{ pull: Pull; problem: string | null }> {
  const heads = [...pull.heads]
  let problem: string | null = null
  for (const event of pull.events) {
    if (!event.intoDefault || heads.some(({ sha }) => sha.startsWith(event.head))) continue
    const refs = [forgeOf(work.lease.repository.forge).pullRef(pull.number), branchRef(event)]
    const sha = await fetchCommit(work.mirror, event.head, refs)
    if (sha !== null) heads.push(await readHead(work, sha, event))
    else if (event === pull.events.at(-1)) problem = `commit ${event.head} of pull request ${pull.number} is not in git`
  }
  return { pull: { ...pull, heads: newestTraces(pull.events, heads) }, problem }
}

// Only what the last heads looked like can tell where a rebase landed; a pull request can have had hundreds.
const headsWithTraces = 2

function newestTraces(events: PullEvent[], heads: PullHead[]): PullHead[] {
  const newest = new Set(events.map(({ head }) => head).toReversed())
  const kept = [...newest]
    .flatMap((head) => heads.find(({ sha }) => sha.startsWith(head)) ?? [])
    .slice(0, headsWithTraces)
  return heads.map((head) => (kept.includes(head) ? head : { ...head, traces: [] }))
}

// A fork's branch is not ours to fetch: only the forge's own name for the pull request leads there.
function branchRef({ headBranch }: PullEvent): string | null {
  return headBranch.includes(':') ? null : `refs/heads/${headBranch}`
}

async function readHead(work: Work, sha: string, { commitCount }: PullEvent): Promise<PullHead> {
  const { files, commits } = await readPullHead(
    work.mirror.path,
    { head: sha, tip: work.tip, commitCount },
    work.options,
  )
  return {
    sha,
    files: files.map((file): PullFile => ({ ...file, author: person(file.author), promptId: null })),
    traces: commits.map(commitTrace),
  }
}

async function withLanding(work: Work, pull: Pull): Promise<Pull> {
  const found = await findLanding(work.mirror.path, work.tip, pull, work.options)
  return found === null ? pull : { ...pull, ...found }
}

function isMissing(pull: Pull): boolean {
  return stateOf(pull) === 'merged' && pull.landing === null && pull.events.some(({ intoDefault }) => intoDefault)
}

/** Has the deliveries that told of the pull request tried again; not for ever, since what git does not have it may never have. */
function complain(work: Work, number: number, problem: string | null): void {
  if (problem === null) return
  for (const arrival of work.arrivals) {
    const fresh = work.now - arrival.delivery.receivedAt < patience
    if (fresh && pullReportsOf(arrival).some((report) => report.number === number)) arrival.problem = problem
  }
}

/** Says which prompts the files of a pull request are, as far as they have landed by now. */
export async function withPrompts(work: Work, pull: Pull, paths: Paths): Promise<Pull> {
  const unknown = pull.heads.flatMap(({ files }) => files).filter(({ promptId }) => promptId === null)
  if (unknown.length === 0) return pull
  const gone = unknown.map(startingPath).filter((path) => paths.promptAt(path) === undefined)
  const former = await work.follow.store.facts.formerPaths(work.lease.repository, gone)
  const promptOf = (file: PullFile) => {
    const path = startingPath(file)
    return file.promptId ?? paths.promptAt(path) ?? former.get(path) ?? null
  }
  if (unknown.every((file) => promptOf(file) === null)) return pull
  const heads = pull.heads.map((head) => ({
    ...head,
    files: head.files.map((file) => ({ ...file, promptId: promptOf(file) })),
  }))
  return { ...pull, heads }
}

/** The path that the file had where the pull request started. */
function startingPath({ oldPath, path }: PullFile): string {
  return oldPath ?? path
}
