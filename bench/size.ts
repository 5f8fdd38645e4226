import { stat } from 'node:fs/promises'
import pg from 'pg'
import { operator } from '../server/src/domain/access/audit.ts'
import { newOrganisation } from '../server/src/domain/access/organisation.ts'
import { newPrompt } from '../server/src/domain/prompt.ts'
import type { SignalToRecord } from '../server/src/domain/signals/signal.ts'
import { openStore } from '../server/src/store/open.ts'

type Name = 'sqlite' | 'postgres'

/** Bytes for each signal. `log`: what PostgreSQL writes ahead, and replicas and archives receive. */
interface Bytes {
  stored: number
  log: number | null
}

export type Sizes = Record<string, Record<Name, Bytes>>

const count = 100_000
const metadata = JSON.stringify({
  user: 'u-48213377',
  session: '0f1c6a52-9d3e-4c1b',
  model: 'small-3',
  latency_ms: 412,
})

const kinds: Record<string, (i: number) => Pick<SignalToRecord, 'metadata' | 'idempotency'>> = {
  'a signal': () => ({ metadata: null, idempotency: null }),
  [`with ${metadata.length} bytes of metadata`]: () => ({ metadata, idempotency: null }),
  'with metadata and an Idempotency-Key of 36 characters': (i) => ({
    metadata,
    idempotency: {
      key: `5b1e7a90-1f0c-4d2e-8a3b-${String(i).padStart(12, '0')}`,
      fingerprint: 'R0lYbVd2bW1UZ0J5c3VxT0Z0b1p4eW5hUQ0123456',
    },
  }),
}

/** What a signal takes up, of 100,000 that come in within a day for ten prompts. Each kind in a database of its own. */
export async function measureSize(newUrl: (name: Name) => Promise<string>): Promise<Sizes> {
  const sizes: Sizes = {}
  for (const [kind, rest] of Object.entries(kinds)) {
    sizes[kind] = {
      sqlite: await sizeOf(await newUrl('sqlite'), rest),
      postgres: await sizeOf(await newUrl('postgres'), rest),
    }
  }
  return sizes
}

async function sizeOf(
  url: string,
  rest: (i: number) => Pick<SignalToRecord, 'metadata' | 'idempotency'>,
): Promise<Bytes> {
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
      ...rest(start + i),
    }))
    await Promise.all(signals.map((signal) => store.signals.record(signal)))
  }
  await store.close()
  const after = await bytesOf(url)
  return {
    stored: (after.stored - before.stored) / count,
    log: after.log === null ? null : (after.log - (before.log as number)) / count,
  }
}

async function bytesOf(url: string): Promise<Bytes> {
  if (url.startsWith('sqlite:')) return { stored: (await stat(url.slice('sqlite:'.length))).size, log: null }
  const client = new pg.Client(url)
  await client.connect()
  const { rows } = await client.query(
    `select pg_database_size(current_database())::float8 as stored, (pg_current_wal_lsn() - '0/0')::float8 as log`,
  )
  await client.end()
  return rows[0]
}

export function reportSize(sizes: Sizes): string {
  return [
    '',
    `| bytes for each of ${count.toLocaleString('en')} | SQLite | PostgreSQL | its log |`,
    '|---|---:|---:|---:|',
    ...Object.entries(sizes).map(
      ([kind, { sqlite, postgres }]) =>
        `| ${kind} | ${sqlite.stored.toFixed(0)} | ${postgres.stored.toFixed(0)} | ${postgres.log?.toFixed(0)} |`,
    ),
  ].join('\n')
}
