import { type Config, readConfig } from '../config.ts'
import type { Clock } from '../domain/time.ts'
import { clock, schema, secretKey } from './contents.ts'
import { belonging, history, hours, usage } from './counts.ts'
import type { Reading } from './database.ts'
import { type Finding, looked, ok, reasonOf, warning, wrong } from './finding.ts'
import { dataFolder, installedGit } from './machine.ts'

/** Looks at everything that could be wrong, and changes nothing. */
export async function doctor(env: NodeJS.ProcessEnv, now: Clock = Date.now): Promise<Finding[]> {
  const { config, finding } = settings(env)
  if (config === null) return [finding, await looked('git', () => installedGit(null))]
  const findings = [finding]
  const reading = await open(config, now).catch((error) => {
    const todo = 'See that DATABASE_URL is right and the database is there and whole; nothing in it could be looked at'
    findings.push(wrong('database', `it cannot be opened: ${reasonOf(error)}`, todo))
    return null
  })
  try {
    const { found, known } = reading === null ? nothing : await database(reading, now)
    findings.push(...found)
    findings.push(await looked('secret key', () => secretKey(config, known)))
    findings.push(await looked('git', async () => installedGit(known && (await followed(known)))))
    findings.push(await looked('data folder', () => dataFolder(config.dataDir)))
    return findings
  } finally {
    await reading?.close()
  }
}

export function describeFindings(findings: Finding[]): string {
  return findings
    .map(({ check, state, found, todo }) => `${state.padEnd(7)}  ${check}: ${found}${todo === null ? '' : `. ${todo}`}`)
    .join('\n')
}

/** With the settings that the other checks need, even where some of the rest are wrong. */
function settings(env: NodeJS.ProcessEnv): { finding: Finding; config: Config | null } {
  try {
    const config = readConfig(env)
    const isLocal = ['127.0.0.1', '::1', 'localhost'].includes(config.host)
    if (!isLocal && config.publicUrl === null) {
      const found = `HOST is ${config.host}, but PUBLIC_URL is not set`
      const todo = 'Set it to the address by which people and forges reach the service'
      return { config, finding: warning('settings', found, todo) }
    }
    return { config, finding: ok('settings', 'all of them make sense') }
  } catch (error) {
    const finding = wrong('settings', reasonOf(error), 'Set them as in .env.example; the service does not start')
    const { DATABASE_URL, DATABASE_POOL_SIZE, DATA_DIR, PROMPTLEDGER_SECRET_KEY } = env
    try {
      return { finding, config: readConfig({ DATABASE_URL, DATABASE_POOL_SIZE, DATA_DIR, PROMPTLEDGER_SECRET_KEY }) }
    } catch {
      return { finding, config: null }
    }
  }
}

async function open({ databaseUrl, databasePoolSize }: Config, now: Clock): Promise<Reading> {
  if (databaseUrl.startsWith('sqlite:')) {
    const { readSqlite } = await import('./sqlite.ts')
    return readSqlite(databaseUrl.slice('sqlite:'.length))
  }
  const { readPostgres } = await import('./postgres.ts')
  return readPostgres(databaseUrl, databasePoolSize, now)
}

interface InDatabase {
  found: Finding[]
  /** Null where its tables are not those that this code knows. */
  known: Reading | null
}

const nothing: InDatabase = { found: [], known: null }

async function database(reading: Reading, now: Clock): Promise<InDatabase> {
  let current = false
  const migrations = await looked('migrations', async () => {
    const found = await schema(reading)
    current = found.current
    return found.finding
  })
  const found = [...(await reading.findings(current)), migrations]
  found.push(await looked('clock', () => clock(reading, current, now)))
  if (!current) return { found, known: null }
  for (const [name, count] of Object.entries({ usage, hours, history, belonging })) {
    found.push(await looked(name, () => reading.snapshot(() => count(reading))))
  }
  return { found, known: reading }
}

async function followed(reading: Reading): Promise<number> {
  const [row] = await reading.rows('select count(*) as count from repositories where disconnected_at is null')
  return row?.count as number
}
