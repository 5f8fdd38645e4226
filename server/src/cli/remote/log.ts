import type { Command } from 'commander'
import type { HistoryEntry, Prompt, Promptledger, TimelineEntry } from '../../../../client/src/index.ts'
import { integerArgument, timeArgument } from '../arguments.ts'
import { noteRest, remoteCommand, take, withLedger } from './command.ts'
import { describeChange } from './describe-change.ts'
import { formatAction, formatDay, formatShares, formatTime, shortCommit, titleOf, verdictText } from './figures.ts'
import { findPrompt, promptHelp } from './find-prompt.ts'
import type { Screen } from './screen.ts'
import { styled, type Text } from './text.ts'

interface Options {
  limit: number
  oneline?: boolean
  all?: boolean
  since?: string
  until?: string
}

export function logCommand(program: Command): void {
  remoteCommand(program, 'log', ['promptledger log support-reply -n 5', 'promptledger log --oneline'])
    .summary("show a prompt's changes, or the newest change of every prompt")
    .description(
      "show a prompt's changes with their effect on user feedback, newest first. Without a prompt: the last change that went live of each",
    )
    .argument('[prompt]', promptHelp)
    .option('-n, --limit <count>', 'how many', integerArgument, 20)
    .option('--oneline', 'one line for each change')
    .option('--all', 'also the opening of each pull request that was merged or closed')
    .option('--since <time>', 'only changes since this day or time', timeArgument)
    .option('--until <time>', 'only changes before this day or time', timeArgument)
    .action((reference: string | undefined, options: Options, command: Command) =>
      withLedger(command, async (ledger, screen) => {
        if (reference === undefined) return logOfAll(ledger, screen, options)
        const prompt = await findPrompt(ledger, reference)
        await logOfPrompt(ledger, screen, prompt, options)
      }),
    )
}

async function logOfPrompt(ledger: Promptledger, screen: Screen, prompt: Prompt, options: Options): Promise<void> {
  const { limit, oneline = false, all = false, since, until } = options
  const { items, total } = await take(limit, (page) =>
    ledger.timeline.list(prompt.id, { since, until, pulls: all ? 'all' : 'outcome', ...page }),
  )
  if (screen.json) return screen.value(items)
  if (total === 0) return screen.note(`${prompt.name} has no changes${since || until ? ' in this time' : ' yet'}.`)
  const blocks = oneline
    ? items.map((item) => [oneLine(item)])
    : items.map((item) => describeChange(item, screen.textWidth))
  screen.lines(blocks.flatMap((lines, i) => (i === 0 || oneline ? lines : ['', ...lines])))
  noteRest(screen, items, total, 'change')
}

function oneLine({ entry, message, impact }: TimelineEntry): Text {
  const effect: Text =
    impact === null ? [] : [' ', verdictText(impact), ` ${formatShares(impact.before.rate, impact.after.rate)}`]
  return [
    styled('yellow', String(entry.id)),
    ` ${formatDay(entry.created_at)} ${formatAction(entry)}`,
    effect,
    ` ${titleOf(message)}`,
  ]
}

async function logOfAll(
  ledger: Promptledger,
  screen: Screen,
  { limit, oneline = false, since, until }: Options,
): Promise<void> {
  if (since !== undefined || until !== undefined) screen.note('--since and --until apply to the log of one prompt.')
  const { items, total } = await take(limit, (page) => ledger.prompts.list({ sort: '-last_change', ...page }))
  const changed = items.filter(hasChange)
  if (screen.json) return screen.value(changed)
  if (changed.length === 0) return screen.note('No changes yet.')
  const width = Math.max(...changed.map(({ name }) => name.length))
  screen.lines(
    changed
      .flatMap((prompt) => (oneline ? [lastChangeLine(prompt, width)] : [...lastChange(prompt), '']))
      .slice(0, oneline ? undefined : -1),
  )
  noteRest(screen, items, total, 'prompt')
}

type ChangedPrompt = Prompt & { last_change: HistoryEntry }

function hasChange(prompt: Prompt): prompt is ChangedPrompt {
  return prompt.last_change !== null
}

function lastChangeLine({ name, last_change: entry, verdict, first_version }: ChangedPrompt, width: number): Text {
  return [
    styled('yellow', String(entry.id)),
    ` ${formatDay(entry.created_at)} `,
    styled('bold', name.padEnd(width)),
    ` ${formatAction(entry)} by ${entry.user.name} `,
    verdict === null ? '' : verdictText({ verdict, first_version }),
  ]
}

function lastChange({ name, last_change: entry, verdict, first_version, regression }: ChangedPrompt): Text[] {
  const lines: Text[] = [
    [
      styled('yellow', `change ${entry.id}`),
      ' of ',
      styled('bold', name),
      ` ${formatAction(entry)} ${shortCommit(entry)}`,
    ],
    `Author: ${entry.user.name} <${entry.user.email}>`,
    `Date:   ${formatTime(entry.created_at)} UTC`,
  ]
  if (verdict !== null) lines.push(['Effect: ', verdictText({ verdict, first_version })])
  if (regression !== null) {
    const shares = formatShares(regression.rate_before, regression.rate_after)
    lines.push(['Open regression: ', styled('red', shares), ` since change ${regression.change.id}`])
  }
  return lines
}
