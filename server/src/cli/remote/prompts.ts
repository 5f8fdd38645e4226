import { type Command, Option } from 'commander'
import type { Prompt, PromptSort } from '../../../../client/src/index.ts'
import { promptSorts } from '../../domain/prompt.ts'
import { integerArgument } from '../arguments.ts'
import { formatNumber } from '../output.ts'
import { noteRest, remoteCommand, take, withLedger } from './command.ts'
import { formatDay, formatShare, formatShares, shareOf, verdictText } from './figures.ts'
import { type Column, columns, styled, type Text } from './text.ts'

interface Options {
  sort: PromptSort
  limit: number
}

export function promptsCommand(program: Command): void {
  remoteCommand(program, 'prompts', [
    'promptledger prompts support',
    'promptledger prompts --sort positive_share -n 10',
  ])
    .summary('list prompts with their figures')
    .description('list prompts with the effect of their last change, their open regression, and the signals of 30 days')
    .argument('[search]', 'part of the name or path')
    .addOption(
      new Option('--sort <key>', 'with - for descending order; regression: the worst first')
        .choices(promptSorts.flatMap((sort) => [sort, `-${sort}`]))
        .default('regression'),
    )
    .option('-n, --limit <count>', 'how many', integerArgument, 100)
    .action((search: string | undefined, { sort, limit }: Options, command: Command) =>
      withLedger(command, async (ledger, screen) => {
        const { items, total } = await take(limit, (page) => ledger.prompts.list({ q: search, sort, ...page }))
        if (screen.json) return screen.value(items)
        if (total === 0) {
          return screen.note(search === undefined ? 'No prompts yet.' : `No prompt matches "${search}".`)
        }
        screen.lines(promptTable(items, screen.width))
        noteRest(screen, items, total, 'prompt')
      }),
    )
}

const idColumn: Column = { title: 'ID' }
// Below this width, the name needs the room.
const minWidthForIds = 110

function promptTable(prompts: Prompt[], width: number | null): Text[] {
  const heads: Column[] = [
    { title: 'PROMPT', flexible: true },
    { title: 'LAST CHANGE', optional: true },
    { title: 'EFFECT' },
    { title: 'OPEN REGRESSION' },
    { title: 'POSITIVE', align: 'right' },
    { title: 'SIGNALS', align: 'right' },
  ]
  const showIds = width === null || width >= minWidthForIds
  const rows = prompts.map((prompt) => [...cellsOf(prompt), ...(showIds ? [styled('dim', prompt.id)] : [])])
  return columns(showIds ? [...heads, idColumn] : heads, rows, width)
}

function cellsOf({ name, last_change: last, verdict, first_version, regression, signals }: Prompt): Text[] {
  return [
    styled('bold', name),
    last === null ? '–' : formatDay(last.created_at),
    verdict === null ? '–' : verdictText({ verdict, first_version }),
    regression === null ? '–' : styled('red', formatShares(regression.rate_before, regression.rate_after)),
    formatShare(shareOf(signals)),
    formatNumber(signals.positive + signals.negative),
  ]
}
