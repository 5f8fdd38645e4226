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

const maxAttemptsForMissingCommit = 5

export function outcomeOf(incoming: IncomingDelivery, retry: Retry | null, now: Instant): DeliveryOutcome {
  const { delivery, report, parseError } = incoming
  const finished = { id: delivery.id, nextAttemptAt: now, finishedAt: now }
  // Another attempt cannot parse it either.
  if (report === null) return { ...finished, state: 'failed', error: parseError }
  if (retry !== null) {
    return failedAttempt(delivery, retry.reason, now, retry.isMissingCommit ? maxAttemptsForMissingCommit : undefined)
  }
  return { ...finished, state: report.events.length === 0 ? 'ignored' : 'done', error: null }
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
