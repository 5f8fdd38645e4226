import type { SendMessage } from '../domain/alerts/channel.ts'
import { rejected, retry } from './attempt.ts'
import type { ChannelContext } from './context.ts'
import { sendEmail } from './email.ts'
import { line } from './line.ts'
import { sendPagerDuty } from './pagerduty.ts'
import { sendSlack } from './slack.ts'
import { sendWebhook } from './webhook.ts'

/** Sends messages over all channels. */
export function createSendMessage(context: ChannelContext): SendMessage {
  const send: SendMessage = async (target, id, message) => {
    if (message.event === 'regression.dismissed' && target.channel !== 'pagerduty') {
      return rejected(null, 'Only PagerDuty takes dismissals, to resolve the incident.')
    }
    switch (target.channel) {
      case 'webhook':
        return sendWebhook(context, target, id, message)
      case 'slack':
        return sendSlack(context, target, message)
      case 'email':
        return sendEmail(context, target, id, message)
      case 'pagerduty':
        return sendPagerDuty(context, target, message)
    }
  }
  return (target, id, message) =>
    send(target, id, message).catch((error: Error) => {
      context.log.warn({ reason: line(error.message, 500) }, 'a message could not be composed')
      return retry(null, 'The message could not be composed. Ask the operator to check the log.')
    })
}
