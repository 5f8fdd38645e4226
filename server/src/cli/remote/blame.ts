import type { Command } from 'commander'
import type { Blame, BlameState } from '../../../../client/src/index.ts'
import { exitCodes, Failure } from '../failure.ts'
import { remoteCommand, withLedger } from './command.ts'
import { formatDay } from './figures.ts'
import { cut, styled, type Text, widthOf } from './text.ts'
import { findVersion, textLines, versionHelp } from './version.ts'

export function blameCommand(program: Command): void {
  remoteCommand(program, 'blame', ['promptledger blame support-reply', 'promptledger blame 42'])
    .summary('show which change wrote each line of a prompt')
    .description(
      'show the text of a version, and for each line the change that wrote it last: number, date, author and pull request',
    )
    .argument('<version>', versionHelp)
    .action((reference: string, _options: object, command: Command) =>
      withLedger(command, async (ledger, screen) => {
        const { prompt, entryId } = await findVersion(ledger, reference)
        const blame = await ledger.versions.blame(prompt.id, { entry: entryId })
        if (screen.json) return screen.value({ prompt: { id: prompt.id, name: prompt.name }, ...blame })
        if (blame.content === null)
          throw new Failure(exitCodes.notFound, `Change ${entryId}: ${reasonOf(blame.state)}.`)
        screen.lines(blamedLines(blame, blame.content))
      }),
    )
}

const reasons: Record<Exclude<BlameState, 'available'>, string> = {
  absent: 'it deleted the file',
  too_large: 'the text is too large to blame',
  binary: 'the file is not a text',
  not_landed: 'it is not on the default branch',
  unavailable: 'git does not have its text',
}

function reasonOf(state: BlameState): string {
  // A newer service may know further states.
  return reasons[state as keyof typeof reasons] ?? state
}

const maxAuthorWidth = 18

function blamedLines({ lines, entries }: Blame, content: string): Text[] {
  const known = new Map(entries.map(({ entry }) => [entry.id, entry]))
  const rows = lines.flatMap(({ start, end, entry_id, commit_sha }) => {
    const entry = entry_id === null ? undefined : known.get(entry_id)
    const cells =
      entry === undefined
        ? [commit_sha.slice(0, 8), '', '(earlier)', '']
        : [
            String(entry.id),
            formatDay(entry.created_at),
            cut(entry.user.name, maxAuthorWidth),
            entry.pr_number === null ? '' : `#${entry.pr_number}`,
          ]
    return Array.from({ length: end - start + 1 }, () => cells)
  })
  const widths = [0, 1, 2, 3].map((i) => rows.reduce((widest, cells) => Math.max(widest, widthOf(cells[i] ?? '')), 0))
  const texts = textLines(content)
  const digits = String(texts.length).length
  return texts.map((text, i): Text => {
    const [change = '', ...rest] = (rows[i] ?? []).map((cell, k) => cell + ' '.repeat((widths[k] ?? 0) - widthOf(cell)))
    return [
      styled('yellow', change),
      ` ${rest.join(' ')} `,
      styled('dim', `${String(i + 1).padStart(digits)}│`),
      ' ',
      text,
    ]
  })
}
