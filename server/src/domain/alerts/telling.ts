import { matchesPromptGlob, type Prompt } from '../prompt.ts'
import type { Regression, RegressionState } from '../regressions/regression.ts'
import { type Instant, minute } from '../time.ts'
import { type AlertRules, type Channel, trackingChannels } from './alert.ts'
import { defaultHold, isCertainEnough } from './certainty.ts'
import type { AlertDeliveryState } from './delivery.ts'
import { isDigestTime } from './digest-time.ts'
import { alertEvents, type DeliveryEvent } from './event.ts'
import type { TrialMessage } from './message.ts'

/** Whom a notice may be told to: an alert, or the pull request. */
export interface Listener extends Omit<AlertRules, 'name' | 'signals'> {
  channel: Channel | 'pull'
  /** What opened before is not told: people asked for changes from then on. */
  createdAt: Instant
}

/** What a pull request hears of: everything, as soon as it is as certain as for alerts by default. */
export const pullListener: Listener = {
  channel: 'pull',
  prompts: '**',
  events: [...alertEvents],
  ...defaultHold,
  recoveryHoldMs: defaultHold.holdMs,
  repeatMs: null,
  createdAt: 0,
}

/** A delivery that was queued for a listener about the same notice. */
export interface EarlierDelivery {
  id: number
  event: DeliveryEvent
  round: number
  repeat: number
  state: AlertDeliveryState
  attempts: number
  /** The status of the last response. Null without one: then the receiver may have been told all the same. */
  status: number | null
  /** A process is sending it right now. */
  isInFlight: boolean
  /** A process took it and recorded no result: it is being sent, or the process died and may have sent it. */
  isClaimed: boolean
  createdAt: Instant
  /** What it was about, by the IDs of the regressions, and the state of each. */
  told: { id: number; state: RegressionState }[]
}

/** What to do for one listener. */
export interface Telling {
  /** A delivery that waits, and is no longer true. */
  cancel: number | null
  queue: QueuedTelling | null
  /** When to decide again. Null if nothing is left to do until something changes. */
  dueAt: Instant | null
}

export interface QueuedTelling {
  event: DeliveryEvent
  repeat: number
  /** The regressions to name. */
  ids: number[]
  /** Why it is not sent, but remembered as if it were. Null to send it. */
  unsent: string | null
}

/** What a filter is compared with. */
type PromptNames = Pick<Prompt, 'name' | 'path'>

/** A regression as far as it matters for telling. */
export type TellableRegression = Pick<
  Regression,
  'id' | 'state' | 'openedAt' | 'evidence' | 'difference' | 'interval' | 'signalsAfter' | 'liveFrom'
> & {
  prompt: PromptNames
  /** Null while it is open. */
  closedAt: Instant | null
  /** The prompt was deleted, or the change is no longer part of the history. */
  isGone: boolean
  /** Until when messages about it are not repeated, because a person takes care of it. Null if they are. */
  quietUntil: Instant | null
}

const nothing: Telling = { cancel: null, queue: null, dueAt: null }
// New figures are announced by the transaction that stores them. This is for other events, such as an alert that changed.
const checkAgainMs = 5 * minute
const inFlightMs = 5_000
// Whatever an imported alert says.
const minRepeatMs = 10 * minute
const maxShiftAgeMs = 14 * 24 * 60 * minute
// Prompts that share a cause are judged one after the other. The message waits until no other has joined for so long, so that it names
// all of them.
const settledMs = 5 * minute
const maxSettlingMs = 60 * minute

/** One of the things that a notice is about. */
interface Item {
  id: number
  state: RegressionState
  isOpen: boolean
  /** Whether it is to be told now, if it is open. */
  isReady: boolean
  /** When it can be ready, if it is not. */
  readyAt: Instant | null
  closedAt: Instant
  /** The message when it is over, and why it is not. */
  closing: DeliveryEvent
  unsent: string | null
  quietUntil: Instant | null
}

/** Decides what one listener is told about a change that made prompts worse. `earlier` is in the order in which it was queued. */
export function tellOfRegressions(
  regressions: readonly TellableRegression[],
  listener: Listener,
  earlier: readonly EarlierDelivery[],
  round: number,
  now: Instant,
): Telling {
  const told = conversationOf(earlier)?.ids ?? new Set()
  const items = regressions
    .filter(({ id, prompt }) => told.has(id) || matchesPromptGlob(listener.prompts, prompt))
    .map((regression) => regressionItem(regression, listener, now))
  return converse(items, 'regression.opened', listener, earlier, round, now)
}

