import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { onTestEnd } from '../../../testing/cleanup.ts'
import { isCitus, onPostgres, postgres } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { lockWaiters } from '../../../testing/lock-waiters.ts'
import { queryRows } from '../../../testing/rows.ts'
import { openTestStore, type Tenant, useService } from '../../../testing/service.ts'
import { assertSumsAgree } from '../../../testing/signal-sums.ts'
import { noDetails, signalFor } from '../../../testing/signals.ts'
import type { SignalToRecord } from '../../src/domain/signals/signal.ts'
import { hour, hourStart } from '../../src/domain/time.ts'
import { recordStatement } from '../../src/store/postgres/record-statement.ts'
import { changedRows, planChanges } from '../../src/store/sql/signal-changes.ts'

// Citus counts on the worker of the organisation.
if (!isCitus)
  onPostgres('Processes that record for the same organisation', () => {
    const service = useService(postgres)
    const unlimited = (tenant: Tenant): SignalToRecord => ({
      ...signalFor(tenant, { limit: null }),
      details: { ...noDetails, version: 'abcdef1' },
    })

    /** Records a signal as another process would, and leaves the transaction open. */
    async function recordWithoutCommit(signal: SignalToRecord, writer: number): Promise<pg.Client> {
      const other = new pg.Client({ connectionString: service.url })
      await other.connect()
      onTestEnd(() => other.end())
      await other.query('begin')
      const changes = planChanges([{ id: 1_000_000 + writer, signal, planned: null, outcome: null }], new Map())
      const [fence] = await queryRows(service.url, 'insert into batch_fences default values returning id')
      const { sql, parameters } = recordStatement(changedRows(changes, service.now), writer, Number(fence?.id), false)
      assert.equal((await other.query(sql, parameters)).rows.length, 1)
      return other
    }

    test('do not wait for each other if it has no monthly limit', async () => {
      const tenant = await service.tenant()
      const other = await recordWithoutCommit(unlimited(tenant), 1)
      assert.equal((await service.store.signals.record(unlimited(tenant))).kind, 'recorded')
      await other.query('commit')
      assert.equal(await tenant.used(), 2)
      await assertSumsAgree(service.url, false)
    })

    test('take turns if it has one, which is therefore exact', async () => {
      const tenant = await service.tenant()
      const limited = { ...unlimited(tenant), limit: 1 }
      const other = await recordWithoutCommit(limited, 2)
      const waiting = service.store.signals.record(limited)
      await eventually(async () => assert.equal(await lockWaiters(service.url), 1))
      await other.query('commit')
      assert.deepEqual(await waiting, { kind: 'over_limit', used: 1 })
    })

    test('count signals from before it got a limit towards it, wherever they are', async () => {
      const tenant = await service.tenant()
      await (await recordWithoutCommit(unlimited(tenant), 3)).query('commit')
      await service.store.signals.record(unlimited(tenant))
      const [third, fourth] = [
        await service.store.signals.record({ ...unlimited(tenant), limit: 3 }),
        await service.store.signals.record({ ...unlimited(tenant), limit: 3 }),
      ]
      assert.deepEqual([third.kind, 'used' in third && third.used], ['recorded', 3])
      assert.deepEqual(fourth, { kind: 'over_limit', used: 3 })
    })

    test('are read as one: an hour has one sum, however many have added to it', async () => {
      const tenant = await service.tenant()
      const { signals } = service.store
      // Of the hour before, which only one of them has, and of this one.
      await signals.record({ ...unlimited(tenant), createdAt: service.now - hour })
      for (const writer of [5, 6]) await (await recordWithoutCommit(unlimited(tenant), writer)).query('commit')
      const start = hourStart(service.now)
      const both = { start: [start - hour, start], positive: [1, 2], negative: [0, 0] }
      const { organisation, prompt } = tenant
      assert.deepEqual(await signals.hourlySums(prompt, start + hour), both)
      assert.deepEqual(await signals.hourlySumsAround(organisation.id, [{ promptId: prompt.id, at: start }], 5), [both])
      const last = await signals.hourlySumsAround(organisation.id, [{ promptId: prompt.id, at: start + hour }], 1)
      assert.deepEqual(last, [{ start: [start], positive: [2], negative: [0] }])
      const span = { promptId: prompt.id, version: 'abcdef1', from: 0, until: start + hour }
      assert.deepEqual(await signals.hourlySumsOfVersions(organisation.id, [span]), [both])
      assert.deepEqual(await signals.versionsOf(prompt), [{ version: 'abcdef1', positive: 3, negative: 0 }])
    })

    test('leave nothing behind when they stop, also of those that were killed', async () => {
      const tenant = await service.tenant()
      await (await recordWithoutCommit(unlimited(tenant), 4)).query('commit')
      const store = await openTestStore(service.url)
      await store.signals.record(unlimited(tenant))
      await store.close()
      const of = `where organisation_id = ${tenant.organisation.id}`
      const rows = await queryRows(
        service.url,
        `select (select count(*) from recent_sums ${of}) + (select count(*) from recent_usage ${of}) as recent,
           (select sum(positive) from signal_hours ${of}) as hours, (select sum(positive) from version_hours ${of}) as versions,
           (select sum(used) from signal_usage ${of}) as used`,
      )
      assert.deepEqual(Object.values(rows[0] as object).map(Number), [0, 2, 2, 2])
      await assertSumsAgree(service.url, false)
    })
  })
