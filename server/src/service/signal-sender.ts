import type { Logger } from 'pino'
import type { Alert } from '../domain/alerts/alert.ts'
import type { Attempt, SendEvents } from '../domain/alerts/channel.ts'
import { generateDeliveryId, resultOf } from '../domain/alerts/delivery.ts'
import { type ClaimedWebhook, maxWaitingSignals, type SignalEvent } from '../domain/alerts/signal-event.ts'
import { matchesPromptGlob } from '../domain/prompt.ts'
import { generateLeaseOwner } from '../domain/repositories/lease.ts'
import type { Vault } from '../domain/repositories/vault.ts'
import { signalText } from '../domain/signals/signal-text.ts'
import type { Store } from '../domain/store.ts'
import { type Clock, isoTime, minute } from '../domain/time.ts'
import { createJobs } from './jobs.ts'
import { failed, targetOf, undecryptable } from './sender.ts'

export interface SignalSenderContext {
  store: Pick<Store, 'alerts' | 'signalEvents'>
  vault: Vault
  sendEvents: SendEvents
  publicUrl: () => string
  clock: Clock
  log: Logger
  /** Called when a request has ended. */
  onIdle?: () => void
}

// A request ends after 10 s by itself.
const limits = { slots: 8, slotsPerOrganisation: 1, quickMs: 5_000, limitMs: 30_000 }
// Each takes one small query, even without anything to send.
const webhooksOfRound = 200
const leaseMs = minute
const stopTimeoutMs = 6_000
// So that a busy organisation fills its requests, instead of sending one for every few signals.
const restMs = 1_000
const maxEvents = 500
const maxBytes = 1_000_000
// A signal may have 16 KB of metadata.
const eventsOfRead = 50

/** Sends signals to the webhooks that get them, at least once. */
export function createSignalSender(context: SignalSenderContext) {
  const { store, clock, log } = context
  const jobs = createJobs({ ...limits, onEnd: context.onIdle })
  let lastOrganisation = 0

  async function deliver(webhook: ClaimedWebhook): Promise<void> {
    const { events, body, isFull } = await nextBatch(context, webhook)
    const attempt = body === null ? null : await send(context, webhook, body)
    const now = clock()
    if (attempt === null || attempt.outcome === 'sent') {
      return store.signalEvents.finish(webhook, events, { attempts: 0, dueAt: isFull ? now : now + restMs })
    }
    const { state, dueAt, error } = resultOf(webhook, attempt, now, Math.random())
    if (state !== 'failed') return store.signalEvents.finish(webhook, [], { attempts: webhook.attempts + 1, dueAt })
    const since = attempt.outcome === 'gone' ? '' : 'It took no signals for three days. '
    await disable(webhook, `${since}${error ?? ''} Enable the alert to send the signals from then on.`)
  }

  async function disable(webhook: Alert, reason: string): Promise<void> {
    log.warn({ alert: webhook.publicId, reason }, 'a webhook for signals was disabled')
    await store.alerts.disable(webhook, reason, clock())
  }

  return {
    /** Starts a request to each webhook that is due, as far as there is room. Resolves without waiting for the responses. */
    async round(): Promise<void> {
      if (jobs.running() >= limits.slots) return
      const due = await store.signalEvents.due(clock(), lastOrganisation, webhooksOfRound)
      // With more webhooks than that, those that have no room do not hide the others for long.
      lastOrganisation = due.at(-1)?.organisationId ?? 0
      for (const webhook of jobs.order(due)) {
        if (!jobs.hasRoom(webhook.organisationId)) continue
        if ((await store.signalEvents.countWaiting(webhook.organisationId, 1)) === 0) continue
        const now = clock()
        const claimed = await store.signalEvents.claim(webhook, generateLeaseOwner(), now, now + leaseMs)
        if (claimed === null) continue
        jobs.start(webhook.organisationId, () =>
          deliver(claimed).catch((error) =>
            log.warn({ err: error, alert: webhook.publicId }, 'could not send signals'),
          ),
        )
      }
    },

    /** Disables webhooks that have fallen too far behind. */
    async checkBacklogs(): Promise<void> {
      const most = maxWaitingSignals
      for (const webhook of await store.signalEvents.webhooks()) {
        if ((await store.signalEvents.countWaiting(webhook.organisationId, most + 1)) <= most) continue
        const waited = `More than ${most.toLocaleString('en')} signals waited for the receiver.`
        await disable(webhook, `${waited} Enable the alert to send the signals from then on.`)
      }
    },

    /** Resolves when nothing is being sent. */
    idle: jobs.idle,

    // What has not been acknowledged by then is sent again after the lease.
    stop: () => jobs.settle(stopTimeoutMs),

    inFlight: jobs.running,
  }
}

/** The events of the next request, with those that are removed without being sent. Without any to send, the body is null. */
async function nextBatch(
  { store, publicUrl }: SignalSenderContext,
  { organisationId, prompts }: ClaimedWebhook,
): Promise<{ events: SignalEvent[]; body: string | null; isFull: boolean }> {
  const events: SignalEvent[] = []
  const texts: string[] = []
  let bytes = 2
  const result = (isFull: boolean) => ({ events, body: texts.length === 0 ? null : `[${texts.join(',')}]`, isFull })
  while (events.length < maxEvents) {
    const read = await store.signalEvents.read(organisationId, events.at(-1)?.signalId ?? 0, eventsOfRead)
    for (const event of read) {
      const text = matchesPromptGlob(prompts, event.prompt) ? signalEventText(event, publicUrl()) : null
      if (text !== null) {
        bytes += Buffer.byteLength(text) + 1
        if (bytes > maxBytes && texts.length > 0) return result(true)
        texts.push(text)
      }
      events.push(event)
    }
    if (read.length < eventsOfRead) return result(false)
  }
  return result(true)
}

/** The event as a CloudEvent, with the signal as the API returns it. Null if retention has removed the signal meanwhile. */
export function signalEventText(
  { id, kind, at, signalId, prompt, signal }: SignalEvent,
  publicUrl: string,
): string | null {
  if (signal === null && (kind === 'recorded' || kind === 'replaced')) return null
  const attributes = {
    specversion: '1.0',
    id,
    source: publicUrl,
    type: `dev.promptledger.signal.${kind}`,
    time: isoTime(at),
    subject: prompt.publicId,
    datacontenttype: 'application/json',
  }
  const data = { prompt: { id: prompt.publicId, name: prompt.name } }
  // Joined by hand, because metadata is JSON text that must arrive exactly as it was sent.
  const text = signal === null ? `{"id":${signalId}}` : signalText(signal)
  return `${JSON.stringify(attributes).slice(0, -1)},"data":${JSON.stringify(data).slice(0, -1)},"signal":${text}}}`
}

/** Never rejects. */
async function send(
  { sendEvents, vault, clock }: SignalSenderContext,
  webhook: ClaimedWebhook,
  body: string,
): Promise<Attempt> {
  const target = targetOf(vault, webhook, clock())
  if (target === null) return failed('retry', undecryptable)
  // An ID of its own for each request: one that is repeated may contain more, and receivers know the events by theirs.
  return sendEvents(target, generateDeliveryId(), body)
}
