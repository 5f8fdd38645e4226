import type { Attempt, Target } from '../domain/alerts/channel.ts'
import type { Message } from '../domain/alerts/message.ts'
import { post, sent } from './attempt.ts'
import type { ChannelContext } from './context.ts'
import { cut, fitting } from './line.ts'
import type { FindSlackOwner } from './slack-owner.ts'
import { type Content, contentOf, leadOf, type PromptContent, type Section } from './text.ts'

// What Slack accepts.
const maxHeaderLength = 150
const maxTextLength = 3_000
// Of 2,000, because an escaped character has up to five.
const maxFactLength = 300
const maxPrompts = 3
const maxOwners = 3

/** Sends a message to an incoming webhook of Slack. With a bot token, it mentions who takes care of it. */
export async function sendSlack(
  { network, publicUrl }: ChannelContext,
  { target, secrets: [token] }: Target,
  message: Message,
  findOwner: FindSlackOwner,
): Promise<Attempt> {
  const owners = token === undefined ? [] : await Promise.all(ownersOf(message).map((email) => findOwner(token, email)))
  const problem = owners.find((owner) => owner.problem !== null)?.problem
  const mentioned = owners.flatMap(({ id }) => (id === null ? [] : [id]))
  return post(network, target, slackMessage(contentOf(message, publicUrl()), mentioned), ({ status, body }) => {
    if (status >= 200 && status < 300) {
      return problem == null ? sent : { outcome: 'sent', error: `Sent, but the alert mentions no one: ${problem}` }
    }
    if (status === 410 || (status === 404 && /^(no_service|no_team|no_active_hooks|channel_not_found)/.test(body))) {
      return {
        outcome: 'gone',
        error: 'Slack no longer knows this webhook or its channel. Create a new webhook in Slack.',
      }
    }
    if (status === 429)
      return { outcome: 'retry', error: 'Slack accepts no more messages from this webhook for a while.' }
    if (/^(invalid_payload|invalid_blocks)/.test(body)) {
      return { outcome: 'rejected', error: 'Slack does not understand the message.' }
    }
    if (status === 403)
      return { outcome: 'rejected', error: 'Slack does not allow this webhook to post in its channel.' }
    return { outcome: 'retry', error: `Slack responded with ${status} instead of 200.` }
  })
}

/** Those to interrupt: not when it is over. */
function ownersOf(message: Message): string[] {
  if (message.event !== 'regression.opened' && message.event !== 'shift.unexplained') return []
  const owners = message.prompts.flatMap(({ owner }) => (owner == null ? [] : [owner]))
  return [...new Set(owners)].slice(0, maxOwners)
}

/** In Block Kit, with the IDs of members that are mentioned. Text of others is plain text wherever Slack allows it, which it shows as it is. */
export function slackMessage(content: Content, mentioned: readonly string[] = []) {
  const { title, prompts, morePrompts, sections, links } = content
  const shown = prompts.slice(0, maxPrompts)
  const hidden = prompts.length - shown.length + morePrompts
  const facts = content.facts
    .filter(({ label }) => label !== 'Owner' || mentioned.length === 0)
    .map(({ label, text }) => mrkdwn(`*${label}*\n${escapeMrkdwn(cut(text, maxFactLength))}`))
  if (mentioned.length > 0) facts.push(mrkdwn(`*Owner*\n${mentioned.map((id) => `<@${id}>`).join(' ')}`))
  return {
    // Only for notifications: the blocks say the same.
    text: escapeMrkdwn(title),
    unfurl_links: false,
    unfurl_media: false,
    blocks: [
      { type: 'header', text: plain(title, maxHeaderLength) },
      ...(facts.length > 0
        ? [
            {
              type: 'section',
              fields: facts,
            },
          ]
        : []),
      ...leadOf(content).map((text) => ({ type: 'section', text: plain(text) })),
      ...shown.flatMap(promptBlocks),
      ...sections.map(sectionBlock),
      ...(hidden > 0 ? [{ type: 'context', elements: [plain(`And ${hidden.toLocaleString('en')} more.`)] }] : []),
      ...(links.length > 0
        ? [{ type: 'actions', elements: links.map(({ label, url }) => ({ type: 'button', text: plain(label), url })) }]
        : []),
    ],
  }
}

function promptBlocks({ name, figures, explanation, comments }: PromptContent): object[] {
  return [
    { type: 'section', text: mrkdwn(`*${escapeMrkdwn(name)}*\n${figures}`) },
    ...(explanation === '' ? [] : [{ type: 'context', elements: [plain(explanation)] }]),
    ...(comments.length > 0
      ? [
          {
            type: 'section',
            text: plain(
              ['The newest negative comments:', ...comments.map((comment) => `“${cut(comment, 150)}”`)].join('\n'),
            ),
          },
        ]
      : []),
  ]
}

function sectionBlock({ title, items, more }: Section): object {
  const lines = items.map(({ name, text }) => `• *${escapeMrkdwn(name)}* ${escapeMrkdwn(text)}`)
  const shown = fitting(lines, maxTextLength - 100)
  const hidden = items.length - shown.length + more
  const rest = hidden > 0 ? [`And ${hidden.toLocaleString('en')} more.`] : []
  return { type: 'section', text: mrkdwn([`*${title}*`, ...shown, ...rest].join('\n')) }
}

function plain(text: string, maxLength = maxTextLength) {
  return { type: 'plain_text', text: cut(text, maxLength), emoji: false }
}

/** `verbatim`: Slack turns no URL, channel or user name in it into a link. */
function mrkdwn(text: string) {
  return { type: 'mrkdwn', text, verbatim: true }
}

/** The three characters that start links, mentions and entities. */
function escapeMrkdwn(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
