import type { Instant } from '../time.ts'
import type { Repository } from './repository.ts'

export const deliveryStates = ['pending', 'done', 'ignored', 'failed'] as const

export type DeliveryState = (typeof deliveryStates)[number]

/** Something that a forge sent us, kept until long after it was worked on. */
export interface Delivery {
  id: number
  organisationId: number
  repositoryId: number
  /** The forge's own id of it. */
  deliveryId: string | null
  event: string
  state: DeliveryState
  attempts: number
  /** Why it failed, or is tried again. */
  error: string | null
  receivedAt: Instant
  nextAttemptAt: Instant
  finishedAt: Instant | null
}

export interface NewDelivery {
  deliveryId: string | null
  event: string
  body: string
  receivedAt: Instant
}

export interface DeliveryStore {
  /** One that failed is tried again when the forge sends it again; any other is known already. */
  receive(repository: Repository, delivery: NewDelivery): Promise<void>
  /** Those to work on now, in the order in which they came. */
  pending(repository: Repository, now: Instant, limit: number): Promise<(Delivery & { body: string })[]>
  /** When the next one is to be tried again. */
  nextAttempt(repository: Repository): Promise<Instant | null>
  /** Of all organisations. */
  countPending(): Promise<number>
  /** Newest first. */
  list(repository: Repository, limit: number): Promise<Delivery[]>
  find(id: number): Promise<Delivery | null>
  /** Has it worked on once more. */
  redeliver(delivery: Delivery, now: Instant): Promise<Delivery>
  /** Forgets those that are done with, except the newest of each repository. */
  deleteBefore(receivedAt: Instant): Promise<number>
}

/** How a delivery came out. */
export interface DeliveryOutcome {
  id: number
  state: DeliveryState
  error: string | null
  nextAttemptAt: Instant
  finishedAt: Instant | null
}

const second = 1_000
const pauses = [2, 10, 60, 300, 1_800, 7_200, 28_800].map((pause) => pause * second)
// With the longest pause between them, for a week.
const mostAttempts = 27

/** The outcome of an attempt that went wrong: once more after a pause that grows, until it has failed for good. */
export function failedAttempt(delivery: Delivery, error: string, now: Instant, most = mostAttempts): DeliveryOutcome {
  const last = delivery.attempts + 1 >= most
  const pause = pauses[delivery.attempts] ?? (pauses.at(-1) as number)
  return {
    id: delivery.id,
    state: last ? 'failed' : 'pending',
    error,
    nextAttemptAt: now + pause,
    finishedAt: last ? now : null,
  }
}
