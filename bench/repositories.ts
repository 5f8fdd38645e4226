import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { type Backfill, measureBackfill, reportBackfill } from './backfill.ts'
import type { Place } from './connected.ts'
import { type Inbox, measureInbox } from './inbox.ts'
import type { Percentiles } from './median.ts'
import { measurePush } from './push.ts'

export interface Repositories {
  backfill: Backfill[]
  push: Record<Place['name'], Percentiles>
  inbox: Record<Place['name'], Inbox>
}

/** How fast history comes from git: the first time, after a push, and while many deliveries come in. */
export async function measureRepositories(urls: Record<Place['name'], string>, folder: string): Promise<Repositories> {
  const secretKey = randomBytes(32).toString('hex')
  const place = (name: Place['name']): Place => ({
    name,
    url: urls[name],
    env: { DATABASE_URL: urls[name], DATA_DIR: join(folder, name), PROMPTLEDGER_SECRET_KEY: secretKey },
  })
  const [sqlite, postgres] = [place('sqlite'), place('postgres')]
  return {
    backfill: await measureBackfill([sqlite, postgres], folder),
    push: { sqlite: await measurePush(sqlite, folder), postgres: await measurePush(postgres, folder) },
    inbox: { sqlite: await measureInbox(sqlite, folder), postgres: await measureInbox(postgres, folder) },
  }
}

export function reportRepositories({ backfill, push, inbox }: Repositories): string {
  const ms = (of: Percentiles, ...names: (keyof Percentiles)[]) => names.map((name) => of[name].toFixed(0)).join(' / ')
  return [
    '',
    ...reportBackfill(backfill),
    '',
    '| | SQLite | PostgreSQL |',
    '|---|---:|---:|',
    `| push to entry, ms, p50 / p95 | ${ms(push.sqlite, 'p50', 'p95')} | ${ms(push.postgres, 'p50', 'p95')} |`,
    `| answer to a delivery at 200/s, ms, p50 / p99 / most | ${ms(inbox.sqlite, 'p50', 'p99', 'most')} | ${ms(inbox.postgres, 'p50', 'p99', 'most')} |`,
    `| all worked on, s after the last of 4,000 | ${inbox.sqlite.doneAfter.toFixed(1)} | ${inbox.postgres.doneAfter.toFixed(1)} |`,
  ].join('\n')
}
