import type { Command } from 'commander'
import type { HistoryEntryDetails } from '../../../../client/src/index.ts'
import { formatCount } from '../output.ts'
import { remoteCommand, withLedger } from './command.ts'
import { describeChange } from './describe-change.ts'
import { styled, type Text } from './text.ts'
import { findVersion, missingText, textLines, versionHelp } from './version.ts'

export function showCommand(program: Command): void {
  remoteCommand(program, 'show', ['promptledger show 42', 'promptledger show support-reply --text'])
    .summary('show one change: message, figures, explanation and diff')
    .description(
      'show one change of a prompt: its message, its effect on user feedback with the explanation, and what it changed',
    )
    .argument('<version>', versionHelp)
    .option('--text', "print only the prompt's text after the change")
    .action((reference: string, { text = false }: { text?: boolean }, command: Command) =>
      withLedger(command, async (ledger, screen) => {
        const { prompt, entryId } = await findVersion(ledger, reference)
        const [change, details] = await Promise.all([
          ledger.timeline.get(prompt.id, entryId),
          ledger.history.get(prompt.id, entryId),
        ])
        if (screen.json)
          return screen.value({ prompt: { id: prompt.id, name: prompt.name }, ...change, ...textsOf(details) })
        if (text)
          return screen.lines(details.after === null ? [missingText('after', details)] : textLines(details.after))
        const of: Text = ['Prompt: ', styled('bold', prompt.name)]
        const [head, ...rest] = describeChange(change, screen.textWidth) as [Text, ...Text[]]
        screen.lines([head, of, ...pullOf(details), ...rest, ...hiddenOf(details), '', ...(await diffOf(details))])
      }),
    )
}

function textsOf({ before, after, before_state, after_state, patch, hidden_characters }: HistoryEntryDetails) {
  return { before, after, before_state, after_state, patch, hidden_characters }
}

function pullOf({ pr_url: url }: HistoryEntryDetails): Text[] {
  return url === null ? [] : [`Pull:   ${url}`]
}

function hiddenOf({ hidden_characters: hidden }: HistoryEntryDetails): Text[] {
  if (hidden === null || !hidden.added) return []
  const count = formatCount(hidden.added_count, 'hidden character')
  return ['', styled('yellow', `This change added ${count}, printed below as escapes such as \\u{202e}.`)]
}

async function diffOf(details: HistoryEntryDetails): Promise<Text[]> {
  const { before, after, before_state, after_state, patch } = details
  for (const side of ['before', 'after'] as const) {
    const state = side === 'before' ? before_state : after_state
    if (state !== 'available' && state !== 'absent') return [missingText(side, details)]
  }
  if (before === after) return ['The text did not change.']
  const { diffTexts } = await import('./text-diff.ts')
  return (
    diffTexts(before ?? '', after ?? '') ??
    (patch === null ? ['The texts differ too much to compare.'] : patchLines(patch))
  )
}

const colours = { '+': 'green', '-': 'red', '@': 'cyan' } as const

function patchLines(patch: string): Text[] {
  return textLines(patch).map((line) => {
    const colour = colours[String(line)[0] as keyof typeof colours]
    return colour === undefined ? line : styled(colour, String(line))
  })
}
