import { DomainError } from '../errors.ts'
import type { Instant } from '../time.ts'
import type { Repository } from './repository.ts'

export const deliveryStates = ['pending', 'done', 'ignored', 'failed'] as const

export type DeliveryState = (typeof deliveryStates)[number]

/** A webhook request from a forge. Processed deliveries are kept for a while, for inspection and redelivery. */
export interface Delivery {
  id: number
  organisationId: number
  repositoryId: number
  /** The forge's own ID for the delivery. */
  deliveryId: string | null
  event: string
  state: DeliveryState
  attempts: number
  /** Why the last attempt failed, or a note about how the delivery was processed. */
  error: string | null
  receivedAt: Instant
  nextAttemptAt: Instant
  finishedAt: Instant | null
}

export interface NewDelivery extends Pick<Delivery, 'deliveryId' | 'event' | 'receivedAt'> {
  body: string
}

export interface DeliveryStore {
  /** A repeated delivery is ignored, unless it has failed for good: then it is retried. */
  receive(repository: Repository, delivery: NewDelivery): Promise<void>
  /** Deliveries to process now, in order of arrival. */
  pending(repository: Repository, now: Instant, limit: number): Promise<(Delivery & { body: string })[]>
  /** When the next pending delivery is due. */
  nextAttempt(repository: Repository): Promise<Instant | null>
  /** Across all organisations. */
  countPending(): Promise<number>
  /** The pending deliveries of the organisation, and the bytes of their bodies. */
  pendingSize(organisationId: number): Promise<{ count: number; bytes: number }>
  /** Newest first. */
  list(repository: Repository, limit: number): Promise<Delivery[]>
  find(id: number): Promise<Delivery | null>
  /** Queues the delivery for processing again. */
  redeliver(delivery: Delivery, now: Instant): Promise<Delivery>
  /** Deletes finished deliveries, except the newest of each repository, and reported pushes. Returns how many deliveries. */
  deleteBefore(receivedAt: Instant): Promise<number>
}

const megabyte = 1024 * 1024

/**
 * A delivery is rejected because too many are waiting. An internal error, because only a response of 500 or above makes a forge
 * send the delivery again, where it does at all.
 */
export class InboxFullError extends DomainError {
  constructor(limitBytes: number) {
    const limit = `${Math.floor(limitBytes / megabyte)} MB`
    super(
      'internal_error',
      `The inbox of this organisation is full: ${limit} of deliveries wait to be processed. Retry later.`,
    )
  }
}

/** The result of processing a delivery. */
export type DeliveryOutcome = Pick<Delivery, 'id' | 'state' | 'error' | 'nextAttemptAt' | 'finishedAt'>

const second = 1_000
const retryDelaysMs = [2, 10, 60, 300, 1_800, 7_200, 28_800].map((seconds) => seconds * second)
// About a week, most of it at the longest delay.
const defaultMaxAttempts = 27

/** The outcome of a failed attempt: retry after a growing delay, or give up after `maxAttempts`. */
export function failedAttempt(
  delivery: Delivery,
  error: string,
  now: Instant,
  maxAttempts = defaultMaxAttempts,
): DeliveryOutcome {
  const last = delivery.attempts + 1 >= maxAttempts
  const delayMs = retryDelaysMs[delivery.attempts] ?? (retryDelaysMs.at(-1) as number)
  return {
    id: delivery.id,
    state: last ? 'failed' : 'pending',
    error,
    nextAttemptAt: now + delayMs,
    finishedAt: last ? now : null,
  }
}

export type Headers = Record<string, string | string[] | undefined>

/** A webhook request as received. The body stays in bytes because the signature covers exactly these. */
export interface WebhookRequest {
  headers: Headers
  body: Buffer
}

export function invalidSignature(): DomainError {
  const message = 'The signature is missing or wrong. Check that the webhook uses the secret of this repository.'
  return new DomainError('unauthorized', message)
}
