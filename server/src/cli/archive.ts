import { type Command, Option } from 'commander'
import type { WriteOptions, WrittenArchive } from '../archive/backup.ts'
import type { TableSummary } from '../archive/file.ts'
import type { SecretOptions } from '../archive/secrets.ts'
import { readConfig } from '../config.ts'
import { type Plan, plans } from '../domain/access/plan.ts'
import { integerArgument } from './arguments.ts'
import { organisationOrFail } from './lookup.ts'
import { formatNumber, print, table } from './output.ts'
import { clearProgress, startProgress } from './progress.ts'
import { secretFrom, withStore } from './with-store.ts'

export function archiveCommands(program: Command): void {
  program
    .command('backup')
    .description('write the whole database to a file while the service runs')
    .argument('<file>', 'file to write')
    .option('--force', 'overwrite an existing file')
    .action((file: string, options: WriteOptions, command: Command) =>
      withStore(async (store) => {
        const { backUp } = await import('../archive/backup.ts')
        await printWritten(command, file, backUp(store, file, options, startProgress))
      }),
    )

  addSecretOptions(
    program
      .command('restore')
      .description('restore a backup into an empty database')
      .argument('<file>', 'backup to read'),
  ).action(async (file: string, options: SecretFlags, command: Command) => {
    const { checkBackup } = await import('../archive/restore.ts')
    const seconds = startTimer()
    const checked = checkBackup(readConfig(), file, secretOptions(options), startProgress)
    const { archive, bytes, storeIn } = await checked.finally(clearProgress)
    await withStore((store) => storeIn(store).finally(clearProgress), { create: true, restores: true })
    const json = { file, bytes, seconds: seconds(), tables: archive.tables }
    const text = `Restored ${file}, created at ${archive.createdAt}, in ${json.seconds} s. All rows were read back and verified.`
    print(command, json, `${rowCounts(archive.tables)}\n\n${text}`)
  })

  program
    .command('export')
    .description("write one organisation to a file that 'import organisation' reads")
    .requiredOption('--org <id>', 'ID of the organisation', integerArgument)
    .argument('<file>', 'file to write')
    .option('--force', 'overwrite an existing file')
    .action((file: string, { org, ...options }: WriteOptions & { org: number }, command: Command) =>
      withStore(async (store) => {
        const { exportOrganisation } = await import('../archive/backup.ts')
        const organisation = await organisationOrFail(store, org)
        await printWritten(command, file, exportOrganisation(store, organisation, file, options, startProgress))
      }),
    )
}

/** A subcommand of `import`. */
export function importOrganisationCommand(imports: Command): void {
  addSecretOptions(
    imports
      .command('organisation')
      .summary("import an organisation from a file written by 'export'")
      .description(
        "import an organisation from a file written by 'export'; prompt IDs and keys stay the same, and numeric IDs are shifted past " +
          'those already assigned in this database',
      )
      .argument('<file>', 'file to read')
      .addOption(new Option('--plan <plan>', 'plan of the organisation here').choices(plans).default('free'))
      .addOption(
        new Option('--keep-plan', 'use the plan in the file, which anyone who had it could edit').conflicts('plan'),
      )
      .option(
        '--accept-broken-audit',
        'import an audit log that was changed; the new entry says where, and audit verify still reports it',
      ),
  ).action((file: string, options: ImportFlags, command: Command) =>
    withStore(async (store, config) => {
      const { importOrganisation } = await import('../archive/restore.ts')
      const seconds = startTimer()
      const { keepPlan, acceptBrokenAudit = false } = options
      const importOptions = { ...secretOptions(options), plan: keepPlan ? null : options.plan, acceptBrokenAudit }
      const imported = importOrganisation(store, config, file, importOptions, startProgress)
      const { archive, organisationId, shifted, bytes } = await imported.finally(clearProgress)
      const { tables, createdAt } = archive
      const json = { file, bytes, seconds: seconds(), organisation_id: organisationId, moved: shifted, tables }
      const text =
        `Imported ${file}, created at ${createdAt}, as organisation ${organisationId} in ${json.seconds} s. ` +
        `All rows were read back and verified.\n${describeShifted(shifted)}`
      print(command, json, `${rowCounts(tables)}\n\n${text}`)
    }),
  )
}

interface ImportFlags extends SecretFlags {
  plan: Plan
  keepPlan?: boolean
  acceptBrokenAudit?: boolean
}

interface SecretFlags {
  secretKeyEnv?: string
  leaveSecrets?: boolean
}

function addSecretOptions(command: Command): Command {
  return command
    .option('--secret-key-env <name>', 'environment variable with the old secret key, if this service uses another one')
    .option('--leave-secrets', 'continue if repository secrets cannot be decrypted; replace them afterwards')
}

function secretOptions({ secretKeyEnv, leaveSecrets = false }: SecretFlags): SecretOptions {
  return { oldKey: secretFrom(secretKeyEnv), leaveUnreadable: leaveSecrets }
}

async function printWritten(command: Command, file: string, writing: Promise<WrittenArchive>): Promise<void> {
  const seconds = startTimer()
  const { bytes, tables } = await writing.finally(clearProgress)
  const json = { file, bytes, seconds: seconds(), tables }
  const text = `Wrote ${file}, ${formatSize(bytes)}, in ${json.seconds} s. The file was read back and verified.`
  print(command, json, `${rowCounts(tables)}\n\n${text}`)
}

function rowCounts(tables: TableSummary[]): string {
  return table(
    tables.map(({ table, rows }) => ({ table, rows: formatNumber(rows) })),
    '',
  )
}

function describeShifted(shifted: Record<string, number>): string {
  const offsets = Object.entries(shifted).map(([table, offset]) => `${table} by ${offset}`)
  if (offsets.length === 0) return 'All IDs are unchanged.'
  const list = offsets.join(', ')
  return `Numeric IDs were shifted past those already assigned here: ${list}. Prompt IDs (pmt_…) and keys are unchanged.`
}

/** Returns the seconds since the call, with one decimal. */
function startTimer(): () => number {
  const startedAt = performance.now()
  return () => Math.round((performance.now() - startedAt) / 100) / 10
}

function formatSize(bytes: number): string {
  return bytes < 1_000_000 ? `${Math.ceil(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}
