import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { newVault } from '../domain/repositories/vault.ts'
import { type Instant, isoTime } from '../domain/time.ts'
import { readKey } from '../service/secret-key.ts'
import { readMigrations } from '../store/migrations.ts'
import type { Reading } from './database.ts'
import { type Finding, ok, warning, wrong } from './finding.ts'

const second = 1_000
const minute = 60 * second

const migrationTable = {
  sqlite: `select count(*) as tables from sqlite_schema where name = 'schema_migrations'`,
  postgres: `select count(to_regclass('schema_migrations')) as tables`,
}

/** Where it stands, and whether its tables are those that this code knows. */
export async function schema(reading: Reading): Promise<{ finding: Finding; current: boolean }> {
  const newest = readMigrations(new URL(`../store/${reading.engine}/migrations/`, import.meta.url)).at(-1)?.version ?? 0
  const found = (finding: Finding, current = false) => ({ finding, current })
  const [there] = await reading.rows(migrationTable[reading.engine])
  const [row] =
    there?.tables === 0
      ? [{ version: 0, applied: 0 }]
      : await reading.rows('select coalesce(max(version), 0) as version, count(*) as applied from schema_migrations')
  const { version, applied } = row as { version: number; applied: number }
  const text = `the database is at version ${version}, this Promptledger at ${newest}`
  if (version === 0) {
    const todo = 'Check DATABASE_URL; where it is right, start the service or run promptledger migrate'
    return found(wrong('migrations', 'the database is empty', todo))
  }
  if (version > newest) return found(wrong('migrations', text, 'Update Promptledger: it refuses a newer database'))
  if (applied !== version) {
    const todo = 'Restore a backup: the table schema_migrations was changed by hand'
    return found(wrong('migrations', `${text}, but ${applied} of its migrations are on record`, todo))
  }
  if (version < newest) {
    const todo = 'Start this version or run promptledger migrate; until then nothing in it is counted here'
    return found(warning('migrations', text, todo))
  }
  return found(ok('migrations', text), true)
}

// Entries of the history are dated by git, so they may lie anywhere.
const latest = `
select max(at) as at from (
  select max(created_at) as at from organisations
  union all select max(created_at) from api_keys
  union all select max(created_at) from prompts
  union all select max(received_at) from deliveries
  union all select max(at) from audit
  union all select max(s.created_at) from signal_hours h join signals s
    on s.organisation_id = h.organisation_id and s.prompt_id = h.prompt_id and s.created_at >= h.hour
    where h.hour = (select max(hour) from signal_hours)
) as all_of_them`

/** `current`: what is stored can be asked for its times. */
export async function clock(reading: Reading, current: boolean, now: () => Instant): Promise<Finding> {
  const set = 'Let the machines set their clocks (NTP): months, limits and the lifetime of keys go by them'
  const found: string[] = [isoTime(now())]
  if (reading.clock !== undefined) {
    const asked = now()
    const theirs = await reading.clock()
    const answered = now()
    // By as much as cannot be explained by the way there and back.
    const off = Math.max(asked - theirs, theirs - answered, 0)
    const text = `${(off / second).toFixed(1)} s away from the clock of PostgreSQL`
    if (off > minute) return wrong('clock', text, set)
    if (off > second) return warning('clock', text, set)
    found.push('the same for PostgreSQL')
  }
  if (current) {
    const [row] = await reading.rows(latest)
    const newest = row?.at as number | null | undefined
    if (newest != null && newest > now() + minute) {
      const text = `the newest record is of ${isoTime(newest)}, and it is ${isoTime(now())}`
      return wrong('clock', text, `${set}. Unless signals with such times were imported`)
    }
    found.push('nothing stored is of the future')
  }
  return ok('clock', found.join(', '))
}

/** Whether the key opens what was stored with it. Never makes one, as a start would. */
export async function secretKey(config: Config, reading: Reading | null): Promise<Finding> {
  const file = config.databaseUrl.startsWith('sqlite:') ? join(config.dataDir, 'secret.key') : null
  const kept = config.secretKey === null && file !== null
  const key = kept ? await readKey(file) : config.secretKey
  const from = kept ? file : 'PROMPTLEDGER_SECRET_KEY'
  const sealed = reading === null ? [] : await sealedTexts(reading)
  if (key === null) {
    const missing = kept ? `there is no ${file}` : 'PROMPTLEDGER_SECRET_KEY is not set'
    if (sealed.length > 0) {
      const todo = 'Bring back the key that they were stored with; without it, connect the repositories anew'
      return wrong('secret key', `${missing}, and ${sealed.length} secrets are stored`, todo)
    }
    if (kept) return ok('secret key', `${missing} yet: the service makes it when it starts`)
    return warning('secret key', missing, 'Set it before a repository is connected: openssl rand -hex 32')
  }
  const vault = newVault(key)
  const closed = sealed.filter((text) => !opens(() => vault.open(text)))
  if (closed.length > 0) {
    const todo = 'Bring back the key that they were stored with, or connect those repositories anew'
    return wrong('secret key', `${from} does not open ${closed.length} of ${sealed.length} stored secrets`, todo)
  }
  if (kept && ((await stat(file)).mode & 0o077) !== 0) {
    return warning('secret key', `others on this machine may read ${file}`, `chmod 600 ${file}`)
  }
  return ok('secret key', `${from} opens all of ${sealed.length} stored secrets`)
}

async function sealedTexts(reading: Reading): Promise<string[]> {
  const rows = await reading.rows('select sealed_token, sealed_secret, sealed_old_secret from repositories')
  return rows.flatMap((row) => Object.values(row)).filter((text) => typeof text === 'string')
}

function opens(open: () => string): boolean {
  try {
    open()
    return true
  } catch {
    return false
  }
}
