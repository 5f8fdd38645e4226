import { trackingChannels } from '../domain/alerts/alert.ts'
import type { SendMessage, Target } from '../domain/alerts/channel.ts'
import { rejected, retry } from './attempt.ts'
import type { ChannelContext } from './context.ts'
import { sendDiscord } from './discord.ts'
import { sendEmail } from './email.ts'
import { line } from './line.ts'
import { sendLinear } from './linear.ts'
import { sendPagerDuty } from './pagerduty.ts'
import { sendSlack } from './slack.ts'
import { createFindSlackOwner } from './slack-owner.ts'
import { sendTeams } from './teams.ts'
import { sendCloudEvent, sendWebhook } from './webhook.ts'

// Sign-in links are sent the same way, and loaded with it.
export { sendPlainEmail } from './email.ts'

/** Sends messages over all channels. */
export function createSendMessage(context: ChannelContext): SendMessage {
  const findSlackOwner = createFindSlackOwner(context)
  const send: SendMessage = async (target, id, message) => {
    if (message.event === 'regression.dismissed' && !trackingChannels.includes(target.channel)) {
      return rejected(null, 'Only PagerDuty and Linear take dismissals, to close the incident or issue.')
    }
    switch (target.channel) {
      case 'webhook':
        return sendWebhook(context, target, id, message)
      case 'cloudevents':
        return sendCloudEvent(context, target, id, message)
      case 'slack':
        return sendSlack(context, target, message, findSlackOwner)
      case 'teams':
        return sendTeams(context, target, message)
      case 'discord':
        return sendDiscord(context, target, message)
      case 'email':
        return sendEmail(context, target, id, message)
      case 'pagerduty':
        return sendPagerDuty(context, target, message)
      case 'linear':
        return sendLinear(context, target, message)
    }
  }
  return async (target, id, message) => {
    try {
      const attempt = await send(target, id, message)
      return { ...attempt, response: attempt.response && withoutSecrets(attempt.response, target) }
    } catch (error) {
      context.log.warn({ reason: line((error as Error).message, 500) }, 'a message could not be composed')
      return retry(null, 'The message could not be composed. Ask the operator to check the log.')
    }
  }
}

// Error codes such as `channel_is_archived` are shorter. Tokens and keys are longer, in every encoding.
const longWords = /[\w+/\\=%~.-]{22,}/g

/** A receiver may repeat what it got. Who can read deliveries need not know where they go, so no long word is stored either. */
function withoutSecrets(response: string, { channel, target, secrets }: Target): string {
  if (channel === 'email') return response
  const url = URL.parse(target)
  // Linear's target is the team and the API key.
  const apiKey = channel === 'linear' ? [target.slice(target.indexOf(':') + 1)] : []
  const hidden = [target, ...apiKey, ...(url === null ? [] : [url.pathname + url.search, url.pathname]), ...secrets]
  const known = hidden
    .filter(({ length }) => length > 8)
    .reduce((text, secret) => text.replaceAll(secret, '…'), response)
  return known.replaceAll(longWords, '…')
}
