import { type Command, Option } from 'commander'
import type { Regression, RegressionState, Shift } from '../../../../client/src/index.ts'
import { regressionStates } from '../../domain/regressions/regression.ts'
import { day } from '../../domain/time.ts'
import { integerArgument } from '../arguments.ts'
import { noteRest, remoteCommand, take, withLedger } from './command.ts'
import { formatAction, formatDay, formatShares } from './figures.ts'
import { findPrompt } from './find-prompt.ts'
import { columns, styled, type Text } from './text.ts'

const unexplainedForMs = 31 * day

interface Options {
  state: RegressionState | 'all'
  limit: number
}

export function regressionsCommand(program: Command): void {
  remoteCommand(program, 'regressions', [
    'promptledger regressions',
    'promptledger regressions support-reply --state all',
  ])
    .summary('list the changes that made prompts worse')
    .description(
      'list the changes that made prompts worse, the last one found first, and recent losses that no single change explains',
    )
    .argument('[prompt]', 'only of this prompt: its ID, name or path, or a part that only one prompt has')
    .addOption(new Option('--state <state>', 'which of them').choices([...regressionStates, 'all']).default('open'))
    .option('-n, --limit <count>', 'how many', integerArgument, 100)
    .action((reference: string | undefined, { state, limit }: Options, command: Command) =>
      withLedger(command, async (ledger, screen) => {
        const prompt = reference === undefined ? null : await findPrompt(ledger, reference)
        const filter = state === 'all' ? {} : { state }
        const { items, total } = await take(limit, (page) =>
          prompt === null
            ? ledger.regressions.list({ ...filter, ...page })
            : ledger.regressions.listOfPrompt(prompt.id, { ...filter, ...page }),
        )
        if (screen.json) return screen.value(items)
        if (total === 0) {
          screen.note(
            `No ${state === 'all' ? '' : `${state} `}regressions${prompt === null ? '' : ` of ${prompt.name}`}.`,
          )
        } else {
          screen.lines(regressionTable(items, screen.width))
          noteRest(screen, items, total, 'regression')
        }
        if (state !== 'open') return
        const foundSince = new Date(Date.now() - unexplainedForMs).toISOString()
        const query = { cause: 'unexplained', state: 'open', found_since: foundSince, limit: 20 } as const
        const shifts =
          prompt === null ? await ledger.shifts.list(query) : await ledger.shifts.listOfPrompt(prompt.id, query)
        screen.lines(unexplainedFalls(shifts.data))
      }),
    )
}

/** Losses that no single change explains, if there are any. */
function unexplainedFalls(shifts: Shift[]): Text[] {
  const falls = shifts.filter(({ rate_before, rate_after }) => rate_after < rate_before)
  if (falls.length === 0) return []
  return [
    '',
    'Unexplained in the last 31 days:',
    ...falls.map(({ id, prompt, explanation }) => `${id}  ${prompt.name}: ${explanation}`),
  ]
}

function regressionTable(items: Regression[], width: number | null): Text[] {
  const heads = [
    { title: 'ID' },
    { title: 'PROMPT', flexible: true },
    { title: 'STATE' },
    { title: 'POSITIVE' },
    { title: 'SINCE' },
    { title: 'CHANGE' },
    { title: 'WHAT' },
    { title: 'AUTHOR', optional: true },
  ]
  const rows = items.map(({ id, prompt, state, rate_before, rate_after, live_from, opened_at, change }): Text[] => [
    String(id),
    styled('bold', prompt.name),
    state === 'open' ? styled('red', state) : state,
    formatShares(rate_before, rate_after),
    formatDay(live_from ?? opened_at),
    styled('yellow', String(change.id)),
    formatAction(change),
    change.user.name,
  ])
  return columns(heads, rows, width)
}
