import type { Command } from 'commander'
import type { Config } from '../config.ts'
import { operator } from '../domain/access/audit.ts'
import { DomainError } from '../domain/errors.ts'
import { createVoters, type Voters } from '../domain/signals/voter.ts'
import type { Store } from '../domain/store.ts'
import { errorMessage } from '../http/errors.ts'
import { openVault } from '../service/secret-key.ts'
import { importOrganisationCommand } from './archive.ts'
import { promptOrFail } from './lookup.ts'
import { formatCount, formatNumber, print } from './output.ts'
import { clearProgress, showProgress } from './progress.ts'
import { withStore } from './with-store.ts'

export function importCommands(program: Command): void {
  const imports = program.command('import').description('import history, signals or an organisation; all or nothing')

  imports
    .command('history')
    .summary('import history entries from standard input')
    .description(
      'import history entries from standard input, one JSON object per line with the fields of the API, without id; ' +
        'skips entries that exist already',
    )
    .argument('<prompt>', 'public ID, name or path of the prompt')
    .action((reference: string, _options: object, command: Command) =>
      withStore(async (store) => {
        const prompt = await promptOrFail(store, reference)
        const { parseEntryLine } = await import('./parse-line.ts')
        const { imported, alreadyThere } = await store.history.import(
          prompt,
          readBatches(parseEntryLine),
          Date.now(),
          operator,
        )
        const text = `Imported ${formatCount(imported, 'entry', 'entries')} into prompt ${prompt.publicId}; ${formatNumber(alreadyThere)} existed already.`
        print(command, { imported, already_there: alreadyThere }, text)
      }),
    )

  imports
    .command('signals')
    .summary('import signals from standard input')
    .description(
      'import signals from standard input, one JSON object per line with value, created_at and, optionally, metadata, version, ' +
        'subject, voter, comment, occurred_at and trace_id, such as the lines of an export; a line with a subject replaces the ' +
        'vote on it; the monthly limit does not apply',
    )
    .argument('<prompt>', 'public ID, name or path of the prompt')
    .option('--hashed-voters', 'the voters are hashes, as in an export, and are stored as they are')
    .action((reference: string, options: { hashedVoters?: true }, command: Command) =>
      withStore(async (store, config) => {
        const prompt = await promptOrFail(store, reference)
        const { parseSignalLine } = await import('./parse-line.ts')
        const hashVoter = options.hashedVoters ? null : voterHash(store, config, prompt.organisationId)
        const { imported, replaced } = await store.signals.import(
          readBatches((text) => parseSignalLine(text, prompt, hashVoter)),
          { prompt, at: Date.now(), by: operator },
        )
        const text = `Imported ${formatCount(imported, 'signal')} into prompt ${prompt.publicId}`
        const end = replaced === 0 ? '.' : `, and replaced ${formatCount(replaced, 'vote')}.`
        print(command, { imported, replaced }, `${text}${end}`)
      }),
    )

  importOrganisationCommand(imports)
}

/** Opens the vault with the first voter: imports without one need no secret key. */
function voterHash(store: Store, config: Config, organisationId: number): (voter: string) => Promise<string> {
  let voters: Promise<Voters> | null = null
  return async (voter) => {
    voters ??= openVault(config).then((vault) => createVoters(store.organisations, vault))
    return (await voters).hash(organisationId, voter)
  }
}

const batchSize = 500

/** Parses standard input in batches and shows the number of lines read. */
async function* readBatches<Item>(parse: (text: string) => Item | Promise<Item>): AsyncGenerator<Item[]> {
  let batch: Item[] = []
  let count = 0
  try {
    for await (const { number, text } of readLines(process.stdin)) {
      batch.push(await parseLine(number, text, parse))
      if (batch.length < batchSize) continue
      count += batch.length
      showProgress(`Read ${formatCount(count, 'line')}`)
      yield batch
      batch = []
    }
    count += batch.length
    yield batch
    showProgress(`Read ${formatCount(count, 'line')}, storing them\n`)
  } catch (error) {
    clearProgress()
    throw error
  }
}

async function parseLine<Item>(
  number: number,
  text: string,
  parse: (text: string) => Item | Promise<Item>,
): Promise<Item> {
  try {
    return await parse(text)
  } catch (error) {
    if (error instanceof DomainError) throw new Error(`line ${number}: ${errorMessage(error)}`)
    throw error
  }
}

interface Line {
  number: number
  text: string
}

const maxLineBytes = 1024 * 1024
const decoder = new TextDecoder('utf-8', { fatal: true })

/** Reads non-blank lines from a stream. Holds at most one line and one chunk in memory. */
async function* readLines(source: AsyncIterable<Buffer>): AsyncGenerator<Line> {
  let number = 0
  let rest: Buffer[] = []
  let restLength = 0

  function* finishLine(bytes: Buffer): Generator<Line> {
    checkLength(restLength + bytes.length)
    number++
    const text = decode(number, rest.length === 0 ? bytes : Buffer.concat([...rest, bytes]))
    rest = []
    restLength = 0
    if (text.trim() !== '') yield { number, text }
  }

  function checkLength(length: number): void {
    if (length > maxLineBytes) throw new Error(`line ${number + 1}: longer than ${maxLineBytes} bytes`)
  }

  for await (const chunk of source) {
    let start = 0
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, start)) {
      yield* finishLine(chunk.subarray(start, end))
      start = end + 1
    }
    rest.push(chunk.subarray(start))
    restLength += chunk.length - start
    checkLength(restLength)
  }
  if (restLength > 0) yield* finishLine(Buffer.alloc(0))
}

function decode(number: number, bytes: Buffer): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw new Error(`line ${number}: not valid UTF-8`)
  }
}
