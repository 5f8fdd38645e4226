import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import pg from 'pg'
import { dropCitusDatabase, runSql } from '../../../testing/citus.ts'
import { closeOnTestEnd } from '../../../testing/cleanup.ts'
import { runCli, runCliJson } from '../../../testing/cli.ts'
import { postgres, serverUrl } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { archivedRows, fillDatabase } from '../../../testing/filled-database.ts'
import { lockWaiters } from '../../../testing/lock-waiters.ts'
import { mainScript, spawnNode } from '../../../testing/processes.ts'
import { openTestStore, TestService } from '../../../testing/service.ts'
import { plain, urls } from './plain.ts'
import { organisations, recordSignal } from './recorders.ts'

async function findingOf(url: string): Promise<{ status: string; message: string; fix: string | null }> {
  const { stdout } = await runCli({ DATABASE_URL: url }, ['doctor', '--json'])
  const finding = JSON.parse(stdout).find(({ check }: { check: string }) => check === 'distribution')
  assert.ok(finding, 'doctor does not check the distribution')
  return finding
}

describe('promptledger distribute', () => {
  it('distributes a filled database with all its rows, and does nothing the second time', async () => {
    const service = new TestService()
    await service.open(plain)
    await fillDatabase(service)
    const before = await archivedRows(service.url)

    const first = await runCliJson<{ isNew: boolean; shards: number; workers: number }>(service.url, [
      'distribute',
      '--shards',
      '8',
    ])
    assert.deepEqual([first.isNew, first.shards, first.workers], [true, 8, 2])
    assert.deepEqual(await archivedRows(service.url), before)
    const second = await runCliJson<{ isNew: boolean; shards: number }>(service.url, ['distribute'])
    assert.deepEqual([second.isNew, second.shards], [false, 8])
    assert.deepEqual(await archivedRows(service.url), before)
    const third = await runCli({ DATABASE_URL: service.url }, ['distribute', '--shards', '4'])
    assert.match(third.stdout, /^Already distributed: 8 shards on 2 workers, .* --shards has no effect\.$/m)
    assert.match((await findingOf(service.url)).message, /^8 shards on 2 workers, 4 to 4 on each$/)
    const remains = `select coalesce(sum(pg_relation_size(logicalrelid)), 0)::int as bytes from pg_dist_partition where partmethod = 'h'`
    assert.deepEqual(await runSql(service.url, [remains]), [{ bytes: 0 }])
  })

  it('distributes an empty database', async () => {
    const { url } = await plain.create()
    const { shards } = await runCliJson<{ shards: number }>(url, ['distribute'])
    assert.equal(shards, 32)
    assert.equal((await findingOf(url)).status, 'ok')
  })

  it('distributes tables in a schema that the URL selects, and records signals there', async () => {
    const { url } = await plain.create()
    await runSql(url, ['create schema tenant'])
    const inSchema = new URL(url)
    inSchema.searchParams.set('options', '-c search_path=tenant')
    await runCliJson(inSchema.href, ['distribute', '--shards', '4'])
    const store = await openTestStore(inSchema.href)
    for (const organisation of organisations) {
      assert.equal((await recordSignal(store, organisation)).kind, 'recorded')
    }
    await store.close()
    const [stored] = await runSql(url, ['select count(*)::int as count from tenant.signals'])
    assert.equal(stored?.count, organisations.length)
  })

  it('says what is missing without Citus and without workers, and changes nothing', async () => {
    const name = `lone_${randomUUID().replaceAll('-', '')}`
    await runSql(serverUrl(), [`create database ${name}`])
    const remove = closeOnTestEnd(() => dropCitusDatabase([serverUrl()], name))
    const url = new URL(serverUrl())
    url.pathname = `/${name}`
    const run = () => runCli({ DATABASE_URL: url.href }, ['distribute'])
    assert.match((await run()).stderr, /does not have the extension citus\. Run 'create extension citus'/)
    await runSql(url.href, ['create extension citus'])
    assert.match((await run()).stderr, /citus_set_coordinator_host/)
    await runSql(url.href, [`select citus_set_coordinator_host('127.0.0.1', ${url.port})`])
    assert.match((await run()).stderr, /no workers.*citus_add_node/)
    assert.deepEqual(await runSql(url.href, ['select 1 from pg_dist_partition']), [])
    const migrated = await runSql(url.href, [`select to_regclass('schema_migrations') is not null as migrated`])
    assert.deepEqual(migrated, [{ migrated: false }])
    await remove()
  })

  it('names the servers that the coordinator cannot connect to, and changes nothing', async () => {
    const { url } = await plain.create()
    const role = `stranger_${randomUUID().replaceAll('-', '')}`
    // Created where Citus does not copy it to the workers, which therefore refuse it.
    await runSql(serverUrl(), [`create role ${role} login`])
    closeOnTestEnd(() => runSql(serverUrl(), [`drop role ${role}`]).then(() => {}))
    const asStranger = new URL(url)
    asStranger.username = role
    const { code, stderr } = await runCli({ DATABASE_URL: asStranger.href }, ['distribute'])
    assert.equal(code, 1)
    const workers = urls.slice(1).map((worker) => new URL(worker).host)
    for (const worker of workers) assert.ok(stderr.includes(worker), stderr)
    assert.match(stderr, /The coordinator cannot connect to .*docs\/operations\/citus\.md#servers/)
    const migrated = await runSql(url, [`select to_regclass('schema_migrations') is not null as migrated`])
    assert.deepEqual(migrated, [{ migrated: false }])
  })

  it('rejects SQLite without opening the file', async () => {
    const { code, stderr } = await runCli({ DATABASE_URL: 'sqlite:/nowhere/missing.db' }, ['distribute'])
    assert.equal(code, 1)
    assert.match(stderr, /Only PostgreSQL with the extension citus can be distributed/)
  })

  it('killed in the middle, it leaves the database as it was, and the next run distributes it', async () => {
    const service = new TestService()
    await service.open(plain)
    const tenant = await service.tenant('business', 'admin')
    await tenant.signal({ value: 'positive' })
    const before = await archivedRows(service.url)
    const worker = new URL(urls[1] as string)
    worker.pathname = new URL(service.url).pathname
    // Makes the command wait for the name of its last table on this worker, with all others distributed.
    const blocker = new pg.Client({ connectionString: worker.href })
    await blocker.connect()
    const release = closeOnTestEnd(() => blocker.end())
    await blocker.query('begin')
    await blocker.query('create table hour_revisions ()')
    const { child, exited } = spawnNode([mainScript, 'distribute', '--shards', '2'], {
      env: { DATABASE_URL: service.url },
    })
    await eventually(async () => (await lockWaiters(worker.href)) > 0, { timeoutMs: 120_000 })
    child.kill('SIGKILL')
    await exited
    await release()
    // Waits for the transaction of the killed command.
    const second = await runCliJson<{ isNew: boolean }>(service.url, ['distribute', '--shards', '2'])
    assert.equal(second.isNew, true)
    assert.deepEqual(await archivedRows(service.url), before)
    assert.equal((await findingOf(service.url)).status, 'ok')
  })

  it('a table that a migration adds is distributed by it', async () => {
    const { url } = await postgres.create()
    await runSql(url, [`select undistribute_table('hour_revisions')`])
    const { status, message } = await findingOf(url)
    assert.deepEqual([status, message], ['error', 'hour_revisions is not distributed by organisation_id'])
    assert.equal((await runCli({ DATABASE_URL: url }, ['migrate'])).code, 0)
    assert.equal((await findingOf(url)).status, 'ok')
  })
})

describe('Recording on a distributed database', () => {
  it('waits for a backup that stops all writers, although it writes to the shards past Citus', async () => {
    const { url } = await postgres.create()
    const store = await openTestStore(url)
    closeOnTestEnd(() => store.close())
    const signal = { promptId: 1, value: 'positive' as const, metadata: null, idempotency: null, details: null }
    const record = () => store.signals.record({ ...signal, organisationId: 1, createdAt: Date.now(), limit: null })
    await record()
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    closeOnTestEnd(() => client.end())
    await client.query('begin')
    await client.query('lock table signal_hours in share mode')
    const recorded = record()
    await eventually(async () => assert.equal(await lockWaiters(url), 1), { timeoutMs: 60_000 })
    await client.query('rollback')
    assert.equal((await recorded).kind, 'recorded')
  })
})
