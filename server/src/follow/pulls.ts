import { isLandingUnknown, type Pull, withEvent } from '../domain/history/pull.ts'
import { pullReportsOf, type Retry } from './incoming-deliveries.ts'
import { findLanding } from './landing.ts'
import { withReportedHeads } from './pull-heads.ts'
import type { SyncRun } from './sync-run.ts'

export interface PullFindings {
  /** The reported and the unsettled pull requests, by number. */
  readonly pulls: ReadonlyMap<number, Pull>
  /** The numbers of those with new information. */
  readonly changed: ReadonlySet<number>
  /** Why the deliveries about a pull request need another attempt, by its number. */
  readonly retries: ReadonlyMap<number, Retry>
}

/** Combines the reports of pull requests with git: what they change, and where they landed. */
export async function readPulls(run: SyncRun): Promise<PullFindings> {
  const reported = new Set(run.deliveries.flatMap(pullReportsOf).map(({ number }) => number))
  const inspections: [number, Inspection][] = []
  for (const [number, pull] of await reportedAndUnsettled(run, [...reported])) {
    inspections.push([number, await inspect(run, pull, reported.has(number))])
  }
  const pulls = new Map<number, Pull>()
  const changed = new Set<number>()
  const retries = new Map<number, Retry>()
  for (const [number, inspection] of inspections) {
    if (inspection.pull !== null) pulls.set(number, inspection.pull)
    if (inspection.isChanged) changed.add(number)
    if (inspection.retry !== null) retries.set(number, inspection.retry)
  }
  return { ...(await settleClaims(run, pulls, changed)), retries }
}

async function reportedAndUnsettled({ context, lease, branch, deliveries }: SyncRun, reported: number[]) {
  const { facts } = context.store
  const known = [...(await facts.unsettledPulls(lease.repository)), ...(await facts.pulls(lease.repository, reported))]
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
  isChanged: boolean
  retry: Retry | null
}

async function inspect(run: SyncRun, pull: Pull, isReported: boolean): Promise<Inspection> {
  try {
    const read = isReported ? await withReportedHeads(run, pull) : { pull, missingHead: null }
    const landing = await findLanding(run.mirror.path, run.tip, read.pull, run.options)
    const landed = landing === null ? read.pull : { ...read.pull, ...landing }
    return {
      pull: landed,
      isChanged: isReported || landed.landing !== pull.landing,
      retry: retryFor(landed, read.missingHead),
    }
  } catch (error) {
    // One broken pull request must not block the others. Its deliveries retry it.
    return { pull: null, isChanged: false, retry: { reason: (error as Error).message, isMissingCommit: false } }
  }
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
