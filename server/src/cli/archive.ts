import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { open, rename, rm, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { Command } from 'commander'
import { type Archive, checkArchiveFile, readArchiveRows, type TableSum, writeArchiveFile } from '../archive/file.ts'
import { archiveSecrets, type SecretOptions } from '../archive/secrets.ts'
import type { Config } from '../config.ts'
import type { Offsets } from '../domain/archive/archive.ts'
import type { Store } from '../domain/store.ts'
import { archiveTables } from '../store/sql/archive-tables.ts'
import { integerArgument } from './arguments.ts'
import { organisationOrFail } from './lookup.ts'
import { print, table } from './output.ts'
import { progressBar, showProgress } from './progress.ts'
import { secretFrom, withStore } from './with-store.ts'

export function archiveCommands(program: Command): void {
  program
    .command('backup')
    .description('write everything into a file, while the service goes on')
    .argument('<file>')
    .option('--force', 'overwrite the file where there is one')
    .action((file: string, options: { force?: boolean }, command: Command) =>
      withStore(async (store) => write(store, null, file, options, command)),
    )

  program
    .command('export')
    .description('write one organisation into a file, to be imported elsewhere')
    .requiredOption('--org <id>', '', integerArgument)
    .argument('<file>')
    .option('--force', 'overwrite the file where there is one')
    .action((file: string, options: { org: number; force?: boolean }, command: Command) =>
      withStore(async (store) => {
        await organisationOrFail(store, options.org)
        await write(store, options.org, file, options, command)
      }),
    )

  withSecretOptions(
    program.command('restore').description('bring back a backup, into an empty database').argument('<file>'),
  ).action((file: string, options: ReadOptions, command: Command) =>
    withStore(async (store, config) => {
      const { archive, bytes, seconds } = await read(store, config, file, options, (archive) => {
        if (archive.organisationId === null) return
        throw new Error(`${file} holds one organisation: use promptledger import organisation ${file}`)
      })
      const text = `Restored ${file}, made at ${archive.madeAt}, in ${seconds} s; all of it was read back and compared`
      print(command, { file, bytes, seconds, tables: archive.tables }, `${tableOf(archive.tables)}\n\n${text}`)
    }),
  )
}

export function importOrganisationCommand(imports: Command): void {
  withSecretOptions(
    imports
      .command('organisation')
      .description('what promptledger export wrote, from a file; ids are moved where there are others already')
      .argument('<file>'),
  ).action((file: string, options: ReadOptions, command: Command) =>
    withStore(async (store, config) => {
      const { archive, offsets, bytes, seconds } = await read(store, config, file, options, (archive) => {
        if (archive.organisationId !== null) return
        throw new Error(`${file} holds a whole database: use promptledger restore ${file}`)
      })
      const organisation = (archive.organisationId as number) + offsets.organisations
      const moved = Object.fromEntries(Object.entries(offsets).filter(([, offset]) => offset > 0))
      const text =
        `Imported ${file}, made at ${archive.madeAt}, as organisation ${organisation}, in ${seconds} s; ` +
        'all of it was read back and compared'
      const value = { file, bytes, seconds, organisation_id: organisation, moved, tables: archive.tables }
      print(command, value, `${tableOf(archive.tables)}\n\n${text}${describeMoved(moved)}`)
    }),
  )
}

interface ReadOptions {
  secretKeyEnv?: string
  leaveSecrets?: boolean
}

function withSecretOptions(command: Command): Command {
  return command
    .option('--secret-key-env <name>', 'the variable with the secret key where it was made, if another is used here')
    .option('--leave-secrets', 'also where the secrets of repositories cannot be read here: they have to be made anew')
}

/** Under another name first: what stands under the name of the file is always whole. */
async function write(
  store: Store,
  organisationId: number | null,
  file: string,
  { force = false }: { force?: boolean },
  command: Command,
): Promise<void> {
  const refuse = () => {
    if (!force && existsSync(file)) throw new Error(`${file} is there already: name another file, or add --force`)
  }
  refuse()
  const startedAt = performance.now()
  const unfinished = `${file}.${randomBytes(4).toString('hex')}.unfinished`
  try {
    const tables = await store.archive.read(organisationId, async (snapshot) => {
      let total = 0
      for (const table of archiveTables) total += await snapshot.count(table)
      return writeArchiveFile(unfinished, snapshot, store.schemaVersion, progress('Writing', total, 'rows'))
    })
    const { size: bytes } = await stat(unfinished)
    const { tables: found } = await checkArchiveFile(
      unfinished,
      store.schemaVersion,
      progress('Reading it', bytes, 'bytes'),
    )
    showProgress('')
    if (JSON.stringify(found) !== JSON.stringify(tables)) throw new Error(`${file} has changed while it was written`)
    refuse()
    await rename(unfinished, file)
    await flushFolder(file)
    const seconds = secondsSince(startedAt)
    const text = `Wrote ${file}, ${sizeOf(bytes)}, in ${seconds} s; it was read back and compared`
    print(command, { file, bytes, seconds, tables }, `${tableOf(tables)}\n\n${text}`)
  } finally {
    showProgress('')
    await rm(unfinished, { force: true })
  }
}

/** Or the name could be gone after a power cut. */
async function flushFolder(file: string): Promise<void> {
  const folder = await open(dirname(resolve(file)))
  await folder.sync()
  await folder.close()
}

interface ReadArchive {
  archive: Archive
  offsets: Offsets
  bytes: number
  seconds: number
}

/** Nothing is changed before the file was read to its end once. */
async function read(
  store: Store,
  config: Config,
  file: string,
  options: ReadOptions,
  check: (archive: Archive) => void,
): Promise<ReadArchive> {
  const startedAt = performance.now()
  try {
    const { size: bytes } = await stat(file)
    const secrets = await archiveSecrets(config, secretOptions(options))
    const onBytes = progress('Checking', bytes, 'bytes')
    const archive = await checkArchiveFile(file, store.schemaVersion, onBytes, secrets.check)
    check(archive)
    secrets.refuse()
    const total = archive.tables.reduce((sum, { rows }) => sum + rows, 0)
    const stored = progress('Storing', total, 'rows')
    async function* portions() {
      for await (const { table, rows } of readArchiveRows(file, archive)) {
        yield { table, rows: secrets.sealAnew(table, rows) }
        stored(rows.length)
      }
    }
    const onCompared = progress('Comparing', total, 'rows')
    const offsets = await store.archive.write({ ...archive, portions: portions(), onCompared })
    return { archive, offsets, bytes, seconds: secondsSince(startedAt) }
  } finally {
    showProgress('')
  }
}

function secretOptions({ secretKeyEnv, leaveSecrets = false }: ReadOptions): SecretOptions {
  return { secretKey: secretFrom(secretKeyEnv), leave: leaveSecrets }
}

/** Shows how far it has come, for as often as people can see it. */
function progress(what: string, total: number, unit: string): (more: number) => void {
  let done = 0
  let shownAt = 0
  return (more) => {
    done += more
    if (performance.now() - shownAt < 100) return
    shownAt = performance.now()
    showProgress(`${what} ${progressBar(done, total, unit)}`)
  }
}

function tableOf(tables: TableSum[]): string {
  return table(
    tables.map(({ table, rows }) => ({ table, rows })),
    '',
  )
}

function describeMoved(moved: Record<string, number>): string {
  const parts = Object.entries(moved).map(([name, offset]) => `${name} by ${offset}`)
  if (parts.length === 0) return '\nIts ids are what they were.'
  return `\nIts ids are moved up, behind those that were given here: ${parts.join(', ')}. Ids of prompts (pmt_…) and keys stay.`
}

function secondsSince(start: number): number {
  return Math.round((performance.now() - start) / 100) / 10
}

function sizeOf(bytes: number): string {
  return bytes < 1_000_000 ? `${Math.ceil(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}
