import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { type Backfill, measureBackfill, reportBackfill } from './backfill.ts'
import { type Deliveries, measureDeliveries } from './deliveries.ts'
import type { Installation } from './installation.ts'
import { measurePush } from './push.ts'
import type { Percentiles } from './statistics.ts'

type Engine = Installation['engine']

export interface Repositories {
  backfill: Backfill[]
  push: Record<Engine, Percentiles>
  deliveries: Record<Engine, Deliveries>
}

/** How fast history comes from git: on the first sync, after a push, and while many webhook deliveries arrive. */
export async function measureRepositories(urls: Record<Engine, string>, folder: string): Promise<Repositories> {
  const secretKey = randomBytes(32).toString('hex')
  const installation = (engine: Engine): Installation => ({
    engine,
    url: urls[engine],
    env: { DATABASE_URL: urls[engine], DATA_DIR: join(folder, engine), PROMPTLEDGER_SECRET_KEY: secretKey },
  })
  const [sqlite, postgres] = [installation('sqlite'), installation('postgres')]
  return {
    backfill: await measureBackfill([sqlite, postgres], folder),
    push: { sqlite: await measurePush(sqlite, folder), postgres: await measurePush(postgres, folder) },
    deliveries: {
      sqlite: await measureDeliveries(sqlite, folder),
      postgres: await measureDeliveries(postgres, folder),
    },
  }
}

export function reportRepositories({ backfill, push, deliveries }: Repositories): string {
  const cells = (of: Record<Engine, Percentiles>, ...names: (keyof Percentiles)[]) =>
    [of.sqlite, of.postgres].map((one) => names.map((name) => one[name].toFixed(0)).join(' / ')).join(' | ')
  const { sqlite, postgres } = deliveries
  return [
    '',
    ...reportBackfill(backfill),
    '',
    '| | SQLite | PostgreSQL |',
    '|---|---:|---:|',
    `| push to entry, p50 / p95, ms | ${cells(push, 'p50', 'p95')} |`,
    `| webhook response at 200 deliveries/s, p50 / p99 / max, ms | ${cells(deliveries, 'p50', 'p99', 'max')} |`,
    `| backlog cleared after the last of 4,000 deliveries, s | ${sqlite.clearedAfter.toFixed(1)} | ${postgres.clearedAfter.toFixed(1)} |`,
  ].join('\n')
}
