import type { Attempt, Target } from '../domain/alerts/channel.ts'
import type { Message } from '../domain/alerts/message.ts'
import { post, sent } from './attempt.ts'
import type { ChannelContext } from './context.ts'
import { cut, fitting } from './line.ts'
import { type Content, contentOf, leadOf, type PromptContent, type Section } from './text.ts'

// What Discord accepts: 256 characters in a title, 4,096 in the description, 1,024 in a field, and 6,000 in total. Escaping doubles at most.
const maxTitleLength = 120
const maxFactLength = 200
const maxTextLength = 400
const maxPrompts = 3
// Of each of three.
const maxSectionLength = 1_200

/** Sends a message to a webhook of a Discord channel. */
export async function sendDiscord(
  { network, publicUrl }: ChannelContext,
  { target }: Target,
  message: Message,
): Promise<Attempt> {
  return post(network, target, discordMessage(contentOf(message, publicUrl())), ({ status }) => {
    if (status >= 200 && status < 300) return sent
    if (status === 404 || status === 410 || status === 401) {
      return { outcome: 'gone', error: 'Discord no longer knows this webhook. Create a new one in Discord.' }
    }
    if (status === 429) return { outcome: 'retry', error: 'Discord accepts no more messages for a while.' }
    if (status === 400) return { outcome: 'rejected', error: 'Discord does not understand the message.' }
    return { outcome: 'retry', error: `Discord responded with ${status} instead of 204.` }
  })
}

/** One embed. Nothing in it can mention anyone, and Markdown in text of others is escaped. */
export function discordMessage(content: Content) {
  const { title, facts, prompts, morePrompts, sections, links } = content
  const shown = prompts.slice(0, maxPrompts)
  const hidden = prompts.length - shown.length + morePrompts
  const paragraphs = [
    ...leadOf(content).map((lead) => escaped(lead, maxTextLength)),
    ...shown.flatMap(promptLines),
    ...sections.flatMap(sectionLines),
    ...(hidden > 0 ? [`And ${hidden.toLocaleString('en')} more.`] : []),
    // Our own labels and URLs.
    links.map(({ label, url }) => `[${label}](<${url}>)`).join(' · '),
  ]
  return {
    allowed_mentions: { parse: [] },
    embeds: [
      {
        title: escaped(title, maxTitleLength),
        description: cut(paragraphs.filter(Boolean).join('\n'), 4_096),
        fields: facts.map(({ label, text }) => ({
          name: label,
          value: escaped(text, maxFactLength) || '–',
          inline: true,
        })),
      },
    ],
  }
}

function promptLines({ name, figures, explanation, comments }: PromptContent): string[] {
  return [
    `**${escaped(name, 80)}** ${figures}`,
    ...(explanation === '' ? [] : [escaped(explanation, maxTextLength)]),
    ...comments.map((comment) => `“${escaped(comment, 100)}”`),
  ]
}

function sectionLines({ title, items, more }: Section): string[] {
  const lines = items.map(({ name, text, url }) => `[${escaped(name, 80)}](<${url}>) ${escaped(text, maxTextLength)}`)
  const shown = fitting(lines, maxSectionLength)
  const hidden = items.length - shown.length + more
  return [`**${title}**`, ...shown, ...(hidden > 0 ? [`And ${hidden.toLocaleString('en')} more.`] : [])]
}

/** Everything that starts markup, a link, a mention or a timestamp. */
function escaped(text: string, maxLength: number): string {
  return cut(text, maxLength).replaceAll(/[\\*_~`|<>[\]()#@:.-]/g, '\\$&')
}
