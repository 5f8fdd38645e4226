import type { Command } from 'commander'
import type { ChangeImpact } from '../../../../client/src/index.ts'
import { integerArgument, timeArgument } from '../arguments.ts'
import { formatNumber } from '../output.ts'
import { noteRest, remoteCommand, take, withLedger } from './command.ts'
import {
  formatAction,
  formatDay,
  formatDifference,
  formatJudges,
  formatRated,
  formatShares,
  verdictText,
} from './figures.ts'
import { findPrompt, promptHelp } from './find-prompt.ts'
import { columns, styled, type Text, wrap } from './text.ts'

interface Options {
  limit: number
  asOf?: string
  by?: string
}

export function impactCommand(program: Command): void {
  remoteCommand(program, 'impact', [
    'promptledger impact support-reply',
    'promptledger impact support-reply --by metadata.model -n 1',
  ])
    .summary('show which changes of a prompt helped or hurt')
    .description('show the changes that went live, newest first, each with the user feedback before and after it')
    .argument('<prompt>', promptHelp)
    .option('-n, --limit <count>', 'how many', integerArgument, 10)
    .option('--as-of <time>', 'what was known on this day, or at this time', timeArgument)
    .option('--by <segment>', 'also by segment of the newest change, such as metadata.model')
    .action((reference: string, { limit, asOf, by }: Options, command: Command) =>
      withLedger(command, async (ledger, screen) => {
        const prompt = await findPrompt(ledger, reference)
        const { items, total } = await take(limit, (page) =>
          ledger.impact.list(prompt.id, { as_of: asOf, by, ...page }),
        )
        if (screen.json) return screen.value(items)
        if (total === 0) return screen.note(`No change of ${prompt.name} went live yet.`)
        screen.lines(impactTable(items, screen.width))
        const [newest] = items
        if (newest !== undefined)
          screen.lines(['', ...explanationOf(newest, screen.textWidth), ...segmentsOf(newest, screen.width)])
        noteRest(screen, items, total, 'change')
      }),
    )
}

function impactTable(items: ChangeImpact[], width: number | null): Text[] {
  const heads = [
    { title: 'CHANGE' },
    { title: 'LIVE FROM' },
    { title: 'WHAT' },
    { title: 'EFFECT' },
    { title: 'POSITIVE' },
    { title: 'DIFFERENCE', optional: true },
    { title: 'SIGNALS', align: 'right' as const },
    { title: 'AUTHOR', flexible: true, optional: true },
  ]
  const rows = items.map(({ entry, live_from, before, after, difference, interval, ...judged }): Text[] => [
    styled('yellow', String(entry.id)),
    formatDay(live_from),
    formatAction(entry),
    verdictText(judged),
    formatShares(before.rate, after.rate),
    formatDifference({ difference, interval }) || '–',
    formatNumber(after.positive + after.negative),
    entry.user.name,
  ])
  return columns(heads, rows, width)
}

function explanationOf({ entry, explanation, ...impact }: ChangeImpact, width: number): Text[] {
  const lines = [`${explanation} ${formatRated(impact)}`.trim(), formatJudges(impact)].filter(Boolean)
  return wrap(`Change ${entry.id}: ${lines.join(' ')}`, width)
}

function segmentsOf({ segments }: ChangeImpact, width: number | null): Text[] {
  if (segments == null) return []
  const heads = [
    { title: segments.key.toUpperCase(), flexible: true },
    { title: 'EFFECT' },
    { title: 'POSITIVE' },
    { title: 'SIGNALS', align: 'right' as const },
  ]
  const rows = segments.values.map(({ value, other, before, after, verdict }): Text[] => [
    other ? '(other)' : (value ?? '(none)'),
    verdictText({ verdict }),
    formatShares(before.rate, after.rate),
    formatNumber(after.positive + after.negative),
  ])
  return ['', ...columns(heads, rows, width)]
}
