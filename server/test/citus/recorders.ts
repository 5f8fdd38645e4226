import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { runSql } from '../../../testing/citus.ts'
import { onTestEnd } from '../../../testing/cleanup.ts'
import { eventually } from '../../../testing/eventually.ts'
import type { PostgresServer } from '../../../testing/postgres.ts'
import type { Store } from '../../src/domain/store.ts'

export const organisations = Array.from({ length: 40 }, (_, i) => i + 1)

export interface Recorders {
  /** How many signals of each organisation were acknowledged since the last `clear`. */
  counts: Map<number, number>
  /** The organisation of each request that failed, and how long it took. */
  failed: { organisation: number; ms: number }[]
  /** How long each acknowledged request of an organisation took, since the last `clear`. */
  times: Map<number, number[]>
  /** The organisation of each acknowledged signal, by ID. */
  acknowledged: Map<number, number>
  clear(): void
  stop(): Promise<void>
}

export function recordSignal(
  store: Store,
  organisationId: number,
  limit: number | null = null,
  createdAt = Date.now(),
) {
  const plain = { value: 'positive' as const, metadata: null, idempotency: null, details: null }
  return store.signals.record({ ...plain, promptId: organisationId, organisationId, createdAt, limit })
}

/** Records signals of all organisations until `stop` is called, and notes what was acknowledged and what failed. */
export function startRecorders(store: Store): Recorders {
  const acknowledged = new Map<number, number>()
  const failed: Recorders['failed'] = []
  const counts = new Map<number, number>()
  const times = new Map<number, number[]>()
  let stopped = false
  const loops = organisations.map(async (organisationId) => {
    while (!stopped) {
      const start = performance.now()
      const ms = () => performance.now() - start
      try {
        const outcome = await recordSignal(store, organisationId)
        assert.ok(outcome.kind === 'recorded')
        acknowledged.set(outcome.id, organisationId)
        counts.set(organisationId, (counts.get(organisationId) ?? 0) + 1)
        if (!times.has(organisationId)) times.set(organisationId, [])
        times.get(organisationId)?.push(ms())
      } catch {
        failed.push({ organisation: organisationId, ms: ms() })
        // A request can be rejected at once, and the next one must not keep this process from doing anything else.
        await pause(20)
      }
    }
  })
  async function stop(): Promise<void> {
    stopped = true
    await Promise.all(loops)
  }
  onTestEnd(stop)
  return {
    counts,
    failed,
    times,
    acknowledged,
    clear() {
      counts.clear()
      times.clear()
    },
    stop,
  }
}

export function untilAllWrote({ counts }: Recorders, among: number[] = organisations): Promise<void> {
  const timeoutMs = 120_000
  return eventually(() => assert.ok(among.every((organisation) => (counts.get(organisation) ?? 0) > 2)), { timeoutMs })
}

/** The organisations whose signals are on other workers than this server. */
export async function organisationsBeside(url: string, server: PostgresServer): Promise<number[]> {
  const placed = await runSql(url, [
    `select o::int as organisation, nodeport::text as port from generate_series(1, ${organisations.length}) o
     join pg_dist_placement p on p.shardid = get_shard_id_for_distribution_column('signal_usage', o::bigint)
     join pg_dist_node n using (groupid)`,
  ])
  const { port } = new URL(server.url)
  const others = placed.filter((row) => row.port !== port).map(({ organisation }) => organisation as number)
  assert.ok(others.length > 0 && others.length < organisations.length)
  return others
}

/** Waits until all organisations record again, and throws if an acknowledged signal is lost. */
export async function assertRecovered(t: TestContext, url: string, running: Recorders): Promise<void> {
  running.clear()
  await untilAllWrote(running)
  await running.stop()
  await assertNothingLost(url, running.acknowledged)
  t.diagnostic(`${running.acknowledged.size} acknowledged, ${running.failed.length} failed`)
}

/** Throws unless each acknowledged signal is stored once, and the usage and the sums agree with the stored signals. */
export async function assertNothingLost(url: string, acknowledged: Map<number, number>): Promise<void> {
  const rows = await runSql(url, ['select id::text, organisation_id::int as organisation from signals'])
  const stored = new Map(rows.map(({ id, organisation }) => [Number(id), organisation as number]))
  assert.equal(stored.size, rows.length, 'a signal is stored twice')
  const lost = [...acknowledged].filter(([id, organisation]) => stored.get(id) !== organisation)
  assert.deepEqual(lost, [])
  const usage = await runSql(url, [
    `select u.organisation_id from (select organisation_id, sum(used) as used from signal_usage group by 1) u
     join (select organisation_id, count(*) as stored from signals group by 1) s using (organisation_id) where used <> stored`,
  ])
  assert.deepEqual(usage, [], 'the usage differs from the stored signals')
  const sums = await runSql(url, [
    `select (select sum(positive + negative) from signal_hours)::int as summed, (select count(*) from signals)::int as stored`,
  ])
  assert.equal(sums[0]?.summed, sums[0]?.stored)
}

/** The largest of these numbers apart from the highest 1%. */
export function p99(numbers: number[]): number {
  return quantile(numbers, 0.99)
}

export function quantile(numbers: number[], share: number): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length * share)] ?? 0
}