function regressionItem(regression: TellableRegression, listener: Listener, now: Instant): Item {
  const { id, state, openedAt, closedAt, isGone, signalsAfter, liveFrom } = regression
  const isOpen = state === 'open' && !isGone
  const isNew = openedAt >= listener.createdAt
  const liveForMs = liveFrom === null ? null : now - liveFrom
  const certainty = { ...regression, signalsAfter: signalsAfter ?? 0, heldForMs: now - openedAt, liveForMs }
  return {
    id,
    state,
    isOpen,
    isReady: isOpen && isNew && isCertainEnough(certainty, listener),
    readyAt: isOpen && isNew ? nextCheck(openedAt + listener.holdMs, now) : null,
    closedAt: closedAt ?? now,
    closing: closingOfRegression(regression),
    unsent: null,
    quietUntil: regression.quietUntil,
  }
}

function closingOfRegression({ state, isGone }: TellableRegression): DeliveryEvent {
  // One that is gone is not known to be repaired, and there is nothing left to do about it.
  if (isGone || state === 'dismissed') return 'regression.dismissed'
  return state === 'withdrawn' ? 'regression.withdrawn' : 'regression.repaired'
}

function nextCheck(heldAt: Instant, now: Instant): Instant {
  return heldAt > now ? heldAt : now + checkAgainMs
}

/** Decides what one listener is told about a repository that cannot be synced. */
export function tellOfRepository(
  notice: { isFailing: boolean; openedAt: Instant; endedAt: Instant | null; isConnected: boolean },
  listener: Listener,
  earlier: readonly EarlierDelivery[],
  round: number,
  now: Instant,
): Telling {
  const { isFailing, openedAt, endedAt, isConnected } = notice
  const isNew = openedAt >= listener.createdAt
  const item: Item = {
    id: 0,
    state: isFailing ? 'open' : 'repaired',
    isOpen: isFailing,
    isReady: isFailing && isNew && now - openedAt >= listener.holdMs,
    readyAt: isFailing && isNew ? nextCheck(openedAt + listener.holdMs, now) : null,
    closedAt: endedAt ?? now,
    closing: 'repository.recovered',
    // It did not recover, but an incident about it is over.
    unsent: isConnected || listener.channel === 'pagerduty' ? null : 'Not sent: the repository was disconnected.',
    quietUntil: null,
  }
  return converse([item], 'repository.failing', listener, earlier, round, now)
}

/** Decides whether one listener is told about rates that fell without a change, once. */
export function tellOfShift(
  notice: { openedAt: Instant; falls: readonly Fall[] },
  listener: Listener,
  earlier: readonly EarlierDelivery[],
  now: Instant,
): Telling {
  const { openedAt, falls } = notice
  const isOver = now - openedAt > maxShiftAgeMs
  if (!listener.events.includes('shift.unexplained') || openedAt < listener.createdAt) return nothing
  if (isOver || conversationOf(earlier) !== null) return nothing
  const heard = falls.filter((fall) => hearsOf(listener, fall))
  if (heard.length === 0) return { ...nothing, dueAt: nextCheck(openedAt + listener.holdMs, now) }
  const settledAt = Math.max(...heard.map(({ foundAt }) => foundAt)) + settledMs
  const readyAt = Math.max(openedAt + listener.holdMs, Math.min(settledAt, openedAt + maxSettlingMs))
  if (now < readyAt) return { ...nothing, dueAt: readyAt }
  return { ...nothing, queue: { event: 'shift.unexplained', repeat: earlier.length, ids: [], unsent: null } }
}

/** A rate that fell, and no single change explains it. */
interface Fall {
  prompt: PromptNames
  foundAt: Instant
}

/** Whether the fall is news for the listener. */
export function hearsOf({ prompts, createdAt }: Listener, fall: Fall): boolean {
  return fall.foundAt >= createdAt && matchesPromptGlob(prompts, fall.prompt)
}

/** Decides whether one listener is told about the monthly limit, once. */
export function tellOfLimit(
  event: 'limit.near' | 'limit.reached',
  openedAt: Instant,
  listener: Listener,
  earlier: readonly EarlierDelivery[],
): Telling {
  const isWanted = listener.events.includes(event) && openedAt >= listener.createdAt
  if (!isWanted || earlier.length > 0) return nothing
  return { ...nothing, queue: { event, repeat: 0, ids: [], unsent: null } }
}

