import type { HistoryEntry, TimelineEntry } from '../../../../client/src/index.ts'
import { formatAction, formatDifference, formatEffect, formatTime, shortCommit, verdictText } from './figures.ts'
import { styled, type Text, wrap } from './text.ts'

/** One change like an entry of `git log`, with its figures. */
export function describeChange({ entry, message, impact, pull }: TimelineEntry, width: number): Text[] {
  const lines: Text[] = [
    [styled('yellow', `change ${entry.id}`), ` ${formatAction(entry)} ${shortCommit(entry)}`],
    `Author: ${entry.user.name} <${entry.user.email}>`,
    `Date:   ${formatTime(entry.created_at)} UTC${openedOn(entry, pull)}`,
  ]
  if (impact !== null) {
    const until = impact.live_until === null ? 'now' : formatTime(impact.live_until)
    lines.push(`Live:   ${formatTime(impact.live_from)} to ${until}`)
    const difference = formatDifference(impact)
    lines.push(['Effect: ', verdictText(impact), `, ${formatEffect(impact)}${difference && `, ${difference}`}`])
  }
  if (message !== null) lines.push('', ...indented(message.trimEnd().split('\n')))
  if (impact !== null) lines.push('', ...indented(wrap(impact.explanation, width - indent.length)))
  return lines
}

function openedOn(entry: HistoryEntry, pull: TimelineEntry['pull']): string {
  const opened = pull?.opened ?? null
  return opened === null || opened.entry_id === entry.id ? '' : `, opened ${formatTime(opened.created_at)}`
}

const indent = '    '

function indented(lines: string[]): string[] {
  return lines.map((line) => (line === '' ? '' : `${indent}${line}`))
}
