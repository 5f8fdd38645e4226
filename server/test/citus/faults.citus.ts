import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import pg from 'pg'
import { runSql } from '../../../testing/citus.ts'
import { closeOnTestEnd, onTestEnd } from '../../../testing/cleanup.ts'
import { startDistributed } from '../../../testing/distributed-cluster.ts'
import { eventually } from '../../../testing/eventually.ts'
import type { PostgresServer } from '../../../testing/postgres.ts'
import { openTestStore } from '../../../testing/service.ts'
import type { Store } from '../../src/domain/store.ts'
import { monthStart, nextMonthStart } from '../../src/domain/time.ts'
import { recordFunction } from '../../src/store/postgres/distributed-record.ts'
import { fixSnapshots } from '../../src/store/postgres/distributed-snapshot.ts'
import { partitionName } from '../../src/store/postgres/partitions.ts'
import { assertRecovered, organisationsBeside, recordSignal, startRecorders, untilAllWrote } from './recorders.ts'

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  onTestEnd(() => client.end())
  return client
}

describe('When a server of the cluster is killed while signals are recorded', () => {
  let servers: PostgresServer[] = []
  let url = ''
  let store: Store

  before(async () => {
    const cluster = await startDistributed()
    servers = cluster.servers
    url = cluster.url
    store = await openTestStore(url)
    closeOnTestEnd(() => store.close())
  })

  it('a worker stops only its own organisations, and nothing that was acknowledged is lost', async (t) => {
    const victim = servers[1] as PostgresServer
    const others = await organisationsBeside(url, victim)
    const running = startRecorders(store)
    await untilAllWrote(running)
    await victim.halt('SIGKILL')
    running.clear()
    await eventually(() => assert.ok(running.failed.length > 0), { timeoutMs: 60_000 })
    await untilAllWrote(running, others)
    assert.deepEqual(
      running.failed.filter(({ organisation }) => others.includes(organisation)),
      [],
    )
    await victim.resume()
    await assertRecovered(t, url, running)
  })

  it('the coordinator stops everything until it is back, and nothing that was acknowledged is lost', async (t) => {
    const coordinator = servers[0] as PostgresServer
    const running = startRecorders(store)
    await untilAllWrote(running)
    await coordinator.halt('SIGKILL')
    await coordinator.resume()
    await assertRecovered(t, url, running)
  })

  // The service notices a move later, so batches reach the worker that had the shard, where Citus may keep its tables for a while.
  it('a shard that moves to another worker and back while its organisations record loses nothing', async (t) => {
    const running = startRecorders(store)
    const ports = servers.slice(1).map((server) => Number(new URL(server.url).port)) as [number, number]
    const usage = `from citus_shards where table_name = 'signal_usage'::regclass`
    const [row] = await runSql(url, [`select min(shardid)::text as shard ${usage} and nodeport = ${ports[0]}`])
    for (const [from, to] of [ports, ports.toReversed()]) {
      running.clear()
      await untilAllWrote(running)
      await runSql(url, [
        `select citus_move_shard_placement(${row?.shard}, '127.0.0.1', ${from}, '127.0.0.1', ${to}, 'block_writes')`,
      ])
      assert.deepEqual(await runSql(url, [`select nodeport as port ${usage} and shardid = ${row?.shard}`]), [
        { port: to },
      ])
    }
    await assertRecovered(t, url, running)
    assert.deepEqual(running.failed, [])
  })

  it('a shard that is split while its organisations record loses nothing, and the next start knows its parts', async (t) => {
    const running = startRecorders(store)
    await untilAllWrote(running)
    const [row] = await runSql(url, [
      `select isolate_tenant_to_new_shard('signal_usage', 1, 'CASCADE', shard_transfer_mode => 'block_writes')::text as shard`,
    ])
    running.clear()
    await untilAllWrote(running)
    const isKnown = `select prosrc like '%when ${row?.shard} then%' as known from pg_proc where proname = '${recordFunction.name}'`
    assert.deepEqual(await runSql(url, [isKnown]), [{ known: false }])
    await (await openTestStore(url)).close()
    assert.deepEqual(await runSql(url, [isKnown]), [{ known: true }])
    await assertRecovered(t, url, running)
    assert.deepEqual(running.failed, [])
  })

  it('the monthly limit is exact with two processes', async () => {
    const other = await openTestStore(url)
    closeOnTestEnd(() => other.close())
    const [organisationId, limit] = [1_000, 50]
    const outcomes = await Promise.all(
      Array.from({ length: 120 }, (_, i) => recordSignal(i % 2 === 0 ? store : other, organisationId, limit)),
    )
    assert.equal(outcomes.filter(({ kind }) => kind === 'recorded').length, limit)
    assert.equal(outcomes.filter(({ kind }) => kind === 'over_limit').length, 70)
  })

  it('a backup that waits for a writer on a worker gives up, so that other writers do not wait for both', async () => {
    const worker = new URL((servers[1] as PostgresServer).url)
    worker.pathname = new URL(url).pathname
    const [writer, reader, locker] = await Promise.all([connect(worker.href), connect(url), connect(url)])
    await writer.query('begin')
    // As the function that records signals does.
    await writer.query(`select lock_relation_if_exists('signal_hours', 'ROW EXCLUSIVE')`)
    await locker.query(`set statement_timeout = '60s'`)
    await reader.query('begin isolation level repeatable read, read only')
    await assert.rejects(
      fixSnapshots(reader, locker),
      /^Error: Cannot stop the writers of signals (?!.*statement timeout)/,
    )
  })

  it('a month that starts while a worker is down is recorded for the organisations of the others', async () => {
    const victim = servers[1] as PostgresServer
    const [organisationId] = (await organisationsBeside(url, victim)) as [number]
    let now = Date.now()
    const early = await openTestStore(url, () => now)
    await victim.halt('SIGKILL')
    now = nextMonthStart(monthStart(now))
    assert.equal((await recordSignal(early, organisationId, null, now)).kind, 'recorded')
    const restarted = await openTestStore(url, () => now)
    assert.equal((await recordSignal(restarted, organisationId, null, now)).kind, 'recorded')
    await victim.resume()
    await (await openTestStore(url, () => now)).close()
    const ahead = partitionName(nextMonthStart(now))
    assert.deepEqual(await runSql(url, [`select to_regclass('${ahead}') is not null as exists`]), [{ exists: true }])
  })
})
