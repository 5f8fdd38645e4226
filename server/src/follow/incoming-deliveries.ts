import type { PullReport } from '../domain/history/pull.ts'
import type { PushReport, Report } from '../domain/history/report.ts'
import { type Delivery, type DeliveryOutcome, failedAttempt } from '../domain/repositories/delivery.ts'
import type { Repository } from '../domain/repositories/repository.ts'
import type { Instant } from '../domain/time.ts'
import { forgeOf } from '../forges/index.ts'

/** A pending delivery with its parsed body. */
export type IncomingDelivery = { delivery: Delivery } & (
  | { report: Report; parseError: null }
  | { report: null; parseError: string }
)

/** Why the deliveries about a pull request, or all of a sync, need another attempt. */
export interface Retry {
  reason: string
  /** Git lacks a commit, which may never arrive: give up sooner than on an unreachable server. */
  isMissingCommit: boolean
}

export function parseDeliveries(
  { forge }: Repository,
  deliveries: (Delivery & { body: string })[],
): IncomingDelivery[] {
  return deliveries.map(({ body, ...delivery }) => {
    try {
      return { delivery, report: forgeOf(forge).readBody(delivery.event, body), parseError: null }
    } catch (error) {
      return { delivery, report: null, parseError: (error as Error).message }
    }
  })
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
  const { delivery, report, parseError } = incoming
  const finished = { id: delivery.id, nextAttemptAt: now, finishedAt: now }
  // Another attempt cannot parse it either.
  if (report === null) return { ...finished, state: 'failed', error: parseError }
  if (retry !== null) {
    return failedAttempt(delivery, retry.reason, now, retry.isMissingCommit ? maxAttemptsForMissingCommit : undefined)
  }
  return { ...finished, state: report.events.length === 0 ? 'ignored' : 'done', error: note }
}

/** Whether the delivery can affect the history. Most pushes go to other branches and need no sync. */
export function affectsHistory({ report }: IncomingDelivery, { defaultBranch }: Repository): boolean {
  if (report === null) return false
  if (defaultBranch === null || (report.defaultBranch !== null && report.defaultBranch !== defaultBranch)) return true
  return report.events.some((event) => event.type === 'pull' || event.branch === defaultBranch)
}

export interface Push extends PushReport {
  receivedAt: Instant
}

export function pushesTo(branch: string, deliveries: IncomingDelivery[]): Push[] {
  return deliveries.flatMap(({ delivery, report }) =>
    (report?.events ?? []).flatMap((event) =>
      event.type === 'push' && event.branch === branch ? [{ ...event, receivedAt: delivery.receivedAt }] : [],
    ),
  )
}

export function pullReportsOf({ report }: IncomingDelivery): PullReport[] {
  return (report?.events ?? []).filter((event) => event.type === 'pull')
}