/** Decides whether one listener is told about an event of a trial, once. An incident in PagerDuty is resolved after the trial has ended. */
export function tellOfTrial(
  event: TrialMessage['event'],
  notice: { openedAt: Instant; endedAt: Instant | null; prompts: readonly PromptNames[] },
  listener: Listener,
  earlier: readonly EarlierDelivery[],
  now: Instant,
): Telling {
  const { openedAt, endedAt, prompts } = notice
  if (earlier.length > 0) {
    const isIncident = listener.channel === 'pagerduty' && event !== 'trial.stopped' && endedAt !== null
    if (!isIncident || earlier.some((delivery) => delivery.event === 'trial.stopped')) return nothing
    const resolvedAt = endedAt + listener.recoveryHoldMs
    if (resolvedAt > now) return { ...nothing, dueAt: resolvedAt }
    return { ...nothing, queue: { event: 'trial.stopped', repeat: 0, ids: [], unsent: null } }
  }
  const isWanted = listener.events.includes(event) && openedAt >= listener.createdAt
  const isHeard = prompts.some((prompt) => matchesPromptGlob(listener.prompts, prompt))
  if (!isWanted || !isHeard) return nothing
  const dueAt = listener.channel === 'pagerduty' && endedAt !== null ? endedAt + listener.recoveryHoldMs : null
  return { ...nothing, queue: { event, repeat: 0, ids: [], unsent: null }, dueAt }
}

/** Decides whether one listener gets the digest of a Monday, once. */
export function tellOfDigest(
  openedAt: Instant,
  listener: Listener,
  earlier: readonly EarlierDelivery[],
  now: Instant,
): Telling {
  const isWanted = listener.events.includes('digest.weekly') && openedAt >= listener.createdAt
  if (!isWanted || earlier.length > 0 || !isDigestTime(openedAt, now)) return nothing
  return { ...nothing, queue: { event: 'digest.weekly', repeat: 0, ids: [], unsent: null } }
}

/** What the listener has heard since the last message that it is over. */
interface Conversation {
  /** The last delivery that said that something opened. */
  last: EarlierDelivery
  ids: Set<number>
  /** A message may have arrived. */
  wasHeard: boolean
}

/** Null if nothing open was told. */
function conversationOf(earlier: readonly EarlierDelivery[]): Conversation | null {
  const since = earlier.slice(earlier.findLastIndex(({ event }) => !isOpening(event)) + 1)
  const told = since.filter(({ state }) => state !== 'cancelled')
  const last = told.at(-1)
  if (last === undefined) return null
  const ids = new Set(told.flatMap((delivery) => delivery.told.map(({ id }) => id)))
  return { last, ids, wasHeard: since.some(mayHaveArrived) }
}

function mayHaveArrived({ state, attempts, status, isClaimed }: EarlierDelivery): boolean {
  // Without a response, the receiver may have got it all the same.
  return state === 'sent' || isClaimed || (state !== 'failed' && attempts > 0 && status === null)
}

function isOpening(event: DeliveryEvent): boolean {
  return event === 'regression.opened' || event === 'repository.failing' || event === 'shift.unexplained'
}

/** Tells that something opened, and later, to those who were told, that it is over. */
function converse(
  items: readonly Item[],
  opening: DeliveryEvent,
  listener: Listener,
  earlier: readonly EarlierDelivery[],
  round: number,
  now: Instant,
): Telling {
  const conversation = conversationOf(earlier)
  // One more than the last, because old ones are not read again.
  const repeatOf = (event: DeliveryEvent) =>
    (earlier.findLast((delivery) => delivery.event === event && delivery.round === round)?.repeat ?? -1) + 1
  const queue = (event: DeliveryEvent, about: readonly Item[], unsent: string | null = null): QueuedTelling => ({
    event,
    repeat: repeatOf(event),
    ids: about.map(({ id }) => id),
    unsent,
  })
  const unready = items.filter(({ isOpen, isReady }) => isOpen && !isReady)
  const isWanted = listener.events.includes(opening as (typeof alertEvents)[number])
  const checkAt = isWanted ? earliest(unready.map(({ readyAt }) => readyAt)) : null

  if (conversation === null) {
    const ready = items.filter(({ isReady }) => isReady)
    if (ready.length === 0 || !isWanted) return { ...nothing, dueAt: checkAt }
    return { ...nothing, queue: queue(opening, ready), dueAt: afterOpening(listener, checkAt, now) }
  }

  const { last, ids, wasHeard } = conversation
  const about = items.filter(({ id }) => ids.has(id))
  const joined = items.filter(({ id, isReady }) => isReady && !ids.has(id))
  if (about.some(({ isOpen }) => isOpen) || joined.length > 0) {
    return whileOpen(about, joined, last, listener, checkAt, queue, opening, now)
  }

  const isPending = last.state === 'pending'
  if (isPending && last.isInFlight) return { ...nothing, dueAt: now + inFlightMs }
  // The listener has not heard of it, so there is nothing to take back.
  if (isPending && !wasHeard) return { cancel: last.id, queue: null, dueAt: checkAt }
  const closing = closingOf(about)
  const closedAt = Math.max(...about.map((item) => item.closedAt))
  const heldAt = closing === 'regression.dismissed' || about.length === 0 ? now : closedAt + listener.recoveryHoldMs
  if (heldAt > now) return { ...nothing, dueAt: earliest([heldAt, checkAt]) }
  const silent = about.find((item) => item.unsent !== null)?.unsent
  const unsent = wasHeard ? (silent ?? whyUnsent(closing, listener)) : 'Not sent: the message before it never arrived.'
  return { cancel: isPending ? last.id : null, queue: queue(closing, about, unsent), dueAt: checkAt }
}

