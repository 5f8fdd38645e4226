import { type Command, InvalidArgumentError } from 'commander'
import type { Promptledger, RegressionDetails, Shift, ShiftDetails, Triage } from '../../../../client/src/index.ts'
import { isShiftId } from '../../domain/shifts/shift.ts'
import { day, hour } from '../../domain/time.ts'
import { exitCodes, Failure } from '../failure.ts'
import { remoteCommand, take, withLedger } from './command.ts'
import { formatShares, formatTime } from './figures.ts'
import { type ChangeReference, changeReference, findRegression } from './find-regression.ts'
import { styled } from './text.ts'

interface Options {
  prompt?: string
  owner?: string
  ack?: boolean
  snooze?: number | null
  comment?: string
  dismiss?: string
}

const maxOpen = 1_000

export function triageCommand(program: Command): void {
  remoteCommand(program, 'triage', [
    'promptledger triage 5',
    "promptledger triage 5 --ack --comment 'Looking into it.'",
    "promptledger triage '#41' --owner grace@example.com --snooze 3d",
    "promptledger triage shf_5f1c0a7be92d4c3388d1e6aa --dismiss 'New users joined that day.'",
  ])
    .summary('take care of a change that made a prompt worse, or of an unexplained shift')
    .description(
      'show who takes care of an open regression or an unexplained shift, or set the owner, acknowledge, snooze, dismiss or comment on it',
    )
    .argument(
      '<subject>',
      "number of the pull request, ID of the regression or of the change, or its commit; or ID of a shift: 'promptledger regressions' lists them",
      subjectArgument,
    )
    .option('--prompt <prompt>', 'of this prompt, if the change made several worse: its ID, name or path')
    .option('--owner <email>', 'who takes care of it; author for the author of the change')
    .option('--ack', 'acknowledge it: alerts about it are not repeated')
    .option('--no-ack', 'take the acknowledgement back')
    .option('--snooze <time>', 'do not repeat alerts for so long, such as 12h or 3d; off ends it', snoozeArgument)
    .option('--comment <text>', 'add a comment')
    .option('--dismiss <reason>', 'close it, because it was expected')
    .action((subject: Subject, options: Options, command: Command) =>
      withLedger(command, async (ledger, screen) => {
        const { update, dismiss, get } = await find(ledger, subject, options.prompt)
        const change = changeOf(options, command.getOptionValueSource('ack') === 'cli')
        if (Object.keys(change).length > 0) await update(change)
        if (options.dismiss !== undefined) await dismiss(options.dismiss)
        const found = await get()
        if (screen.json) return screen.value(found)
        screen.lines([
          styled('bold', `${found.prompt.name}: ${formatShares(found.rate_before, found.rate_after)} positive`),
          `Owner      ${found.owner ?? '–'}`,
          `State      ${stateOf(found)}`,
          ...found.steps.map(
            ({ at, by, action, text }) =>
              `${formatTime(at)}  ${by ?? 'operator'}: ${action}${text === null ? '' : ` ${text}`}`,
          ),
        ])
      }),
    )
}

type Subject = ChangeReference | { shift: string }

function subjectArgument(text: string): Subject {
  return isShiftId(text) ? { shift: text } : changeReference(text)
}

/** What can be done about a regression or a shift. */
interface Triaged {
  update(change: Triage): Promise<unknown>
  dismiss(note: string): Promise<unknown>
  get(): Promise<RegressionDetails | ShiftDetails>
}

interface Resource<Id> {
  update(promptId: string, id: Id, change: Triage): Promise<unknown>
  dismiss(promptId: string, id: Id, body: { note: string }): Promise<unknown>
  get(promptId: string, id: Id): Promise<RegressionDetails | ShiftDetails>
}

function triaged<Id>(resource: Resource<Id>, promptId: string, id: Id): Triaged {
  return {
    update: (change) => resource.update(promptId, id, change),
    dismiss: (note) => resource.dismiss(promptId, id, { note }),
    get: () => resource.get(promptId, id),
  }
}

async function find(ledger: Promptledger, subject: Subject, named: string | undefined): Promise<Triaged> {
  if ('shift' in subject) {
    return triaged(ledger.shifts, (await findShift(ledger, subject.shift)).prompt.id, subject.shift)
  }
  const { prompt, id } = await findRegression(ledger, subject, named)
  return triaged(ledger.regressions, prompt.id, id)
}

async function findShift(ledger: Promptledger, id: string): Promise<Shift> {
  const { items } = await take(maxOpen, (page) => ledger.shifts.list({ state: 'open', ...page }))
  const shift = items.find((each) => each.id === id)
  if (shift !== undefined) return shift
  throw new Failure(exitCodes.notFound, "There is no open shift with this ID. See 'promptledger regressions'.")
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

function stateOf(found: RegressionDetails | ShiftDetails): string {
  const { state, note, acknowledged_at: at, acknowledged_by: by, snoozed_until: until } = found
  if (state !== 'open') return `${state ?? 'explained'}${note === null ? '' : `: ${note}`}`
  const acknowledged = at === null ? 'open' : `acknowledged by ${by ?? 'operator'}`
  return until === null || Date.parse(until) < Date.now()
    ? acknowledged
    : `${acknowledged}, snoozed until ${formatTime(until)}`
}
