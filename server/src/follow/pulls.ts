import {
  commitTrace,
  isMissing,
  type Pull,
  type PullEvent,
  type PullFile,
  type PullHead,
  withEvent,
} from '../domain/history/pull.ts'
import { forgeOf } from '../forges/index.ts'
import { fetchCommit } from '../git/mirror.ts'
import { readPullHead } from '../git/pull-head.ts'
import { pullReportsOf, pushesTo } from './arrivals.ts'
import { type Paths, person } from './edits.ts'
import { findLanding } from './landing.ts'
import type { SyncRun } from './sync-run.ts'

/** The pull requests that a sync has to do with. */
export interface Pulls {
  /** Those that deliveries told of, and all that are not settled. */
  all: Map<number, Pull>
  /** Those of which something new is known. */
  touched: Set<number>
}

/** Takes in what deliveries tell about pull requests, and looks in git for what they change and where they landed. */
export async function learnPulls(work: SyncRun): Promise<Pulls> {
  const { repository } = work.lease
  const { facts } = work.follow.store
  const numbers = new Set(work.arrivals.flatMap((arrival) => pullReportsOf(arrival).map(({ number }) => number)))
  const known = [...(await facts.unsettledPulls(repository)), ...(await facts.pulls(repository, [...numbers]))]
  const all = new Map(known.map((pull) => [pull.number, pull]))
  for (const arrival of work.arrivals) {
    for (const report of pullReportsOf(arrival)) {
      const intoDefault = report.event.base === (arrival.report?.defaultBranch ?? work.branch)
      all.set(report.number, withEvent(all.get(report.number), report, intoDefault))
    }
  }
  const touched = new Set<number>()
  for (const [number, pull] of all) {
    try {
      const learned = numbers.has(number)
      const read = learned ? await withHeads(work, pull) : pull
      const landed = await withLanding(work, read)
      if (learned || landed.landing !== pull.landing) touched.add(number)
      all.set(number, landed)
      if (isMissing(landed)) markForRetry(work, number, `the merge of pull request ${number} is not in git`, true)
    } catch (error) {
      // Whatever is wrong with it is no reason to hold up the others; it is tried again with its deliveries.
      markForRetry(work, number, (error as Error).message, false)
      all.delete(number)
    }
  }
  const pulls = { all, touched }
  await settleClaims(work, pulls)
  return pulls
}

/** Reads the newest commits that deliveries told of. */
async function withHeads(work: SyncRun, pull: Pull): Promise<Pull> {
  const told = new Set(
    work.arrivals.flatMap(pullReportsOf).flatMap(({ number, event }) => (number === pull.number ? [event.head] : [])),
  )
  const heads = [...pull.heads]
  for (const event of pull.events) {
    if (!event.intoDefault || !told.has(event.head) || heads.some(({ sha }) => sha.startsWith(event.head))) continue
    const refs = [forgeOf(work.lease.repository.forge).pullRef(pull.number), branchRef(event)]
    const sha = await fetchCommit(work.mirror, event.head, refs)
    if (sha !== null) {
      heads.push(await readHead(work, sha, event))
    } else if (event === pull.events.at(-1)) {
      markForRetry(work, pull.number, `commit ${event.head} of pull request ${pull.number} is not in git`, true)
    }
  }
  return { ...pull, heads: newestTraces(pull.events, heads) }
}

// A fork's branch is not ours to fetch: only the forge's own name for the pull request leads there.
function branchRef({ headBranch }: PullEvent): string | null {
  return headBranch.includes(':') ? null : `refs/heads/${headBranch}`
}

// Only what the last heads looked like can tell where a rebase landed; a pull request can have had hundreds.
const headsWithTraces = 2

function newestTraces(events: PullEvent[], heads: PullHead[]): PullHead[] {
  const newest = new Set(events.map(({ head }) => head).toReversed())
  const read = [...newest].flatMap((head) => heads.find(({ sha }) => sha.startsWith(head)) ?? [])
  const kept = read.slice(0, headsWithTraces)
  return heads.map((head) => (kept.includes(head) ? head : { ...head, traces: [] }))
}

async function readHead(work: SyncRun, sha: string, { commitCount }: PullEvent): Promise<PullHead> {
  const push = pushesTo(work.branch, work.arrivals).find(({ after }) => after === sha)
  const { files, commits } = await readPullHead(
    work.mirror.path,
    { head: sha, tip: work.tip, commitCount, pushedFrom: push?.before ?? null },
    work.options,
  )
  return {
    sha,
    files: files.map((file): PullFile => ({ ...file, author: person(file.author), promptId: null })),
    traces: commits.map(commitTrace),
  }
}

async function withLanding(work: SyncRun, pull: Pull): Promise<Pull> {
  const found = await findLanding(work.mirror.path, work.tip, pull, work.options)
  return found === null ? pull : { ...pull, ...found }
}

/**
 * Where one pull request was built on another and both were rebased, the commits of the first look like commits of the
 * second. What one landed as is its own, and so is what came before that.
 */
async function settleClaims({ follow, lease }: SyncRun, { all, touched }: Pulls): Promise<void> {
  const { facts } = follow.store
  const claimed = [...touched].flatMap((number) => all.get(number)?.landed ?? [])
  const owners = (await facts.edits(lease.repository, { commits: claimed })).flatMap(({ pull }) => pull ?? [])
  const rivals = await facts.pulls(
    lease.repository,
    owners.filter((number) => !all.has(number)),
  )
  for (const rival of rivals) all.set(rival.number, rival)
  const landings = new Map([...all.values()].map(({ landing, number }) => [landing, number]))
  for (const [number, pull] of all) {
    const end = pull.landed.findIndex((sha) => (landings.get(sha) ?? number) !== number)
    if (end === -1) continue
    all.set(number, { ...pull, landed: pull.landed.slice(0, end) })
    touched.add(number)
  }
}

/** Has the deliveries that told of the pull request tried again. */
function markForRetry({ arrivals }: SyncRun, number: number, problem: string, missing: boolean): void {
  for (const arrival of arrivals) {
    if (!pullReportsOf(arrival).some((report) => report.number === number)) continue
    arrival.problem = problem
    arrival.missing = missing
  }
}

/** Says which prompts the files of pull requests are, as far as they have landed by now. Gives those of which that is news. */
export async function withPrompts(work: SyncRun, pulls: Pull[], paths: Paths): Promise<Map<number, Pull>> {
  const unknown = pulls.flatMap(filesOf).filter(({ promptId }) => promptId === null)
  const gone = new Set(unknown.map(startingPath).filter((path) => paths.promptAt(path) === undefined))
  const former = await work.follow.store.facts.formerPaths(work.lease.repository, [...gone])
  const promptOf = (file: PullFile) => {
    const path = startingPath(file)
    return file.promptId ?? paths.promptAt(path) ?? former.get(path) ?? null
  }
  const resolved = pulls.filter((pull) => filesOf(pull).some((file) => file.promptId !== promptOf(file)))
  return new Map(
    resolved.map((pull) => {
      const heads = pull.heads.map((head) => ({
        ...head,
        files: head.files.map((file) => ({ ...file, promptId: promptOf(file) })),
      }))
      return [pull.number, { ...pull, heads }]
    }),
  )
}

function filesOf({ heads }: Pull): PullFile[] {
  return heads.flatMap(({ files }) => files)
}

/** The path that the file had where the pull request started. */
function startingPath({ oldPath, path }: PullFile): string {
  return oldPath ?? path
}
