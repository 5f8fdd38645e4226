import type { Command } from 'commander'
import type { HistoryEntryDetails, Promptledger, TimelineEntry } from '../../../../client/src/index.ts'
import { exitCodes, Failure } from '../failure.ts'
import { formatNumber } from '../output.ts'
import { remoteCommand, withLedger } from './command.ts'
import { formatAction, formatDay, formatShare, shareOf } from './figures.ts'
import { paint, styled, type Text } from './text.ts'
import { findVersion, missingText, type Version, versionHelp } from './version.ts'

export function diffCommand(program: Command): void {
  remoteCommand(program, 'diff', ['promptledger diff 17 19', 'promptledger diff support-reply@35871e5b5d'])
    .summary('compare two versions of a prompt')
    .description('show what differs between two versions of a prompt, word by word, with the user feedback on each')
    .argument('<a>', versionHelp)
    .argument('[b]', 'the version to compare it with (default: the live one of the same prompt)')
    .action((a: string, b: string | undefined, _options: object, command: Command) =>
      withLedger(command, async (ledger, screen) => {
        const first = await findVersion(ledger, a)
        const second = await findVersion(ledger, b ?? `${first.prompt.id}@live`, first.prompt)
        const [from, to] = await Promise.all([readVersion(ledger, first), readVersion(ledger, second)])
        if (screen.json) return screen.value({ a: toJson(first, from), b: toJson(second, to) })
        const { diffTexts } = await import('./text-diff.ts')
        const lines = textOf(from) === textOf(to) ? ['The texts are the same.'] : diffTexts(textOf(from), textOf(to))
        if (lines === null)
          throw new Failure(
            exitCodes.failed,
            "The texts differ too much to compare. See 'promptledger show <version> --text'.",
          )
        screen.lines([headOf('-', first, from), headOf('+', second, to), ...lines])
      }),
    )
}

interface ReadVersion {
  change: TimelineEntry
  details: HistoryEntryDetails
}

async function readVersion(ledger: Promptledger, { prompt, entryId }: Version): Promise<ReadVersion> {
  const [change, details] = await Promise.all([
    ledger.timeline.get(prompt.id, entryId),
    ledger.history.get(prompt.id, entryId),
  ])
  const { after_state: state } = details
  if (state !== 'available' && state !== 'absent') {
    throw new Failure(exitCodes.notFound, `Change ${entryId}: ${paint(missingText('after', details), false)}`)
  }
  return { change, details }
}

function textOf({ details }: ReadVersion): string {
  return details.after ?? ''
}

function headOf(sign: '-' | '+', { prompt }: Version, { change: { entry, impact } }: ReadVersion): Text {
  const what = `change ${entry.id} of ${prompt.name}, ${formatAction(entry)} by ${entry.user.name}, ${formatDay(entry.created_at)}`
  const figures =
    impact === null
      ? ''
      : `: ${formatShare(shareOf(impact.after))} of ${formatNumber(impact.after.positive + impact.after.negative)} signals positive`
  return styled('bold', `${sign.repeat(3)} ${what}${figures}`)
}

function toJson({ prompt }: Version, { change, details }: ReadVersion) {
  return {
    prompt: { id: prompt.id, name: prompt.name },
    ...change,
    text: details.after,
    text_state: details.after_state,
  }
}
