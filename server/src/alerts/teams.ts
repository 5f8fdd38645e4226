import type { Attempt, Target } from '../domain/alerts/channel.ts'
import type { Message } from '../domain/alerts/message.ts'
import { post, sent } from './attempt.ts'
import type { ChannelContext } from './context.ts'
import { cut } from './line.ts'
import { type Content, contentOf, leadOf, type PromptContent, type Section } from './text.ts'

// Teams accepts 28 KB, and a character has up to 4 bytes.
const maxTextLength = 1_000
const maxFactLength = 300
const maxPrompts = 3
const maxItems = 8

/** Sends a message to a workflow of Microsoft Teams that starts with a webhook request. */
export async function sendTeams(
  { network, publicUrl }: ChannelContext,
  { target }: Target,
  message: Message,
): Promise<Attempt> {
  return post(network, target, teamsMessage(contentOf(message, publicUrl())), ({ status }) => {
    if (status >= 200 && status < 300) return sent
    if (status === 404 || status === 410) {
      return { outcome: 'gone', error: 'Teams no longer knows this workflow. Create a new one in Teams.' }
    }
    if (status === 429) return { outcome: 'retry', error: 'Teams accepts no more messages for a while.' }
    if (status === 400 || status === 413)
      return { outcome: 'rejected', error: 'Teams does not understand the message.' }
    if (status === 401 || status === 403) {
      return { outcome: 'rejected', error: 'The workflow does not accept this URL. Copy it from the workflow again.' }
    }
    return { outcome: 'retry', error: `Teams responded with ${status} instead of 202.` }
  })
}

/** An adaptive card. All text is in text runs, which have no markup: a text block would read Markdown. */
export function teamsMessage(content: Content) {
  const { title, facts, prompts, morePrompts, sections, links } = content
  const shown = prompts.slice(0, maxPrompts)
  const hidden = prompts.length - shown.length + morePrompts
  const card = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [
      text([{ text: title, weight: 'Bolder', size: 'Medium' }]),
      ...facts.map(({ label, text: fact }) =>
        text([{ text: `${label}: `, weight: 'Bolder' }, { text: cut(fact, maxFactLength) }]),
      ),
      ...leadOf(content).map((lead) => text([{ text: lead }])),
      ...shown.flatMap(promptBlocks),
      ...sections.flatMap(sectionBlocks),
      ...(hidden > 0 ? [text([{ text: `And ${hidden.toLocaleString('en')} more.`, isSubtle: true }])] : []),
    ],
    actions: links.map(({ label, url }) => ({ type: 'Action.OpenUrl', title: label, url })),
  }
  return {
    type: 'message',
    attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', content: card }],
  }
}

interface Run {
  text: string
  weight?: 'Bolder'
  size?: 'Medium'
  isSubtle?: true
}

function promptBlocks({ name, figures, explanation, comments }: PromptContent): object[] {
  return [
    text([{ text: name, weight: 'Bolder' }, { text: ` ${figures}` }]),
    ...(explanation === '' ? [] : [text([{ text: explanation, isSubtle: true }])]),
    ...comments.map((comment) => text([{ text: `“${cut(comment, 150)}”`, isSubtle: true }])),
  ]
}

function sectionBlocks({ title, items, more }: Section): object[] {
  const shown = items.slice(0, maxItems)
  const hidden = items.length - shown.length + more
  return [
    text([{ text: title, weight: 'Bolder' }]),
    ...shown.map(({ name, text: words }) => text([{ text: `${name} `, weight: 'Bolder' }, { text: words }])),
    ...(hidden > 0 ? [text([{ text: `And ${hidden.toLocaleString('en')} more.`, isSubtle: true }])] : []),
  ]
}

function text(runs: Run[]): object {
  const inlines = runs.map((run) => ({ type: 'TextRun', ...run, text: cut(run.text, maxTextLength) }))
  return { type: 'RichTextBlock', inlines }
}
