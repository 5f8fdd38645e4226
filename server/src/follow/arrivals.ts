import type { PullReport } from '../domain/history/pull.ts'
import type { PushReport, Report } from '../domain/history/report.ts'
import { type Delivery, type DeliveryOutcome, failedAttempt } from '../domain/repositories/delivery.ts'
import type { Repository } from '../domain/repositories/repository.ts'
import type { Instant } from '../domain/time.ts'
import { forgeOf } from '../forges/index.ts'

/** A delivery that is being worked on. */
export interface Arrival {
  delivery: Delivery
  /** Null where it could not be read. */
  report: Report | null
  /** Why it has to be tried again. */
  problem: string | null
  /** What is missing may never come: it is not waited for as long as a server that is away. */
  missing: boolean
}

export function readArrivals({ forge }: Repository, deliveries: (Delivery & { body: string })[]): Arrival[] {
  return deliveries.map(({ body, ...delivery }) => {
    try {
      return { delivery, report: forgeOf(forge).read(delivery.event, body), problem: null, missing: false }
    } catch (error) {
      return { delivery, report: null, problem: (error as Error).message, missing: false }
    }
  })
}

const attemptsForMissing = 5

export function outcomeOf({ delivery, report, problem, missing }: Arrival, now: Instant): DeliveryOutcome {
  const over = { id: delivery.id, nextAttemptAt: now, finishedAt: now }
  // What cannot be read now cannot be read later either.
  if (report === null) return { ...over, state: 'failed', error: problem }
  if (problem !== null) return failedAttempt(delivery, problem, now, missing ? attemptsForMissing : undefined)
  return { ...over, state: report.events.length === 0 ? 'ignored' : 'done', error: null }
}

/** Whether the delivery may have to do with the history: most pushes are to other branches. */
export function concerns({ report }: Arrival, { defaultBranch }: Repository): boolean {
  if (report === null) return false
  if (defaultBranch === null || (report.defaultBranch !== null && report.defaultBranch !== defaultBranch)) return true
  return report.events.some((event) => event.type === 'pull' || event.branch === defaultBranch)
}

export interface Push extends PushReport {
  receivedAt: Instant
}

export function pushesTo(branch: string, arrivals: Arrival[]): Push[] {
  return arrivals.flatMap(({ delivery, report }) =>
    (report?.events ?? []).flatMap((event) =>
      event.type === 'push' && event.branch === branch ? [{ ...event, receivedAt: delivery.receivedAt }] : [],
    ),
  )
}

export function pullReportsOf({ report }: Arrival): PullReport[] {
  return (report?.events ?? []).filter((event) => event.type === 'pull')
}
