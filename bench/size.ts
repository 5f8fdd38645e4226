import { stat } from 'node:fs/promises'
import pg from 'pg'
import { operator } from '../server/src/domain/access/audit.ts'
import { newOrganisation } from '../server/src/domain/access/organisation.ts'
import { newPrompt } from '../server/src/domain/prompt.ts'
import type { SignalToRecord } from '../server/src/domain/signals/signal.ts'
import { openStore } from '../server/src/store/open.ts'

type Engine = 'sqlite' | 'postgres'

interface Bytes {
  stored: number
  /** PostgreSQL's write-ahead log, which replicas and archives receive. */
  wal: number | null
}

/** Bytes per signal. */
export type Sizes = Record<string, Record<Engine, Bytes>>

const count = 100_000
const metadata = JSON.stringify({
  user: 'u-48213377',
  session: '0f1c6a52-9d3e-4c1b',
  model: 'small-3',
  latency_ms: 412,
})

type Extras = Pick<SignalToRecord, 'metadata' | 'idempotency'>

const kinds: Record<string, (i: number) => Extras> = {
  'value only': () => ({ metadata: null, idempotency: null }),
  [`with ${metadata.length} bytes of metadata`]: () => ({ metadata, idempotency: null }),
  'with metadata and an Idempotency-Key of 36 characters': (i) => ({
    metadata,
    idempotency: {
      key: `5b1e7a90-1f0c-4d2e-8a3b-${String(i).padStart(12, '0')}`,
      fingerprint: 'R0lYbVd2bW1UZ0J5c3VxT0Z0b1p4eW5hUQ0123456',
    },
  }),
}

/** Storage per signal for 100,000 signals on ten prompts within a day. Each kind gets a database of its own. */
export async function measureSize(createDatabase: (engine: Engine) => Promise<string>): Promise<Sizes> {
  const sizes: Sizes = {}
  for (const [kind, extras] of Object.entries(kinds)) {
    sizes[kind] = {
      sqlite: await sizeOf(await createDatabase('sqlite'), extras),
      postgres: await sizeOf(await createDatabase('postgres'), extras),
    }
  }
  return sizes
}

async function sizeOf(url: string, extras: (i: number) => Extras): Promise<Bytes> {
  const now = Date.now()
  const store = await openStore({ url, poolSize: 4, clock: () => now, onLostConnection: () => {} })
  const { id: organisationId } = await store.organisations.create(newOrganisation('Size', 'business', now))
  const prompts = await Promise.all(
    Array.from({ length: 10 }, (_, i) => store.prompts.create(newPrompt(organisationId, `p${i}`, now), operator)),
  )
  const before = await bytesOf(url)
  for (let start = 0; start < count; start += 256) {
    const signals = Array.from({ length: Math.min(256, count - start) }, (_, i) => ({
      organisationId,
      promptId: (prompts[i % prompts.length] as { id: number }).id,
      value: 'positive' as const,
      createdAt: now + Math.floor(((start + i) / count) * 86_400_000),
      limit: count,
      ...extras(start + i),
    }))
    await Promise.all(signals.map((signal) => store.signals.record(signal)))
  }
  await store.close()
  const after = await bytesOf(url)
  return {
    stored: (after.stored - before.stored) / count,
    wal: after.wal === null ? null : (after.wal - (before.wal as number)) / count,
  }
}

export async function bytesOf(url: string): Promise<Bytes> {
  if (url.startsWith('sqlite:')) return { stored: (await stat(url.slice('sqlite:'.length))).size, wal: null }
  const client = new pg.Client(url)
  await client.connect()
  const { rows } = await client.query(
    `select pg_database_size(current_database())::float8 as stored, (pg_current_wal_lsn() - '0/0')::float8 as wal`,
  )
  await client.end()
  return rows[0]
}

export function reportSize(sizes: Sizes): string {
  return [
    '',
    `| bytes per signal, of ${count.toLocaleString('en')} | SQLite | PostgreSQL | PostgreSQL WAL |`,
    '|---|---:|---:|---:|',
    ...Object.entries(sizes).map(
      ([kind, { sqlite, postgres }]) =>
        `| ${kind} | ${sqlite.stored.toFixed(0)} | ${postgres.stored.toFixed(0)} | ${postgres.wal?.toFixed(0)} |`,
    ),
  ].join('\n')
}
