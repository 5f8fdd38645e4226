/** The parts of Slack's Block Kit that alerts use. */
export interface Block {
  type: string
  text?: TextObject
  fields?: TextObject[]
  elements?: (TextObject | Button)[]
}

interface TextObject {
  type: 'plain_text' | 'mrkdwn'
  text: string
}

interface Button {
  type: 'button'
  text: TextObject
  url: string
}

/** Renders blocks as HTML that looks like Slack, for screenshots. */
export function renderBlocks(blocks: Block[]): string {
  return blocks.map(renderBlock).join('\n')
}

function renderBlock({ type, text, fields = [], elements = [] }: Block): string {
  switch (type) {
    case 'header':
      return `<h1>${textOf(text)}</h1>`
    case 'section':
      if (text !== undefined) return `<p>${textOf(text)}</p>`
      return `<div class="fields">${fields.map((field) => `<p>${textOf(field)}</p>`).join('')}</div>`
    case 'context':
      return `<p class="context">${elements.map(textOf).join(' ')}</p>`
    case 'actions':
      return `<p class="actions">${elements.map((element) => `<a>${textOf((element as Button).text)}</a>`).join('')}</p>`
    default:
      throw new Error(`no rendering for blocks of type ${type}`)
  }
}

function textOf(object: TextObject | Button | undefined): string {
  const { type, text } = object as TextObject
  const html = type === 'mrkdwn' ? text.replaceAll(/\*([^*\n]+)\*/g, '<b>$1</b>') : escapeHtml(text)
  return html.replaceAll('\n', '<br>')
}

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
