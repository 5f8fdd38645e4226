import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { onTestEnd } from '../../../testing/cleanup.ts'
import { isCitus, onPostgres, postgres } from '../../../testing/engines.ts'
import { queryRows } from '../../../testing/rows.ts'
import { openTestStore, type Tenant, TestService } from '../../../testing/service.ts'
import { assertSumsAgree } from '../../../testing/signal-sums.ts'
import { noDetails, signalFor } from '../../../testing/signals.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { countErasure, metadataQuery } from '../../src/domain/signals/erasure.ts'
import { day, type Instant } from '../../src/domain/time.ts'
import { dropSignalKey, restoreSignalKey } from '../../src/store/postgres/signal-key.ts'

/** How the signals of each month are found, with `key` for a primary key. */
const layout = `
  select c.relname as month, coalesce(string_agg(x.relname, ' ' order by x.relname) filter (where k.indisprimary
    or pg_get_indexdef(k.indexrelid) like '%(prompt_id, created_at) WITH (deduplicate_items=off)'), '') as indexes,
    c.relreplident as identity,
    exists (select from pg_constraint where conrelid = c.oid and conname = 'of_month') as "hasCheck"
  from pg_inherits i join pg_class c on c.oid = i.inhrelid
    left join pg_index k on k.indrelid = c.oid and k.indisvalid left join pg_class x on x.oid = k.indexrelid
  where i.inhparent = 'signals'::regclass group by 1, 3, 4 order by 1`

const withKey = (month: string) => ({ month, indexes: `${month}_pkey`, identity: 'd', hasCheck: false })
const withoutKey = (month: string) => ({
  month,
  indexes: `${month}_prompt_id_created_at_idx`,
  identity: 'f',
  hasCheck: false,
})

// On Citus, each month has its key.
if (!isCitus)
  onPostgres('A database whose months have primary keys', () => {
    let service: TestService
    let tenant: Tenant
    let client: pg.Client

    /** Opens a service on a database as the previous version has left it. */
    async function setUp(): Promise<void> {
      service = new TestService()
      await service.open(postgres)
      tenant = await service.tenant('business')
      client = new pg.Client(service.url)
      await client.connect()
      onTestEnd(() => client.end())
      await restoreSignalKey(client)
    }

    function record(at: Instant, subject: string | null = null) {
      const signal = signalFor(tenant, { metadata: '{"user":"u"}', createdAt: at, limit: null })
      return service.store.signals.record({ ...signal, details: { ...noDetails, subject, occurredAt: at } })
    }

    async function timesOf(from: Instant): Promise<[number, number][]> {
      const found: [number, number][] = []
      for await (const signals of service.store.signals.stream(tenant.prompt, {
        value: null,
        since: from,
        until: null,
      })) {
        found.push(...signals.map(({ occurredAt, id }): [number, number] => [occurredAt, id]))
      }
      return found
    }

    test('keeps them when a newer version starts, and gets a narrow index in the months from then on', async () => {
      await setUp()
      const { now } = service
      for (const at of [now, now - 1, now, now - 31 * day]) await record(at)
      await openTestStore(service.url)
      const old = ['signals_2026_10', 'signals_2026_11', 'signals_2026_12'].map(withKey)
      assert.deepEqual(await queryRows(service.url, layout), old)

      service.now += 60 * day
      for (const at of [service.now, service.now - 1, service.now]) await record(at)
      const later = ['signals_2027_01', 'signals_2027_02'].map(withoutKey)
      assert.deepEqual(await queryRows(service.url, layout), [...old, ...later])

      const times = await timesOf(0)
      assert.equal(times.length, 7)
      assert.deepEqual(
        times,
        times.toSorted(([a, i], [b, j]) => a - b || i - j),
      )
      const page = await service.store.signals.page(
        tenant.prompt,
        { value: null, since: null, until: null },
        { page: '1', limit: 5 },
      )
      assert.deepEqual(
        page.signals.map(({ id }) => id),
        times
          .toReversed()
          .slice(0, 5)
          .map(([, id]) => id),
      )
      await assertSumsAgree(service.url)
    })

    test('erases, deletes and replaces signals of all months', async () => {
      await setUp()
      await record(service.now, 'moved')
      await record(service.now)
      await openTestStore(service.url)
      const { now } = service
      service.now += 60 * day
      await record(service.now)
      await record(service.now, 'moved')
      const by = { organisationId: tenant.organisation.id, keyId: null as never }
      const count = () =>
        countErasure(service.store.signals, by, metadataQuery('{"user":"u"}'), service.now, () => true)
      assert.equal(await count(), 3)
      assert.deepEqual(
        (await timesOf(0)).map(([at]) => at),
        [now, service.now, service.now],
      )
      for (const [, id] of await timesOf(0)) {
        assert.ok(await service.store.signals.delete(tenant.prompt, id, service.now, operator))
      }
      assert.equal(await count(), 0)
      await assertSumsAgree(service.url)
    })

    test('records signals while its months are detached and attached again', async () => {
      await setUp()
      let isDone = false
      let recorded = 0
      const recording = (async () => {
        while (!isDone) {
          assert.equal((await record(service.now)).kind, 'recorded')
          recorded++
        }
      })()
      await openTestStore(service.url)
      isDone = true
      await recording
      assert.equal((await timesOf(0)).length, recorded)
      assert.deepEqual(await queryRows(service.url, layout), ['signals_2026_11', 'signals_2026_12'].map(withKey))
    })

    test('keeps recording while others read for longer than the newer version waits, and tries again', async () => {
      await setUp()
      await record(service.now)
      const reader = new pg.Client(service.url)
      await reader.connect()
      onTestEnd(() => reader.end())
      await reader.query('begin')
      await reader.query('select from signals')
      await dropSignalKey(client, 50)
      assert.equal((await record(service.now)).kind, 'recorded')
      await reader.query('rollback')
      const keys = `select from pg_constraint where conrelid = 'signals'::regclass and contype = 'p'`
      assert.equal((await queryRows(service.url, keys)).length, 1)
      await dropSignalKey(client)
      assert.equal((await queryRows(service.url, keys)).length, 0)
      assert.equal((await timesOf(0)).length, 2)
    })

    test('has the narrow index in months that a process of the previous version creates', async () => {
      await setUp()
      await dropSignalKey(client)
      await client.query('create table signals_2027_01 (like signals including all)')
      const [january, february] = [Date.UTC(2027, 0), Date.UTC(2027, 1)]
      await client.query(
        `alter table signals attach partition signals_2027_01 for values from (${january}) to (${february})`,
      )
      const months = await queryRows(service.url, layout)
      assert.deepEqual(months.at(-1), { ...withoutKey('signals_2027_01'), identity: 'd' })
    })

    test('has one in every month again before Citus distributes it', async () => {
      await setUp()
      await record(service.now)
      await dropSignalKey(client)
      service.now += 60 * day
      await record(service.now)
      await client.query('begin')
      await restoreSignalKey(client)
      await client.query('commit')
      const months = ['signals_2026_11', 'signals_2026_12', 'signals_2027_01', 'signals_2027_02']
      assert.deepEqual(await queryRows(service.url, layout), months.map(withKey))
    })
  })
