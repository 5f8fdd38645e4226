import { type Command, InvalidArgumentError } from 'commander'
import type { Prompt, Promptledger, Signal } from '../../../../client/src/index.ts'
import { exitCodes, Failure } from '../failure.ts'
import { remoteCommand, withLedger } from './command.ts'
import { formatTime } from './figures.ts'
import { findPrompt, promptHelp } from './find-prompt.ts'
import { followSignals, lastSignals } from './follow-signals.ts'
import type { Screen } from './screen.ts'
import { styled, type Text } from './text.ts'

interface Options {
  lines: number
  follow: boolean
}

const maxLines = 1_000

export function signalsCommands(program: Command): void {
  const signals = program.command('signals').description("show a prompt's signals")
  remoteCommand(signals, 'tail', [
    'promptledger signals tail support-reply',
    'promptledger signals tail support-reply -n 100 --no-follow --json',
  ])
    .summary('print the newest signals, and new ones as they arrive')
    .description(
      'print the newest signals, the last one at the bottom, and new ones as they arrive, until Ctrl-C. With --json: one object per line',
    )
    .argument('<prompt>', promptHelp)
    .option('-n, --lines <count>', `how many to start with, up to ${maxLines}`, countArgument, 10)
    .option('--no-follow', 'stop after these')
    .action((reference: string, options: Options, command: Command) =>
      withLedger(command, async (ledger, screen) => {
        const prompt = await findPrompt(ledger, reference)
        await tail(ledger, screen, prompt, options)
      }),
    )
}

function countArgument(text: string): number {
  const count = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN
  if (!(count <= maxLines)) throw new InvalidArgumentError(`Must be a number from 0 to ${maxLines}.`)
  return count
}

async function tail(ledger: Promptledger, screen: Screen, prompt: Prompt, { lines, follow }: Options): Promise<void> {
  const show = (signals: Signal[]) => {
    if (screen.json) for (const signal of signals) screen.value(signal)
    else if (signals.length > 0) screen.lines(signals.map(signalLine))
  }
  const newest = await lastSignals(ledger, prompt.id, lines)
  show(newest)
  if (!follow) return
  const stop = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort())
  await followSignals({ ledger, promptId: prompt.id, known: newest, signal: stop.signal, show, note: screen.note })
  throw new Failure(exitCodes.interrupted, '')
}

/** Time, vote, version and comment of a signal. */
function signalLine({ value, created_at, version, comment, metadata }: Signal): Text {
  const vote = value === 'positive' ? styled('green', '+ positive') : styled('red', '- negative')
  return [
    styled('dim', formatTime(created_at).concat(created_at.slice(16, 19))),
    ' ',
    vote,
    version === null ? '' : ['  ', styled('yellow', String(version).slice(0, 12))],
    comment === null ? '' : `  ${comment}`,
    metadata === null ? '' : ['  ', styled('dim', JSON.stringify(metadata))],
  ]
}
