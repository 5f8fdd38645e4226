import type { Attempt, Target } from '../domain/alerts/channel.ts'
import type { Message } from '../domain/alerts/message.ts'
import { sendRequest } from '../net/request.ts'
import { attemptOf, sent } from './attempt.ts'
import type { ChannelContext } from './context.ts'
import { cloudEvent, webhookBody } from './webhook-body.ts'
import { signaturesOf } from './webhook-secret.ts'

/** Sends a message as https://www.standardwebhooks.com defines it. */
export function sendWebhook(context: ChannelContext, target: Target, id: string, message: Message): Promise<Attempt> {
  return sendSigned(context, target, id, 'application/json', JSON.stringify(webhookBody(message, context.publicUrl())))
}

/** The same as a CloudEvent in structured mode: https://cloudevents.io. */
export function sendCloudEvent(
  context: ChannelContext,
  target: Target,
  id: string,
  message: Message,
): Promise<Attempt> {
  const body = JSON.stringify(cloudEvent(message, id, context.publicUrl()))
  return sendSigned(context, target, id, 'application/cloudevents+json', body)
}

/** Several CloudEvents in one request. `body` is a JSON array. */
export function sendCloudEvents(context: ChannelContext, target: Target, id: string, body: string): Promise<Attempt> {
  return sendSigned(context, target, id, 'application/cloudevents-batch+json', body)
}

async function sendSigned(
  { network, clock }: ChannelContext,
  { target, secrets }: Target,
  id: string,
  contentType: string,
  body: string,
): Promise<Attempt> {
  // The time of this attempt: receivers reject old timestamps, because a recorded request could be sent again.
  const timestamp = Math.floor(clock() / 1_000)
  const headers = {
    'content-type': contentType,
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signaturesOf(secrets, id, timestamp, body),
  }
  return attemptOf(await sendRequest(network, target, { method: 'POST', headers, body }), ({ status }) => {
    if (status >= 200 && status < 300) return sent
    if (status === 410) return { outcome: 'gone', error: 'The receiver responded with 410: it wants no more messages.' }
    return { outcome: 'retry', error: `The receiver responded with ${status} instead of 2xx.` }
  })
}
