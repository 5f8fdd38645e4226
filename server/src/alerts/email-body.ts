import type { Link } from './links.ts'
import { type Content, leadOf, type PromptContent, type Section } from './text.ts'

export function emailText(content: Content): string {
  const { title, facts, prompts, morePrompts, sections, links } = content
  const parts = [
    title,
    ...leadOf(content),
    facts.map(({ label, text }) => `${label}: ${text}`).join('\n'),
    ...prompts.map((prompt) => promptText(prompt, prompts.length > 1)),
    ...sections.map(sectionText),
    morePrompts > 0 ? more(morePrompts) : '',
    links.map(({ label, url }) => `${label}: ${url}`).join('\n'),
  ]
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

/** The links of a single prompt are those of the message. */
function promptText({ name, figures, explanation, comments, links }: PromptContent, hasLinks: boolean): string {
  return [
    name,
    figures,
    explanation,
    ...(comments.length > 0 ? ['The newest negative comments:', ...comments.map((comment) => `> ${comment}`)] : []),
    ...(hasLinks ? links.map(({ label, url }) => `${label}: ${url}`) : []),
  ].join('\n')
}

function sectionText({ title, items, more: hidden }: Section): string {
  return [
    title,
    ...items.map(({ name, text, url }) => `- ${name}, ${text}\n  ${url}`),
    ...(hidden > 0 ? [more(hidden)] : []),
  ].join('\n')
}

const font = 'font-family: -apple-system, BlinkMacSystemFont, "Segoe UI", Helvetica, Arial, sans-serif'
const muted = 'color: #59636e'

/** Styles are inline, because mail programs remove style sheets. No images: they would tell when a message is read. */
export function emailHtml(content: Content): string {
  const { title, facts, prompts, morePrompts, sections, links } = content
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${escapeHtml(title)}</title></head>
<body style="margin: 0; padding: 24px; background: #f6f8fa; color: #1f2328; ${escapeHtml(font)}; font-size: 14px; line-height: 1.5">
<div style="max-width: 600px; margin: 0 auto; padding: 24px; background: #ffffff; border: 1px solid #d1d9e0; border-radius: 6px">
<h1 style="margin: 0 0 16px; font-size: 20px; line-height: 1.3">${escapeHtml(title)}</h1>
${leadOf(content)
  .map((text) => `<p style="margin: 0 0 16px">${escapeHtml(text)}</p>`)
  .join('')}
${
  facts.length === 0
    ? ''
    : `<table role="presentation" style="margin: 0 0 16px; border-collapse: collapse; font-size: 14px">${facts
        .map(
          ({ label, text }) =>
            `<tr><td style="padding: 2px 16px 2px 0; ${muted}; vertical-align: top; white-space: nowrap">${escapeHtml(label)}</td><td style="padding: 2px 0">${escapeHtml(text)}</td></tr>`,
        )
        .join('')}</table>`
}
${prompts.map((prompt) => promptHtml(prompt, prompts.length > 1)).join('\n')}
${sections.map(sectionHtml).join('\n')}
${morePrompts > 0 ? `<p style="margin: 0 0 16px; ${muted}">${more(morePrompts)}</p>` : ''}
${linksHtml(links)}
</div>
</body>
</html>
`
}

function promptHtml({ name, figures, explanation, comments, links }: PromptContent, hasLinks: boolean): string {
  return `<div style="margin: 0 0 16px; padding: 0 0 0 12px; border-left: 3px solid #d1d9e0">
<p style="margin: 0"><b>${escapeHtml(name)}</b></p>
<p style="margin: 0 0 8px">${escapeHtml(figures)}</p>
<p style="margin: 0 0 8px; ${muted}">${escapeHtml(explanation)}</p>
${
  comments.length === 0
    ? ''
    : `<p style="margin: 0">The newest negative comments:</p>
${comments.map((comment) => `<blockquote style="margin: 4px 0 4px 12px; ${muted}">${escapeHtml(comment)}</blockquote>`).join('\n')}`
}
${hasLinks ? linksHtml(links) : ''}
</div>`
}

function sectionHtml({ title, items, more: hidden }: Section): string {
  return `<h2 style="margin: 16px 0 8px; font-size: 16px">${escapeHtml(title)}</h2>
<ul style="margin: 0 0 8px; padding: 0 0 0 20px">
${items
  .map(
    ({ name, text, url }) =>
      `<li style="margin: 0 0 4px"><a href="${escapeHtml(url)}" style="color: #0969da">${escapeHtml(name)}</a> ${escapeHtml(text)}</li>`,
  )
  .join('\n')}
</ul>
${hidden > 0 ? `<p style="margin: 0 0 8px; ${muted}">${more(hidden)}</p>` : ''}`
}

function linksHtml(links: Link[]): string {
  const anchors = links.map(
    ({ label, url }) => `<a href="${escapeHtml(url)}" style="color: #0969da">${escapeHtml(label)}</a>`,
  )
  return `<p style="margin: 8px 0 0">${anchors.join(' &nbsp;·&nbsp; ')}</p>`
}

function more(count: number): string {
  return `And ${count.toLocaleString('en')} more.`
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}
