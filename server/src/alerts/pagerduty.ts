import { hash } from 'node:crypto'
import type { Attempt, Target } from '../domain/alerts/channel.ts'
import type { Message } from '../domain/alerts/message.ts'
import { isoTime } from '../domain/time.ts'
import { post, sent } from './attempt.ts'
import type { ChannelContext } from './context.ts'
import { cut } from './line.ts'
import { type Content, contentOf, leadOf } from './text.ts'
import { threadOf } from './thread.ts'

type Severity = 'error' | 'warning' | 'info'

// Shifts and limits have no end that we would be told of: people resolve these incidents in PagerDuty.
const actions: Record<Message['event'], Severity | 'resolve'> = {
  'regression.opened': 'error',
  'regression.repaired': 'resolve',
  'regression.withdrawn': 'resolve',
  'regression.dismissed': 'resolve',
  'shift.unexplained': 'warning',
  'limit.near': 'warning',
  'limit.reached': 'error',
  'repository.failing': 'warning',
  'repository.recovered': 'resolve',
  'trial.started': 'info',
  'trial.better': 'info',
  'trial.worse': 'warning',
  'trial.stopped': 'resolve',
  'trial.mismatch': 'warning',
  'digest.weekly': 'info',
  'alert.test': 'info',
}

/** Sends an event to version 2 of PagerDuty's Events API. */
export async function sendPagerDuty(
  { network, publicUrl, pagerDutyUrl }: ChannelContext,
  { target }: Target,
  message: Message,
): Promise<Attempt> {
  const [, region = '', routingKey = ''] = /^(eu:)?(.*)$/.exec(target) ?? []
  const url = pagerDutyUrl ?? `https://events.${region === '' ? '' : 'eu.'}pagerduty.com/v2/enqueue`
  return post(network, url, pagerDutyEvent(message, publicUrl(), routingKey), ({ status }) => {
    if (status === 202) return sent
    if (status === 400) {
      return { outcome: 'rejected', error: 'PagerDuty rejected the event. Check the integration key of the alert.' }
    }
    return { outcome: 'retry', error: `PagerDuty responded with ${status} instead of 202.` }
  })
}

export function pagerDutyEvent(message: Message, publicUrl: string, routingKey: string) {
  const action = actions[message.event]
  const event = { routing_key: routingKey, dedup_key: dedupKey(message) }
  if (action === 'resolve') return { ...event, event_action: 'resolve' }
  const content = contentOf(message, publicUrl)
  return {
    ...event,
    event_action: 'trigger',
    client: 'Promptledger',
    client_url: content.links[0]?.url,
    links: content.links.map(({ label, url }) => ({ href: url, text: label })),
    payload: {
      summary: cut(content.title, 1_024),
      // The affected component, which PagerDuty requires.
      source: content.prompts[0]?.name ?? message.organisation.name,
      severity: action,
      timestamp: isoTime(message.at),
      group: message.organisation.name,
      class: message.event,
      custom_details: detailsOf(content),
    },
  }
}

/** Shown in PagerDuty as a table: the labels are for people. */
function detailsOf(content: Content): Record<string, unknown> {
  const { facts, prompts, morePrompts } = content
  const [lead] = leadOf(content)
  return {
    ...(lead !== undefined && { Summary: lead }),
    ...Object.fromEntries(facts.map(({ label, text }) => [label, text])),
    ...(prompts.length > 0 && {
      Prompts: prompts.map(({ name, figures, explanation, comments }) => ({
        Prompt: name,
        Rate: figures,
        Explanation: explanation,
        ...(comments.length > 0 && { Comments: comments }),
      })),
    }),
    ...(morePrompts > 0 && { 'More prompts': morePrompts }),
  }
}

/** PagerDuty accepts 255 characters. */
function dedupKey(message: Message): string {
  const thread = threadOf(message)
  return thread.length <= 255 ? thread : hash('sha256', thread)
}
