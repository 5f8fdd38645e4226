import type { Prompt } from '../prompt.ts'
import { randomBase62 } from '../random.ts'
import type { StoredSignal } from '../signals/signal.ts'
import type { Instant } from '../time.ts'
import type { Alert } from './alert.ts'

/** How a signal changed. The names are part of the API. */
export const signalChanges = ['recorded', 'replaced', 'withdrawn', 'erased'] as const

export type SignalChangeKind = (typeof signalChanges)[number]

/** A signal that changed since it was last sent. */
export interface SignalEvent {
  /** Starts with `evt_`. Receivers recognise a repeated event by it. */
  id: string
  /** The last change. */
  kind: SignalChangeKind
  at: Instant
  signalId: number
  prompt: Pick<Prompt, 'publicId' | 'name' | 'path'>
  /** The signal as it is now. Null if it was withdrawn or erased, or if retention has removed it. */
  signal: StoredSignal | null
}

/** A webhook that this process may send signals to until its lease ends. */
export interface ClaimedWebhook extends Alert {
  /** How many requests in a row have failed. */
  attempts: number
  leaseOwner: string
}

/** The signals that wait for the webhook of their organisation. The store of signals adds them. */
export interface SignalEventStore {
  /** The active webhooks that get signals. */
  webhooks(): Promise<Alert[]>
  /** Those that may be sent to now. The organisations after the given one come first. */
  due(now: Instant, afterOrganisation: number, limit: number): Promise<Alert[]>
  /** How many active webhooks did not take their last request. */
  countFailing(): Promise<number>
  /** How many signals wait, counted up to `most`. */
  countWaiting(organisationId: number, most: number): Promise<number>
  /** Null if another process sends to it, or the next attempt is not due. */
  claim(webhook: Alert, owner: string, now: Instant, until: Instant): Promise<ClaimedWebhook | null>
  /** The next events in the order of signal IDs. Each signal has at most one. */
  read(organisationId: number, afterSignal: number, limit: number): Promise<SignalEvent[]>
  /** Removes events, unless their signals have changed again, and ends the lease. */
  finish(webhook: ClaimedWebhook, removed: SignalEvent[], next: { attempts: number; dueAt: Instant }): Promise<void>
}

/** More wait only if the receiver is down, or slower than the signals come. */
export const maxWaitingSignals = 100_000

export function generateEventId(): string {
  return `evt_${randomBase62(24)}`
}
