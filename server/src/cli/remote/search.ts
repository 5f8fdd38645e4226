import type { Command } from 'commander'
import type { TextMatch } from '../../../../client/src/index.ts'
import { integerArgument } from '../arguments.ts'
import { formatCount } from '../output.ts'
import { remoteCommand, withLedger } from './command.ts'
import { formatAction, formatDay } from './figures.ts'
import { styled, type Text } from './text.ts'

export function searchCommand(program: Command): void {
  remoteCommand(program, 'search', [
    "promptledger search 'promise a refund'",
    'promptledger search {{customer}} --json',
  ])
    .summary('find a phrase in the texts of all prompts, live or past')
    .description(
      'find a phrase in the texts of all prompts, live or past: when it was live, and the change that brought it. Ignores case and line breaks',
    )
    .argument('<phrase>', 'what to look for')
    .option('-n, --limit <count>', 'how many results', integerArgument, 100)
    .action((phrase: string, { limit }: { limit: number }, command: Command) =>
      withLedger(command, async (ledger, screen) => {
        const matches: TextMatch[] = []
        let cursor: string | undefined
        let [examined, skipped] = [0, 0]
        do {
          const room = Math.min(limit - matches.length, 100)
          const { data, search } = await ledger.versions.search(phrase, { cursor, limit: room })
          matches.push(...data)
          examined += search.examined
          skipped += search.skipped
          cursor = search.cursor ?? undefined
        } while (cursor !== undefined && matches.length < limit)
        matches.sort((a, b) => Number(b.live) - Number(a.live))
        if (screen.json) return screen.value(matches)
        screen.lines(matches.flatMap((match, i) => (i === 0 ? describe(match) : ['', ...describe(match)])))
        if (matches.length === 0) screen.note(`Not found in ${formatCount(examined, 'version')}.`)
        if (skipped > 0)
          screen.note(`${formatCount(skipped, 'version')} could not be searched: git does not have the text.`)
        if (cursor !== undefined) screen.note(`The first ${limit} results. For more: -n ${2 * limit}`)
      }),
    )
}

function describe({
  prompt,
  entry,
  first_entry,
  version_count,
  live,
  live_from,
  live_until,
  excerpt,
}: TextMatch): Text[] {
  const until = live_until === null ? 'now' : formatDay(live_until)
  return [
    [
      styled('bold', prompt.name),
      ' ',
      live ? styled('green', 'live') : styled('dim', 'past'),
      ` ${formatDay(live_from)} to ${until}, ${formatCount(version_count, 'version')}`,
    ],
    [
      'from ',
      styled('yellow', `change ${first_entry.id}`),
      ` ${formatAction(first_entry)} by ${first_entry.user.name}`,
      ...(entry.id === first_entry.id ? [] : [', last in ', styled('yellow', `change ${entry.id}`)]),
    ],
    ['    ', excerpt.before, styled(['bold', 'inverse'], excerpt.match), excerpt.after],
  ]
}
