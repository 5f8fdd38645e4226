import type { Command } from 'commander'
import type { Config } from '../config.ts'
import { operator } from '../domain/access/audit.ts'
import type { Organisation } from '../domain/access/organisation.ts'
import { DomainError } from '../domain/errors.ts'
import { usageOf } from '../domain/signals/usage.ts'
import { createVoters, type Voters } from '../domain/signals/voter.ts'
import type { Store } from '../domain/store.ts'
import { isoTime } from '../domain/time.ts'
import { errorMessage } from '../http/errors.ts'
import { openVault } from '../service/secret-key.ts'
import { importOrganisationCommand } from './archive.ts'
import { promptOrFail, sourceOrFail } from './lookup.ts'
import { formatCount, formatNumber, print } from './output.ts'
import { clearProgress, showProgress } from './progress.ts'
import { withStore } from './with-store.ts'

/** What an import has done to the organisation's month, if new signals are rejected now. Empty otherwise. */
async function reachedLimit(store: Store, { planLimits }: Config, organisationId: number): Promise<string> {
  const { plan } = (await store.organisations.find(organisationId)) as Organisation
  const { limit, used, remaining, resetsAt } = await usageOf(
    store.organisations,
    { organisationId, plan },
    planLimits,
    Date.now(),
  )
  if (remaining !== 0) return ''
  const raise = `promptledger org set-plan ${organisationId} team`
  return `\nThis month has ${formatNumber(used)} of ${formatNumber(limit as number)} signals: new ones are rejected until ${isoTime(resetsAt).slice(0, 10)}. To raise the limit: ${raise}`
}

export function importCommands(program: Command): void {
  const imports = program
    .command('import')
    .description('import history, signals, feedback of other products or an organisation')

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
        'vote on it; signals of this month count towards its limit, but all are imported',
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
        const limit = await reachedLimit(store, config, prompt.organisationId)
        print(command, { imported, replaced }, `${text}${end}${limit}`)
      }),
    )

  imports
    .command('feedback')
    .summary("import a product's export from standard input")
    .description(
      'import an export of feedback from standard input, as JSON, such as that of Open WebUI or LibreChat, of any age; its source ' +
        'says where the fields are; importing it again changes nothing; signals of this month count towards its limit, but all are imported',
    )
    .argument('<source-id>', 'ID of the source')
    .action((id: string, _options: object, command: Command) =>
      withStore(async (store, config) => {
        const source = await sourceOrFail(store, id)
        const { readFeedback } = await import('../adapters/import-feedback.ts')
        const hashVoter = voterHash(store, config, source.organisationId)
        const { signals, ignored, rejected } = await readFeedback(
          store,
          source,
          await readJson(),
          hashVoter,
          Date.now(),
        )
        let [imported, replaced] = [0, 0]
        for (const [prompt, own] of signals) {
          const done = await store.signals.import(inBatches(own), { prompt, at: Date.now(), by: operator })
          imported += done.imported
          replaced += done.replaced
        }
        const text = `Imported ${formatCount(imported, 'signal')} into ${formatCount(signals.size, 'prompt')}, and replaced ${formatCount(replaced, 'vote')}.`
        const [first] = rejected
        const problem =
          first === undefined
            ? ''
            : `\nRejected ${formatCount(rejected.length, 'event')}, the first one, number ${first.event + 1}, because ${first.reason}.`
        const limit = await reachedLimit(store, config, source.organisationId)
        print(command, { imported, replaced, ignored, rejected: rejected.length }, text + problem + limit)
      }),
    )

  importOrganisationCommand(imports)
}

/** Opens the vault with the first voter: imports without one need no secret key. */
function voterHash(store: Store, config: Config, organisationId: number): (voter: string) => Promise<string> {
  let voters: Promise<Voters> | null = null
  return async (voter) => {
    voters ??= openVault(config, store.secrets).then((vault) => createVoters(store.organisations, vault))
    return (await voters).hash(organisationId, voter)
  }
}

const batchSize = 500

async function* inBatches<Item>(items: Item[]): AsyncGenerator<Item[]> {
  for (let start = 0; start < items.length; start += batchSize) yield items.slice(start, start + batchSize)
}

const maxExportBytes = 512 * 1024 * 1024

async function readJson(): Promise<unknown> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > maxExportBytes) throw new Error('The export is larger than 512 MiB. Split it.')
    chunks.push(chunk)
  }
  try {
    return JSON.parse(decoder.decode(Buffer.concat(chunks)))
  } catch {
    throw new Error('The export is not valid JSON.')
  }
}

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
