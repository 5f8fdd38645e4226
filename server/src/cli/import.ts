import type { Command } from 'commander'
import { DomainError } from '../domain/errors.ts'
import { importOrganisationCommand } from './archive.ts'
import { promptOrFail } from './lookup.ts'
import { print } from './output.ts'
import { showProgress } from './progress.ts'
import { readLines } from './read-lines.ts'
import { withStore } from './with-store.ts'

export function importCommands(program: Command): void {
  const imports = program.command('import').description('read many at once, all or none')

  imports
    .command('history')
    .description('one entry a line, as JSON: the eight fields without id; entries already there are left alone')
    .argument('<pmt_id>')
    .action((publicId: string, _options: object, command: Command) =>
      withStore(async (store) => {
        const prompt = await promptOrFail(store, publicId)
        const { parseEntry } = await import('./import-lines.ts')
        const { imported, alreadyThere } = await store.history.import(prompt, portions(parseEntry))
        const text = `Imported ${imported} entries into ${publicId}; ${alreadyThere} were there already`
        print(command, { imported, already_there: alreadyThere }, text)
      }),
    )

  imports
    .command('signals')
    .description('one signal a line, as JSON: value, metadata (optional), created_at; no limit applies')
    .argument('<pmt_id>')
    .action((publicId: string, _options: object, command: Command) =>
      withStore(async (store) => {
        const prompt = await promptOrFail(store, publicId)
        const { parseSignal } = await import('./import-lines.ts')
        const { imported } = await store.signals.import(portions((text) => parseSignal(text, prompt)))
        print(command, { imported }, `Imported ${imported} signals into ${publicId}`)
      }),
    )

  importOrganisationCommand(imports)
}

const portionSize = 500

/** What standard input holds, in portions. Shows on a terminal how far it has come. */
async function* portions<Item>(parse: (text: string) => Item): AsyncGenerator<Item[]> {
  let portion: Item[] = []
  let count = 0
  try {
    for await (const { number, text } of readLines(process.stdin)) {
      portion.push(parseLine(number, text, parse))
      if (portion.length < portionSize) continue
      count += portion.length
      showProgress(`${count} lines read`)
      yield portion
      portion = []
    }
    count += portion.length
    yield portion
    showProgress(`${count} lines read, storing them\n`)
  } catch (error) {
    showProgress('')
    throw error
  }
}

function parseLine<Item>(number: number, text: string, parse: (text: string) => Item): Item {
  try {
    return parse(text)
  } catch (error) {
    if (error instanceof DomainError) throw new Error(`line ${number}: ${error.message}`)
    throw error
  }
}
