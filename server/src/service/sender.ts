import type { Logger } from 'pino'
import { openTarget } from '../alerts/alert-service.ts'
import type { Alert } from '../domain/alerts/alert.ts'
import type { Attempt, SendMessage, Target } from '../domain/alerts/channel.ts'
import { type ClaimedDelivery, type DueDelivery, resultOf } from '../domain/alerts/delivery.ts'
import type { Message } from '../domain/alerts/message.ts'
import type { ReportOnPull } from '../domain/alerts/pull-comment.ts'
import { generateLeaseOwner } from '../domain/repositories/lease.ts'
import type { Vault } from '../domain/repositories/vault.ts'
import type { Store } from '../domain/store.ts'
import { type Clock, type Instant, minute } from '../domain/time.ts'
import { createJobs, whenAborted } from './jobs.ts'

export interface SenderContext {
  store: Pick<Store, 'alerts' | 'alertDeliveries'>
  vault: Vault
  send: SendMessage
  reportOnPull: ReportOnPull
  clock: Clock
  log: Logger
}

/** Sends the messages that are due. */
export interface Sender {
  /** Starts the deliveries that are due and have room. Resolves without waiting for the responses. */
  round(): Promise<void>
  /** Resolves when nothing is being sent. */
  idle(): Promise<void>
  /** Starts no more deliveries, and waits for those in flight, but not for longer than a shutdown may take. */
  stop(): Promise<void>
  stats(): SenderStats
}

export interface SenderStats {
  inFlight: number
  /** Attempts by their outcome. */
  attempts: Record<Attempt['outcome'], number>
}

const leaseMs = minute
// Ends before the lease, so that no other process sends at the same time. A pull request takes up to 45 s.
const limits = { slots: 8, slotsPerOrganisation: 2, quickMs: 15_000, limitMs: 50_000 }
const maxOrganisations = 100
const stopTimeoutMs = 6_000
const maxComments = 3
export const undecryptable =
  'The target cannot be decrypted: ask the operator to restore the secret key, or set the target again.'
const maxPromptsWithComments = 10
const maxCommentLength = 1_000

export function createSender(context: SenderContext & { onIdle?: () => void }): Sender {
  const { store, clock, log } = context
  const jobs = createJobs({ ...limits, onEnd: context.onIdle })
  const attempts: SenderStats['attempts'] = { sent: 0, retry: 0, rejected: 0, gone: 0 }
  let lastOrganisation = 0
  let stopped = false

  /** The deliveries that are due, of the organisations after the last ones that were listed. */
  async function nextDue(): Promise<DueDelivery[]> {
    const after = await store.alertDeliveries.due(clock(), lastOrganisation, maxOrganisations)
    const isEnough = new Set(after.map(({ organisationId }) => organisationId)).size >= maxOrganisations
    const start = lastOrganisation
    // With more organisations than that, those that have no room do not hide the others for long.
    lastOrganisation = isEnough ? (after.at(-1)?.organisationId ?? 0) : 0
    if (isEnough || start === 0) return after
    const before = await store.alertDeliveries.due(clock(), 0, maxOrganisations)
    return [...after, ...before.filter(({ organisationId }) => organisationId <= start)]
  }

  /** Null if it is no longer due, or cannot be read: the deliveries of others must not wait for one that is damaged. */
  async function claim(due: DueDelivery, now: Instant): Promise<ClaimedDelivery | null> {
    try {
      return await store.alertDeliveries.claim(due, generateLeaseOwner(), now, now + leaseMs)
    } catch (error) {
      log.warn({ err: error, organisation: due.organisationId }, 'could not take an alert delivery')
      return null
    }
  }

  async function deliver(claimed: ClaimedDelivery, signal: AbortSignal): Promise<void> {
    const attempt = await sendClaimed(context, claimed, signal)
    attempts[attempt.outcome]++
    const now = clock()
    const isRecorded = await store.alertDeliveries.finish(claimed, resultOf(claimed, attempt, now, Math.random()))
    if (!isRecorded)
      log.warn({ delivery: claimed.publicId }, 'an alert delivery was cancelled or taken over while it was sent')
    if (attempt.outcome === 'gone' && claimed.alert !== null) {
      await store.alerts.disable(claimed.alert, goneReason(attempt), now)
    }
  }

  return {
    async round() {
      if (stopped || jobs.running() >= limits.slots) return
      for (const due of jobs.order(await nextDue())) {
        if (stopped) return
        if (!jobs.hasRoom(due.organisationId)) continue
        const now = clock()
        const claimed = await claim(due, now)
        if (claimed === null) continue
        if (stopped) return store.alertDeliveries.release(claimed, now)
        jobs.start(due.organisationId, (signal) =>
          deliver(claimed, signal).catch((error) =>
            log.warn({ err: error, delivery: claimed.publicId }, 'could not record an alert delivery'),
          ),
        )
      }
    },

    idle: jobs.idle,

    async stop() {
      stopped = true
      // What has not been answered by then is sent again after the lease, with the same ID.
      await jobs.settle(stopTimeoutMs)
    },

    stats: () => ({ inFlight: jobs.running(), attempts: { ...attempts } }),
  }
}

