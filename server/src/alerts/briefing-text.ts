import type { BriefingMessage } from '../domain/alerts/message.ts'
import type { AddedHidden, BriefedFile, BriefedPrompt, BroughtBack, JudgedEntry } from '../domain/briefings/briefing.ts'
import type { HistoryEntry } from '../domain/history/entry.ts'
import { percent } from '../domain/impact/model/explanation.ts'
import { rateOf, type Verdict } from '../domain/impact/model/verdict.ts'
import { countOf } from '../domain/signals/tally.ts'
import { linkToChange, linkToPrompt } from './links.ts'
import { code, count, points, referenceTo } from './pull-comment-text.ts'
import { timeOf } from './text.ts'

const maxNameLength = 80

/** What reviewers should know before they merge. Words of others are in code spans only. */
export function briefingText(message: BriefingMessage, publicUrl: string, marker: string, maxLength: number): string {
  for (let fileCount = message.files.length; ; fileCount--) {
    const text = textWith(fileCount, message, publicUrl, marker)
    if (text.length <= maxLength || fileCount <= 1) return text
  }
}

function textWith(fileCount: number, message: BriefingMessage, publicUrl: string, marker: string): string {
  const { at, commitSha } = message
  const files = message.files.slice(0, fileCount)
  const more = message.more + message.files.length - files.length
  const rows = files.flatMap(({ prompt, isDeleted }) => (prompt === null ? [] : [rowOf(prompt, isDeleted, publicUrl)]))
  const found = files.flatMap((file) => findingsOf(file, publicUrl).map((text) => `- ${nameOf(file)} ${text}`))
  const table = ['| Prompt | Positive, 30 days | Signals a day | Days until a verdict |', '|---|---|---|---|', ...rows]
  return [
    `**Promptledger: before you merge**`,
    ...(files.length === 0 ? ['This pull request no longer changes prompts.'] : []),
    ...(rows.length === 0 ? [] : [table.join('\n')]),
    ...(found.length === 0 ? [] : [found.join('\n')]),
    ...(more > 0 ? [`And ${count(more, 'more file')} of prompts, which are not shown.`] : []),
    ...(rows.length === 0
      ? []
      : ['Rates are the share of positive signals. Days are estimates at the traffic of the last 14 days.']),
    `_About ${code(commitSha.slice(0, 7), 7)}. Promptledger edits this comment after a push, most recently at ${timeOf(at)}._`,
    marker,
  ].join('\n\n')
}

function nameOf({ prompt, path }: BriefedFile): string {
  return code(prompt?.prompt.name ?? path, maxNameLength)
}

function rowOf({ prompt, signals, votesPerDay, waits }: BriefedPrompt, isDeleted: boolean, publicUrl: string): string {
  const rate = rateOf(signals)
  const cells = [
    `[${code(prompt.name, maxNameLength)}](${linkToPrompt(prompt, publicUrl).url})`,
    rate === null ? 'no signals' : `${percent(rate)} of ${countOf(signals).toLocaleString('en')}`,
    votesPerDay < 10 ? votesPerDay.toFixed(1) : Math.round(votesPerDay).toLocaleString('en'),
    isDeleted ? 'deleted' : votesPerDay === 0 ? '–' : waits.map(waitOf).join(', '),
  ]
  return `| ${cells.join(' | ')} |`
}

function waitOf({ difference, days }: BriefedPrompt['waits'][number]): string {
  const when = days === null ? 'more than a year' : `about ${Math.max(1, Math.round(days)).toLocaleString('en')}`
  return `${when} for ${Math.round(100 * difference)} points`
}

/** What to look at, the most important first. */
function findingsOf({ prompt, hidden, isDeleted }: BriefedFile, publicUrl: string): string[] {
  const told = prompt === null ? [] : [...broughtBackOf(prompt, publicUrl), ...earlierOf(prompt, publicUrl)]
  if (hidden === null) return [...told, 'is too large or binary, so it was not examined.']
  return [...hiddenOf(hidden), ...told, ...(prompt === null && !isDeleted ? ['is new.'] : [])]
}

function hiddenOf({ kinds, lines }: AddedHidden): string[] {
  if (kinds.length === 0) return []
  return [`**gets hidden characters**: ${kinds.join(', ')}, first in line ${lines.join(', ')}.`]
}

function broughtBackOf({ broughtBack, prompt }: BriefedPrompt, publicUrl: string): string[] {
  return broughtBack.map(({ change, revertedBy, lines }: BroughtBack) => {
    const what = lines === null ? 'the text' : count(lines, 'line')
    const by = linkTo(revertedBy, prompt, publicUrl)
    return `**brings back ${what}** of ${judgedText(change, prompt, publicUrl)}, which ${by} took back.`
  })
}

function earlierOf({ earlier, prompt }: BriefedPrompt, publicUrl: string): string[] {
  if (earlier.length === 0) return []
  return [`changes lines of ${earlier.map((change) => judgedText(change, prompt, publicUrl)).join(', ')}.`]
}

const verdictTexts: Record<Verdict, string> = {
  better: 'better',
  worse: '**worse**',
  unexplained: 'unexplained difference',
  no_difference_seen: 'no clear difference',
  too_little_data: 'not enough data',
}

function judgedText(
  { entry, verdict, difference }: JudgedEntry,
  prompt: BriefedPrompt['prompt'],
  publicUrl: string,
): string {
  const isKnown = difference !== null && verdict !== 'too_little_data'
  const range = isKnown ? `, ${points(difference.interval[0])} to ${points(difference.interval[1])} points` : ''
  return `${linkTo(entry, prompt, publicUrl)} (${verdict === null ? 'nothing to compare it with' : verdictTexts[verdict]}${range})`
}

function linkTo(entry: HistoryEntry, prompt: BriefedPrompt['prompt'], publicUrl: string): string {
  return `[${referenceTo(entry)}](${linkToChange({ prompt, entryId: entry.id }, publicUrl).url})`
}
