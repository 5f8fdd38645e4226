import { type Command, InvalidArgumentError } from 'commander'
import type { Regression, Triage } from '../../../../client/src/index.ts'
import { day, hour } from '../../domain/time.ts'
import { integerArgument } from '../arguments.ts'
import { exitCodes, Failure } from '../failure.ts'
import { remoteCommand, take, withLedger } from './command.ts'
import { formatShares, formatTime } from './figures.ts'
import { styled } from './text.ts'

interface Options {
  owner?: string
  ack?: boolean
  snooze?: number | null
  comment?: string
}

const maxOpen = 1_000

export function triageCommand(program: Command): void {
  remoteCommand(program, 'triage', [
    'promptledger triage 5',
    "promptledger triage 5 --ack --comment 'Looking into it.'",
    'promptledger triage 5 --owner grace@example.com --snooze 3d',
  ])
    .summary('take care of a change that made a prompt worse')
    .description('show who takes care of an open regression, or set the owner, acknowledge, snooze or comment on it')
    .argument('<regression>', "ID of the regression: 'promptledger regressions' lists them", integerArgument)
    .option('--owner <email>', 'who takes care of it; author for the author of the change')
    .option('--ack', 'acknowledge it: alerts about it are not repeated')
    .option('--no-ack', 'take the acknowledgement back')
    .option('--snooze <time>', 'do not repeat alerts for so long, such as 12h or 3d; off ends it', snoozeArgument)
    .option('--comment <text>', 'add a comment')
    .action((id: number, options: Options, command: Command) =>
      withLedger(command, async (ledger, screen) => {
        const { items } = await take(maxOpen, (page) => ledger.regressions.list({ state: 'open', ...page }))
        const found = items.find((each) => each.id === id)
        if (found === undefined) {
          throw new Failure(
            exitCodes.notFound,
            "There is no open regression with this ID. See 'promptledger regressions'.",
          )
        }
        const change = changeOf(options, command.getOptionValueSource('ack') === 'cli')
        if (Object.keys(change).length > 0) await ledger.regressions.update(found.prompt.id, id, change)
        const regression = await ledger.regressions.get(found.prompt.id, id)
        if (screen.json) return screen.value(regression)
        screen.lines([
          styled(
            'bold',
            `${regression.prompt.name}: ${formatShares(regression.rate_before, regression.rate_after)} positive`,
          ),
          `Owner      ${regression.owner ?? '–'}`,
          `State      ${stateOf(regression)}`,
          ...regression.steps.map(
            ({ at, by, action, text }) =>
              `${formatTime(at)}  ${by ?? 'operator'}: ${action}${text === null ? '' : ` ${text}`}`,
          ),
        ])
      }),
    )
}

function changeOf({ owner, ack, snooze, comment }: Options, isAckGiven: boolean): Triage {
  return {
    ...(owner !== undefined && { owner: owner === 'author' ? null : owner }),
    ...(isAckGiven && ack !== undefined && { acknowledged: ack }),
    ...(snooze !== undefined && {
      snoozed_until: snooze === null ? null : new Date(Date.now() + snooze).toISOString(),
    }),
    ...(comment !== undefined && { comment }),
  }
}

function snoozeArgument(text: string): number | null {
  if (text === 'off') return null
  const [, count, unit] = /^([1-9]\d{0,3})([hd])$/.exec(text) ?? []
  if (count === undefined) throw new InvalidArgumentError('Must be hours or days, such as 12h or 3d, or off.')
  return Number(count) * (unit === 'h' ? hour : day)
}

function stateOf({ acknowledged_at: at, acknowledged_by: by, snoozed_until: until }: Regression): string {
  const acknowledged = at === null ? 'open' : `acknowledged by ${by ?? 'operator'}`
  return until === null || Date.parse(until) < Date.now()
    ? acknowledged
    : `${acknowledged}, snoozed until ${formatTime(until)}`
}