/** Never rejects. */
async function sendClaimed(context: SenderContext, delivery: ClaimedDelivery, signal: AbortSignal): Promise<Attempt> {
  try {
    const late = whenAborted(signal, failed('retry', 'The attempt took too long.'))
    return await Promise.race([attempt(context, delivery), late])
  } catch (error) {
    context.log.warn({ err: error, delivery: delivery.publicId }, 'could not send an alert delivery')
    return failed(
      'retry',
      'The message could not be sent because of an internal error. The operator finds it in the log.',
    )
  }
}

async function attempt(context: SenderContext, delivery: ClaimedDelivery): Promise<Attempt> {
  const { store, send, reportOnPull, vault, clock } = context
  const { alertId, alert, publicId, organisationId } = delivery
  // An imported message may name any organisation, and reports on pull requests rely on it.
  const organisation = { ...delivery.message.organisation, id: organisationId }
  const message = await withComments(store, organisationId, { ...delivery.message, organisation })
  if (alertId === null) {
    return 'dedupKey' in message || 'trial' in message
      ? reportOnPull(message)
      : failed('rejected', 'Only regressions and trials are reported on pull requests.')
  }
  if (alert === null) return failed('rejected', 'The alert was removed.')
  if (alert.disabledAt !== null) return failed('rejected', 'The alert is disabled.')
  const target = targetOf(vault, alert, clock())
  if (target === null) return failed('retry', undecryptable)
  return send(target, publicId, message)
}

/** Null if the secret key does not decrypt it. */
export function targetOf(vault: Vault, alert: Alert, now: Instant): Target | null {
  try {
    return openTarget(vault, alert, now)
  } catch {
    return null
  }
}

/** Comments are not part of the stored message, so that erased ones are not sent. */
async function withComments(
  { alertDeliveries }: SenderContext['store'],
  organisationId: number,
  message: Message,
): Promise<Message> {
  if (message.event !== 'regression.opened') return message
  const prompts = await Promise.all(
    message.prompts.map(async (told, i) => {
      if (i >= maxPromptsWithComments) return told
      const { prompt, liveFrom } = told
      const comments = await alertDeliveries.negativeComments(organisationId, prompt.publicId, liveFrom, maxComments)
      return {
        ...told,
        comments: comments.map(({ text, at }) => ({ text: text.slice(0, maxCommentLength).toWellFormed(), at })),
      }
    }),
  )
  return { ...message, prompts }
}

function goneReason({ status }: Attempt): string {
  return `The receiver responded with ${status ?? 'gone'}: it does not want messages any more. Enable the alert to try again.`
}

export function failed(outcome: 'retry' | 'rejected', error: string): Attempt {
  return { outcome, status: null, response: null, error }
}
