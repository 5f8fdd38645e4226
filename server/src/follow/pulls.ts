import {
  hasGuessedBase,
  isLandingUnknown,
  type Pull,
  stateOf,
  withEvent,
  withoutOldGuesses,
} from '../domain/history/pull.ts'
import { isDamagedMirror, type Mirror, mirrorCreatedAt } from '../git/mirror.ts'
import { pullReportsOf, pushesTo, type Retry } from './incoming-deliveries.ts'
import { findLanding } from './landing.ts'
import { withReportedHeads } from './pull-heads.ts'
import type { SyncRun } from './sync-run.ts'

export interface PullFindings {
  /** The pull requests with new information, by number. */
  readonly pulls: ReadonlyMap<number, Pull>
  /** Those that have to be stored. The others only share commits with them. */
  readonly changed: ReadonlySet<number>
  /** Why the deliveries about a pull request need another attempt, by its number. */
  readonly retries: ReadonlyMap<number, Retry>
  readonly unsettled: UnsettledPulls
  /** Whether unsettled pull requests are left for the next sync. */
  readonly more: boolean
}

/** What a sync needs of unsettled pull requests, whose documents do not fit into memory together. */
export interface UnsettledPulls {
  /** The numbers of all of them, and of the open ones. */
  known: Set<number>
  open: Set<number>
  /** The prompts that any open one changes. */
  promptIds: Set<number>
}

const minMirrorAgeMs = 86_400_000

/** The number of pull requests whose documents are in memory at the same time. */
export const maxPullsPerSync = 20

/** Combines the reports of pull requests with git: what they change, and where they landed. */
export async function readPulls(run: SyncRun, paths: ReadonlyMap<string, number>): Promise<PullFindings> {
  const pulls = new Map<number, Pull>()
  const changed = new Set<number>()
  const retries = new Map<number, Retry>()
  const unsettled: UnsettledPulls = { known: new Set(), open: new Set(), promptIds: new Set() }
  const reported = await reportedPulls(run)
  for (const [number, before] of reported) {
    const { pull, retry } = await inspect(run, before, paths)
    if (retry !== null) retries.set(number, retry)
    if (pull === null) continue
    pulls.set(number, pull)
    changed.add(number)
    note(pull, unsettled)
  }
  let more = false
  const hasPushes = pushesTo(run.branch, run.deliveries).length > 0
  for await (const batch of run.context.store.facts.unsettledPulls(run.lease.repository)) {
    for (const before of batch) {
      if (reported.has(before.number)) continue
      const waiting = withoutOldGuesses(before, run.now)
      // The push that a guess waits for may be among these.
      const { pull } = await inspect(run, waiting, hasPushes && hasGuessedBase(waiting) ? paths : null)
      if (pull !== null) note(pull, unsettled)
      if (pull === null || (pull.landing === before.landing && pull.heads === before.heads)) continue
      if (pulls.size >= maxPullsPerSync) {
        more = true
        continue
      }
      pulls.set(pull.number, pull)
      changed.add(pull.number)
    }
  }
  return { ...(await settleClaims(run, pulls, changed)), retries, unsettled, more }
}

function note(pull: Pull, { known, open, promptIds }: UnsettledPulls): void {
  known.add(pull.number)
  if (stateOf(pull) !== 'open') return
  open.add(pull.number)
  for (const { files } of pull.heads) {
    for (const { promptId } of files) if (promptId !== null) promptIds.add(promptId)
  }
}

/** The pull requests that deliveries report, with the reported events. */
async function reportedPulls({ context, lease, branch, deliveries }: SyncRun): Promise<Map<number, Pull>> {
  const numbers = new Set(deliveries.flatMap(pullReportsOf).map(({ number }) => number))
  const known = await context.store.facts.pulls(lease.repository, [...numbers])
  const pulls = new Map(known.map((pull) => [pull.number, pull]))
  for (const delivery of deliveries) {
    for (const report of pullReportsOf(delivery)) {
      const intoDefault = report.event.base === (delivery.report?.defaultBranch ?? branch)
      pulls.set(report.number, withEvent(pulls.get(report.number), report, intoDefault))
    }
  }
  return pulls
}

interface Inspection {
  /** Null if reading failed. */
  pull: Pull | null
  retry: Retry | null
}

/** Reads the reported heads if `paths` is given, and finds where the pull request landed. */
async function inspect(run: SyncRun, pull: Pull, paths: ReadonlyMap<string, number> | null): Promise<Inspection> {
  try {
    const read = paths === null ? { pull, missingHead: null } : await withReportedHeads(run, pull, paths)
    const landing = await findLanding(run.mirror.path, run.tip, read.pull, run.options)
    const landed = landing === null ? read.pull : { ...read.pull, ...landing }
    return { pull: landed, retry: retryFor(landed, read.missingHead) }
  } catch (error) {
    if (isDamagedMirror(error) && (await isOld(run.mirror))) throw error
    // One broken pull request must not block the others. Its deliveries retry it.
    return { pull: null, retry: { reason: (error as Error).message, isMissingCommit: false } }
  }
}

/** A new mirror is what the server sent. To create it again would not help, and cost as much with every delivery. */
async function isOld({ path }: Mirror): Promise<boolean> {
  return Date.now() - (await mirrorCreatedAt(path)) > minMirrorAgeMs
}

function retryFor(pull: Pull, missingHead: string | null): Retry | null {
  if (isLandingUnknown(pull)) {
    return { reason: `the merge of pull request ${pull.number} is not in git`, isMissingCommit: true }
  }
  if (missingHead === null) return null
  return { reason: `commit ${missingHead} of pull request ${pull.number} is not in git`, isMissingCommit: true }
}

/**
 * If one pull request was built on another and both were rebased, the commits of the first look like commits of the
 * second. The commit that a pull request landed as belongs to it, and so do the commits before it.
 */
async function settleClaims(
  { context, lease }: SyncRun,
  found: ReadonlyMap<number, Pull>,
  changedBefore: ReadonlySet<number>,
): Promise<Pick<PullFindings, 'pulls' | 'changed'>> {
  const { facts } = context.store
  const claimed = [...changedBefore].flatMap((number) => found.get(number)?.landed ?? [])
  const owners = (await facts.edits(lease.repository, { commits: claimed })).flatMap(({ pull }) => pull ?? [])
  const rivals = await facts.pulls(
    lease.repository,
    owners.filter((number) => !found.has(number)),
  )
  const all = [...found.values(), ...rivals]
  const ownerOf = new Map(all.map(({ landing, number }) => [landing, number]))
  const pulls = new Map<number, Pull>()
  const changed = new Set(changedBefore)
  for (const pull of all) {
    const { number, landed } = pull
    const end = landed.findIndex((sha) => (ownerOf.get(sha) ?? number) !== number)
    pulls.set(number, end === -1 ? pull : { ...pull, landed: landed.slice(0, end) })
    if (end !== -1) changed.add(number)
  }
  return { pulls, changed }
}
