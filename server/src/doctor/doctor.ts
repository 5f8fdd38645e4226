import type { Config } from '../config.ts'
import type { Clock } from '../domain/time.ts'
import { checkAlerts } from './alerts.ts'
import { checkAllocator } from './allocator.ts'
import { checkAudit } from './audit.ts'
import { checkClock } from './clock.ts'
import type { DatabaseReader } from './database.ts'
import { checkDataDirectory } from './disk.ts'
import { type Finding, fail, reasonOf, runCheck } from './finding.ts'
import { checkGit } from './git.ts'
import { checkHistory } from './history.ts'
import { checkHours, checkVersions } from './hours.ts'
import { checkMigrations } from './migrations.ts'
import { checkOwnership } from './ownership.ts'
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

async function openDatabase({ databaseUrl, databasePoolSize }: Config, now: Clock): Promise<DatabaseReader> {
  if (databaseUrl.startsWith('sqlite:')) {
    const { openSqlite } = await import('./sqlite.ts')
    return openSqlite(databaseUrl.slice('sqlite:'.length))
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
  for (const [name, check] of Object.entries(countChecks)) {
    findings.push(await runCheck(name, () => database.snapshot(() => check(database))))
  }
  return { findings, migrated }
}

async function countRepositories(database: DatabaseReader): Promise<number> {
  const [row] = await database.rows('select count(*) as count from repositories where disconnected_at is null')
  return row?.count as number
}
