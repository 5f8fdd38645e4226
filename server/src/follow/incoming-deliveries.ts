import { reportedDeployment } from '../domain/deployments/deployment.ts'
import { isProduction } from '../domain/deployments/production.ts'
import type { Findings } from '../domain/history/facts.ts'
import type { PullReport } from '../domain/history/pull.ts'
import type { Push } from '../domain/history/push.ts'
import type { DeploymentReport, Report } from '../domain/history/report.ts'
import { type Delivery, type DeliveryOutcome, failedAttempt } from '../domain/repositories/delivery.ts'
import { foreignReason } from '../domain/repositories/reported-repository.ts'
import type { Repository } from '../domain/repositories/repository.ts'
import type { Instant } from '../domain/time.ts'
import { forgeOf } from '../forges/index.ts'

/** A pending delivery with its parsed body. */
export type IncomingDelivery = { delivery: Delivery } & (
  | { report: Report; unusable: null }
  | { report: null; unusable: Pick<DeliveryOutcome, 'state' | 'error'> }
)

interface ParsedDeliveries {
  deliveries: IncomingDelivery[]
  /** How the forge identifies the repository, if they tell for the first time or tell another one. */
  forgeId: string | null
}

/** Why the deliveries about a pull request, or all of a sync, need another attempt. */
export interface Retry {
  reason: string
  /** Git lacks a commit, which may never arrive: give up sooner than on an unreachable server. */
  isMissingCommit: boolean
}

export function parseDeliveries(repository: Repository, pending: (Delivery & { body: string })[]): ParsedDeliveries {
  let { forgeId } = repository
  const deliveries = pending.map(({ body, ...delivery }): IncomingDelivery => {
    try {
      const report = forgeOf(repository.forge).readBody(delivery.event, body, delivery.receivedAt)
      const reason = foreignReason({ ...repository, forgeId }, report.repository)
      if (reason !== null) return { delivery, report: null, unusable: { state: 'ignored', error: reason } }
      forgeId = report.repository.id ?? forgeId
      return { delivery, report, unusable: null }
    } catch (error) {
      return { delivery, report: null, unusable: { state: 'failed', error: (error as Error).message } }
    }
  })
  return { deliveries, forgeId: forgeId === repository.forgeId ? null : forgeId }
}

/** The first deliveries, about at most `maxPulls` pull requests. Their documents are in memory together. */
export function takeDeliveries(deliveries: IncomingDelivery[], maxPulls: number): IncomingDelivery[] {
  const numbers = new Set<number>()
  const end = deliveries.findIndex((delivery) => {
    for (const { number } of pullReportsOf(delivery)) numbers.add(number)
    return numbers.size > maxPulls
  })
  // The first one is always taken, so that the queue moves on.
  return end === -1 ? deliveries : deliveries.slice(0, Math.max(end, 1))
}

const maxAttemptsForMissingCommit = 5

/** `note` is shown with a delivery that was processed. */
export function outcomeOf(
  incoming: IncomingDelivery,
  retry: Retry | null,
  now: Instant,
  note: string | null = null,
): DeliveryOutcome {
  const { delivery, report, unusable } = incoming
  const finished = { id: delivery.id, nextAttemptAt: now, finishedAt: now }
  // Another attempt would end the same way.
  if (report === null) return { ...finished, ...unusable }
  if (retry !== null) {
    return failedAttempt(delivery, retry.reason, now, retry.isMissingCommit ? maxAttemptsForMissingCommit : undefined)
  }
  return { ...finished, state: report.events.length === 0 ? 'ignored' : 'done', error: joined([report.note, note]) }
}

function joined(notes: (string | null)[]): string | null {
  return notes.filter((note) => note !== null).join('; ') || null
}

/** Whether the delivery needs a sync with git. Most pushes go to other branches, and most deployments are previews. */
export function affectsHistory({ report }: IncomingDelivery, repository: Repository): boolean {
  const { defaultBranch } = repository
  if (report === null) return false
  if (defaultBranch === null || (report.defaultBranch !== null && report.defaultBranch !== defaultBranch)) return true
  return report.events.some((event) => {
    if (event.type === 'deployment') return decidesWhatIsLive(event, repository)
    if (event.type === 'label') return false
    return event.type === 'pull' || event.branch === defaultBranch
  })
}

function decidesWhatIsLive({ deployment }: DeploymentReport, { productionEnvironments }: Repository): boolean {
  const { state } = deployment
  return (state === 'success' || state === 'inactive') && isProduction(productionEnvironments, deployment)
}

/** The reported deployments, in order. */
export function deploymentsOf(
  { forge }: Repository,
  deliveries: IncomingDelivery[],
): NonNullable<Findings['deployments']> {
  return deliveries.flatMap(({ delivery: { receivedAt }, report }) =>
    (report?.events ?? []).flatMap((event) =>
      event.type === 'deployment'
        ? [{ deployment: reportedDeployment(forge, event.deployment, receivedAt), receivedAt }]
        : [],
    ),
  )
}

/** The reported labels of pull requests, in order. */
export function labelsOf(deliveries: IncomingDelivery[]): NonNullable<Findings['labels']> {
  return deliveries.flatMap(({ report }) =>
    (report?.events ?? []).flatMap((event) => (event.type === 'label' ? [event.label] : [])),
  )
}

/** The reported pushes to the default branch. `branch` is its name, which some forges do not send. */
export function pushesTo(branch: string, deliveries: IncomingDelivery[]): Push[] {
  return deliveries.flatMap(({ delivery, report }) =>
    (report?.events ?? []).flatMap((event) => {
      if (event.type !== 'push' || event.after === null) return []
      if (event.branch !== (report?.defaultBranch ?? branch)) return []
      const { before, after, pusher } = event
      return [{ before, after, pusher, receivedAt: delivery.receivedAt }]
    }),
  )
}

export function pullReportsOf({ report }: IncomingDelivery): PullReport[] {
  return (report?.events ?? []).filter((event) => event.type === 'pull')
}
