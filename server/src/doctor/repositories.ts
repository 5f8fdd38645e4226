import { access } from 'node:fs/promises'
import { staleAfterMs } from '../domain/repositories/repository.ts'
import { type Clock, isoTime } from '../domain/time.ts'
import type { Row } from '../store/sql/database.ts'
import type { DatabaseReader } from './database.ts'
import { type Finding, fail, listExamples, maxExamples, ok, oneLine, plural, warn } from './finding.ts'

/** Fails while a connected repository fails, or if its folder does not exist. Warns of repositories that are not synced, and of webhooks with a wrong secret. */
export async function checkRepositories(database: DatabaseReader, now: Clock): Promise<Finding> {
  const failing = await problems(database, 'last_error is not null', ({ last_error }) => `${last_error}`)
  if (failing !== null) {
    return fail('repositories', failing, "Fix the cause, then run 'promptledger repo sync <id>' to try again")
  }
  const missing = await missingFolders(database)
  if (missing !== null) {
    const fix = "Restore the folder, or disconnect the repository with 'promptledger repo disconnect <id>'"
    return fail('repositories', missing, fix)
  }
  const stale = await problems(
    database,
    `coalesce(last_sync_at, created_at) < ${now() - staleAfterMs}`,
    ({ last_sync_at }) =>
      last_sync_at === null ? 'never synced' : `last synced at ${isoTime(last_sync_at as number)}`,
  )
  if (stale !== null) return warn('repositories', stale, "Check that 'promptledger serve' is running, and its log")
  const rejecting = await problems(
    database,
    `last_rejected_at is not null and last_rejected_at > coalesce((
       select max(d.received_at) from deliveries d
       where d.organisation_id = repositories.organisation_id and d.repository_id = repositories.id), 0)`,
    ({ rejected_deliveries, last_rejected_at, last_rejection }) =>
      `${plural(rejected_deliveries as number, 'delivery', 'deliveries')} rejected, the last one at ` +
      `${isoTime(last_rejected_at as number)}: ${last_rejection}`,
  )
  if (rejecting !== null) {
    const fix =
      "Compare the webhook's secret on the forge, or create a new one with 'promptledger repo rotate-secret <id>'"
    return warn('repositories', rejecting, fix)
  }
  const [all] = await database.rows('select count(*) as count from repositories where disconnected_at is null')
  return ok('repositories', `${plural(all?.count as number, 'repository', 'repositories')} connected, none failing`)
}

/** The connected folders of this machine that do not exist; null if there are none. The next sync would notice within the hour. */
async function missingFolders(database: DatabaseReader): Promise<string | null> {
  const rows = await database.rows(
    `select id, url from repositories where disconnected_at is null and (url like '/%' or url like 'file:///%') order by id`,
  )
  const missing: string[] = []
  for (const { id, url } of rows as { id: number; url: string }[]) {
    const exists = await access(url.replace(/^file:\/\//, '')).then(
      () => true,
      () => false,
    )
    if (!exists) missing.push(oneLine(`repository ${id}: the folder ${url} does not exist`))
  }
  return missing.length === 0 ? null : listExamples(missing)
}

/** The connected repositories that meet the condition; null if there are none. */
async function problems(
  database: DatabaseReader,
  condition: string,
  describe: (row: Row) => string,
): Promise<string | null> {
  const rows = await database.rows(
    `select id, url, last_error, last_sync_at, rejected_deliveries, last_rejected_at, last_rejection, count(*) over () as total
     from repositories where disconnected_at is null and ${condition} order by id limit ${maxExamples}`,
  )
  if (rows.length === 0) return null
  const examples = rows.map((row) => oneLine(`repository ${row.id}, ${row.url}: ${describe(row).replace(/\.$/, '')}`))
  return listExamples(examples, rows[0]?.total as number)
}
