import type { Config } from '../config.ts'
import type { Clock } from '../domain/time.ts'
import { isSupportedGit, minGitVersion, readGitVersion } from '../git/version.ts'
import { requireDatabaseOfKey } from '../service/secret-key.ts'
import { verifyChain } from '../store/sql/audit-chain.ts'
import { checkAllocator } from './allocator.ts'
import { checkClock } from './clock.ts'
import type { DatabaseReader } from './database.ts'
import { checkDataDirectory } from './disk.ts'
import { type Finding, fail, listExamples, ok, plural, reasonOf, runCheck, warn } from './finding.ts'
import { checkHistory } from './history.ts'
import { checkHours, checkVersions } from './hours.ts'
import { checkMigrations } from './migrations.ts'
import { checkOwnership } from './ownership.ts'
import { checkRecording } from './recording.ts'
import { checkRepositories } from './repositories.ts'
import { checkSecretKey } from './secret-key.ts'
import { checkSettings } from './settings.ts'
import { checkSubjects } from './subjects.ts'
import { checkUsage } from './usage.ts'

/** Runs all checks. Changes nothing. */
export async function doctor(env: NodeJS.ProcessEnv, now: Clock = Date.now): Promise<Finding[]> {
  const { config, finding } = checkSettings(env)
  if (config === null) return [finding, await runCheck('git', () => checkGit(null))]
  const findings = [finding]
  const database = await openDatabase(config, now).catch((error) => {
    const fix =
      'Check DATABASE_URL, and that the database is running. If it is damaged, restore the newest intact backup. Its contents were not checked'
    findings.push(fail('database', `cannot be opened: ${reasonOf(error)}`, fix))
    return null
  })
  try {
    const { migrated, ...checked } =
      database === null ? { findings: [], migrated: false } : await checkDatabase(database, now)
    findings.push(...checked.findings)
    // The tables of another version may lack what these checks read.
    const readable = migrated ? database : null
    findings.push(await runCheck('secret key', () => checkSecretKey(config, readable)))
    findings.push(await runCheck('git', async () => checkGit(readable && (await countRepositories(readable)))))
    if (readable !== null) {
      findings.push(await runCheck('repositories', () => checkRepositories(readable, now)))
      findings.push(await runCheck('alerts', () => checkAlerts(config, readable)))
    }
    findings.push(
      await runCheck('data directory', async () => {
        const isUsed =
          config.databaseUrl.startsWith('sqlite:') || (readable !== null && (await countRepositories(readable)) > 0)
        return checkDataDirectory(config.dataDir, isUsed)
      }),
    )
    findings.push(await runCheck('allocator', () => checkAllocator(env)))
    return findings
  } finally {
    await database?.close()
  }
}

export function describeFindings(findings: Finding[]): string {
  return findings
    .map(
      ({ check, status, message, fix }) =>
        `${status.padEnd(7)}  ${check}: ${message}.${fix === null ? '' : ` ${fix}.`}`,
    )
    .join('\n')
}

async function openDatabase(config: Config, now: Clock): Promise<DatabaseReader> {
  requireDatabaseOfKey(config)
  const { databaseUrl, databasePoolSize } = config
  if (databaseUrl.startsWith('sqlite:')) {
    const { openSqlite } = await import('./sqlite.ts')
    return openSqlite(databaseUrl.slice('sqlite:'.length), now)
  }
  const { openPostgres } = await import('./postgres.ts')
  return openPostgres(databaseUrl, databasePoolSize, now)
}

const countChecks = {
  usage: checkUsage,
  hours: checkHours,
  versions: checkVersions,
  subjects: checkSubjects,
  history: checkHistory,
  ownership: checkOwnership,
  audit: checkAudit,
}

async function checkDatabase(
  database: DatabaseReader,
  now: Clock,
): Promise<{ findings: Finding[]; migrated: boolean }> {
  let migrated = false
  const migrations = await runCheck('migrations', async () => {
    const checked = await checkMigrations(database)
    migrated = checked.migrated
    return checked.finding
  })
  const findings = [...(await database.runChecks(migrated)), migrations]
  findings.push(await runCheck('clock', () => checkClock(database, migrated, now)))
  if (!migrated) return { findings, migrated }
  findings.push(await runCheck('recording', () => checkRecording(database, now)))
  for (const [name, check] of Object.entries(countChecks)) {
    findings.push(await runCheck(name, () => database.snapshot(() => check(database))))
  }
  return { findings, migrated }
}

async function countRepositories(database: DatabaseReader): Promise<number> {
  const [row] = await database.rows('select count(*) as count from repositories where disconnected_at is null')
  return row?.count as number
}

/** Git is needed only for connected repositories. `repositories` is null if their number is unknown. */
async function checkGit(repositories: number | null): Promise<Finding> {
  const isNeeded = repositories !== 0
  const report = isNeeded ? fail : warn
  const fix = `Install git ${minGitVersion.join('.')} or newer${isNeeded ? '' : ' before you connect a repository'}`
  let version: string
  try {
    version = await readGitVersion()
  } catch (error) {
    return report('git', reasonOf(error), fix)
  }
  return isSupportedGit(version) ? ok('git', version) : report('git', `${version} is too old`, fix)
}

/** Warns of email alerts that no mail server can send, and of webhooks that no longer get signals. */
async function checkAlerts(config: Config, database: DatabaseReader): Promise<Finding> {
  const [row] = await database.rows(
    `select count(*) as total, coalesce(sum(case when disabled_at is not null then 1 else 0 end), 0) as disabled,
       coalesce(sum(case when channel = 'email' and disabled_at is null then 1 else 0 end), 0) as emails,
       coalesce(sum(case when signals = 1 and disabled_at is not null then 1 else 0 end), 0) as silent
     from alerts`,
  )
  const [total = 0, disabled = 0, emails = 0, silent = 0] = [row?.total, row?.disabled, row?.emails, row?.silent].map(
    Number,
  )
  if (emails > 0 && config.mail === null) {
    const message = `${plural(emails, 'alert goes', 'alerts go')} to email addresses, but SMTP_URL is not set`
    return warn('alerts', message, 'Set SMTP_URL and ALERT_FROM, or remove these alerts')
  }
  if (silent > 0) {
    const message = `${plural(silent, 'webhook for signals is', 'webhooks for signals are')} disabled`
    return warn('alerts', message, 'See why with promptledger alert list --org <id> --json, and enable or remove them')
  }
  return ok('alerts', `${plural(total - disabled, 'alert')} active, ${disabled} disabled`)
}

/** Every audit entry contains a hash of the one before it, so a changed or missing entry breaks the chain. */
async function checkAudit(database: DatabaseReader): Promise<Finding> {
  const organisations = await database.rows('select id from organisations order by id')
  const problems: string[] = []
  let entries = 0
  for (const { id } of organisations) {
    const chain = await verifyChain(database.rows, id as number)
    entries += chain.entries
    const { brokenAt } = chain
    if (brokenAt !== null) problems.push(`organisation ${id}: entry ${brokenAt.seq} ${brokenAt.problem}`)
  }
  if (problems.length === 0)
    return ok(
      'audit',
      `${plural(entries, 'entry', 'entries')} of ${plural(organisations.length, 'organisation')} ${entries === 1 ? 'is' : 'are'} unchanged`,
    )
  const message = listExamples(problems)
  return fail('audit', message, 'Find out who changed the database: docs/operations/doctor.md#audit')
}