/** While it is open, alerts hear of it again if they asked to, and a pull request shows every change. */
function whileOpen(
  about: readonly Item[],
  joined: readonly Item[],
  told: EarlierDelivery,
  listener: Listener,
  checkAt: Instant | null,
  queue: (event: DeliveryEvent, about: readonly Item[]) => QueuedTelling,
  opening: DeliveryEvent,
  now: Instant,
): Telling {
  if (listener.channel === 'pull') {
    const states = new Map(told.told.map(({ id, state }) => [id, state]))
    const isOutdated = joined.length > 0 || about.some(({ id, state }) => states.get(id) !== state)
    if (!isOutdated) return { ...nothing, dueAt: checkAt }
    if (told.state === 'pending' && told.isInFlight) return { ...nothing, dueAt: now + inFlightMs }
    const cancel = told.state === 'pending' ? told.id : null
    return { cancel, queue: queue(opening, [...about, ...joined]), dueAt: checkAt }
  }
  if (listener.repeatMs === null) return nothing
  const loudAt = Math.min(...[...about.filter(({ isOpen }) => isOpen), ...joined].map((item) => item.quietUntil ?? now))
  if (loudAt === Number.POSITIVE_INFINITY) return nothing
  const repeatAt = Math.max(loudAt, told.createdAt + Math.max(listener.repeatMs, minRepeatMs))
  if (repeatAt > now) return { ...nothing, dueAt: repeatAt }
  const after = now + Math.max(listener.repeatMs, minRepeatMs)
  // A receiver that is down gets one message when it is back.
  if (told.state === 'pending') return { ...nothing, dueAt: after }
  return { ...nothing, queue: queue(opening, [...about.filter(({ isOpen }) => isOpen), ...joined]), dueAt: after }
}

function afterOpening(listener: Listener, checkAt: Instant | null, now: Instant): Instant | null {
  // More prompts of the same pull request are shown on it, but alerts do not hear of it again.
  if (listener.channel === 'pull') return checkAt
  return listener.repeatMs === null ? null : now + Math.max(listener.repeatMs, minRepeatMs)
}

function closingOf(about: readonly Item[]): DeliveryEvent {
  const closings = about.map(({ closing }) => closing)
  const [first = 'regression.dismissed'] = closings.toSorted((a, b) => order.indexOf(a) - order.indexOf(b))
  return first
}

// One that was repaired says more than those that were dismissed beside it.
const order: DeliveryEvent[] = [
  'repository.recovered',
  'regression.repaired',
  'regression.withdrawn',
  'regression.dismissed',
]

function whyUnsent(closing: DeliveryEvent, { channel, events }: Listener): string | null {
  if (channel === 'pull') return null
  if (closing === 'regression.dismissed') {
    return trackingChannels.includes(channel)
      ? null
      : 'Not sent: dismissals only reach PagerDuty, Linear and pull requests.'
  }
  if (channel === 'linear') return null
  return events.includes(closing) ? null : `Not sent: the alert does not include ${closing}.`
}

function earliest(times: readonly (Instant | null)[]): Instant | null {
  const known = times.filter((time) => time !== null)
  return known.length === 0 ? null : Math.min(...known)
}
