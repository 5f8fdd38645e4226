import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import pg from 'pg'
import { onTestEnd } from '../../../testing/cleanup.ts'
import { type Engine, isCitus, onEachEngine, onPostgres, postgres } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { lockWaiters } from '../../../testing/lock-waiters.ts'
import { startServe } from '../../../testing/processes.ts'
import { queryRows } from '../../../testing/rows.ts'
import { openTestStore, type Tenant, TestService, useService } from '../../../testing/service.ts'
import { inBatches, noDetails, signalFor } from '../../../testing/signals.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { newOrganisation } from '../../src/domain/access/organisation.ts'
import { newPrompt } from '../../src/domain/prompt.ts'
import { eraseSignals, metadataQuery } from '../../src/domain/signals/erasure.ts'
import { removeOldSignals } from '../../src/domain/signals/retention.ts'
import type { NewSignal, SignalFilter, SignalValue, StoredSignal } from '../../src/domain/signals/signal.ts'
import { day, hour, hourStart, monthStart } from '../../src/domain/time.ts'
import { advisoryLockId } from '../../src/store/postgres/connection.ts'
import { partitionName } from '../../src/store/postgres/partitions.ts'

const retentionDays = 30
const everything: SignalFilter = { value: null, since: null, until: null }

/** The start of retention, which SQLite rounds down to an hour and PostgreSQL to a month. */
const cutoffOf = (engine: Engine, now: number) =>
  engine.name === 'SQLite' ? hourStart(now - retentionDays * day) : monthStart(now - retentionDays * day)

/** A service on a database of its own, because retention applies to the whole database. */
async function openService(engine: Engine): Promise<TestService> {
  const service = new TestService()
  await service.open(engine)
  return service
}

function signalAt(tenant: Tenant, createdAt: number, value: SignalValue = 'positive'): NewSignal {
  const { organisation, prompt } = tenant
  return { organisationId: organisation.id, promptId: prompt.id, value, metadata: '{"user":"u-1"}', createdAt }
}

async function streamedSignals({ service, prompt }: Tenant, filter = everything): Promise<StoredSignal[]> {
  return (await Array.fromAsync(service.store.signals.stream(prompt, filter))).flat()
}

/** Reads page after page, and checks the total against the signals read. */
async function pagedSignals({ service, prompt }: Tenant, filter: SignalFilter, limit: number): Promise<StoredSignal[]> {
  const read: StoredSignal[] = []
  for (let page = 1; ; page++) {
    const { signals, totalCount } = await service.store.signals.page(prompt, filter, { page: String(page), limit })
    read.push(...signals)
    if (signals.length === 0) {
      assert.equal(totalCount, read.length)
      return read
    }
  }
}

async function rowCount(url: string, table: string): Promise<number> {
  const [row] = await queryRows(url, `select count(*) as n from ${table}`)
  return Number(row?.n)
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  onTestEnd(() => client.end())
  return client
}

/** How many connections of the service wait for the lock on the schema. */
async function tableLockRequests(url: string): Promise<number> {
  return rowCount(
    url,
    "pg_stat_activity where query like 'select pg_%advisory_lock(%' and application_name = 'promptledger' and datname = current_database()",
  )
}

onEachEngine('Retention', (engine) => {
  test('after a removal, lists, counts and exports agree on any filter, and hourly sums stay', async () => {
    const service = await openService(engine)
    // Not on the hour.
    service.now += 1_234_567
    const { now } = service
    const cutoff = cutoffOf(engine, now)
    // Far from the cutoff, around it, and exactly on it.
    const instant = fc
      .tuple(fc.constantFrom(cutoff - 40 * day, cutoff - day, cutoff, cutoff + day, now - hour), fc.integer())
      .map(([base, rest]) => base + ([-hour, -1, 0, 1, hour / 2, hour - 1, hour][Math.abs(rest) % 7] as number))
    const signals = fc.array(fc.tuple(instant, fc.constantFrom<SignalValue>('positive', 'negative')), { maxLength: 40 })
    const bound = fc.option(instant, { nil: null })
    const filter = fc.record({
      value: fc.constantFrom<SignalValue | null>(null, 'positive', 'negative'),
      since: bound,
      until: bound,
    })
    await fc.assert(
      fc.asyncProperty(signals, filter, fc.integer({ min: 1, max: 10 }), async (imported, filter, limit) => {
        const { value, since, until } = filter
        fc.pre(since === null || until === null || until > since)
        const tenant = await service.tenant()
        await service.store.signals.import(inBatches(imported.map(([at, value]) => signalAt(tenant, at, value))))
        const span = { from: cutoff - 60 * day, until: now + day }
        const sums = await service.store.signals.tallyByInterval(tenant.prompt, span, 'day')
        await removeOldSignals(service.store.signals, retentionDays, now)
        assert.equal(await service.store.signals.retainedSince(), cutoff)
        const expected = imported
          .filter(([at]) => at >= cutoff)
          .filter(([at, of]) => at >= (since ?? at) && at < (until ?? at + 1) && of === (value ?? of))
          .map(([at, of]) => `${at} ${of}`)
          .sort()
        const texts = (signals: StoredSignal[]) => signals.map(({ createdAt, value }) => `${createdAt} ${value}`)
        assert.deepEqual(texts(await streamedSignals(tenant, filter)).sort(), expected)
        const paged = await pagedSignals(tenant, filter, limit)
        assert.deepEqual(texts(paged).sort(), expected)
        assert.deepEqual(
          paged.map(({ createdAt }) => createdAt),
          paged.map(({ createdAt }) => createdAt).sort((a, b) => b - a),
        )
        assert.deepEqual(await service.store.signals.tallyByInterval(tenant.prompt, span, 'day'), sums)
        const old = `signals where prompt_id = ${tenant.prompt.id} and created_at < ${cutoff}`
        assert.equal(await rowCount(service.url, old), 0)
      }),
      { numRuns: engine.name === 'SQLite' ? 40 : 15 },
    )
  })

  test('idempotency keys are removed with their signals, and no others', async () => {
    const service = await openService(engine)
    const tenant = await service.tenant('free', 'admin')
    const { now } = service
    const cutoff = cutoffOf(engine, now)
    const send = (key: string) => tenant.signal({ value: 'positive' }, { 'idempotency-key': key })
    const sentId = async (key: string) => (await send(key)).json().data.id
    service.now = cutoff - 1
    await Promise.all(Array.from({ length: 600 }, (_, i) => send(`old-${i}`)))
    service.now = cutoff
    const retained = await sentId('retained')
    service.now = now
    await removeOldSignals(service.store.signals, retentionDays, now)
    assert.equal(await rowCount(service.url, 'idempotency_keys'), 1)
    assert.equal(await sentId('retained'), retained)
    assert.equal((await send('old-1')).statusCode, 201)
    assert.equal(await tenant.used(), 602)
  })

  test('a vote that is replaced after its signal was removed counts again, and its signal stays removed', async () => {
    const service = await openService(engine)
    const tenant = await service.tenant()
    const occurredAt = monthStart(service.now) - hour
    const vote = (value: SignalValue) => ({
      ...signalFor(tenant, { value }),
      createdAt: service.now,
      details: { ...noDetails, subject: 'answer-1', occurredAt },
    })
    await service.store.signals.record(vote('positive'))
    // The vote arrived after the cutoff, but counts for a time before it.
    await service.store.signals.removeBatch(monthStart(service.now))
    assert.equal(await rowCount(service.url, 'signals'), 0)

    assert.equal((await service.store.signals.record(vote('negative'))).kind, 'replaced')
    assert.equal(await rowCount(service.url, 'signals'), 0)
    const span = [{ promptId: tenant.prompt.id, from: occurredAt - day, until: occurredAt + hour }]
    const [tally] = await service.store.signals.tallies(tenant.organisation.id, span)
    assert.deepEqual([tally?.positive, tally?.negative], [0, 1])
  })

  test('every process hides old signals at once, although they are removed in batches', async () => {
    const service = await openService(engine)
    const tenant = await service.tenant('free', 'admin')
    const { now } = service
    const cutoff = cutoffOf(engine, now)
    const old = [0, 1, 2].flatMap((months) =>
      Array.from({ length: 600 }, (_, i) => signalAt(tenant, cutoff - months * 31 * day - 1 - i)),
    )
    await service.store.signals.import(inBatches(old, [signalAt(tenant, cutoff), signalAt(tenant, now)]))
    const other = await openTestStore(service.url, () => now)
    assert.equal((await other.signals.page(tenant.prompt, everything, { page: '1', limit: 1 })).totalCount, 1_802)
    assert.equal(await service.store.signals.removeBatch(now - retentionDays * day), true)
    assert.ok((await rowCount(service.url, 'signals')) > 2, 'one batch removed everything')
    const { signals, totalCount } = await other.signals.page(tenant.prompt, everything, { page: '1', limit: 100 })
    assert.deepEqual([totalCount, signals.map(({ createdAt }) => createdAt)], [2, [now, cutoff]])
    assert.equal((await streamedSignals(tenant)).length, 2)
    await removeOldSignals(other.signals, retentionDays, now)
    assert.equal(await rowCount(service.url, 'signals'), 2)
  })

  test('the start of retention never moves back, neither for a longer setting nor for an earlier clock', async () => {
    const service = await openService(engine)
    const { now, store } = service
    await removeOldSignals(store.signals, retentionDays, now)
    await removeOldSignals(store.signals, 10 * retentionDays, now)
    await removeOldSignals(store.signals, retentionDays, now - 100 * day)
    assert.equal(await store.signals.retainedSince(), cutoffOf(engine, now))
  })

  test('usage stays after a removal, and recording, importing and erasing keep working', async () => {
    const service = await openService(engine)
    const tenant = await service.tenant('free', 'admin')
    const { now } = service
    const cutoff = cutoffOf(engine, now)
    await service.store.signals.import(inBatches([signalAt(tenant, cutoff - 1), signalAt(tenant, cutoff)]))
    await removeOldSignals(service.store.signals, retentionDays, now)
    assert.equal(await tenant.used(), 2)
    assert.equal((await tenant.signal({ value: 'positive' })).statusCode, 201)
    // An imported signal from before the cutoff is counted, but not shown, and the next run removes it.
    const importer = await openTestStore(service.url, () => now)
    await importer.signals.import(inBatches([signalAt(tenant, cutoff - 2)]))
    assert.equal((await streamedSignals(tenant)).length, 2)
    await removeOldSignals(service.store.signals, retentionDays, now)
    assert.equal(await rowCount(service.url, 'signals'), 2)
    const span = { from: cutoff - hour, until: cutoff }
    assert.deepEqual(await service.store.signals.tallyByInterval(tenant.prompt, span, 'hour'), [
      { start: cutoff - hour, positive: 2, negative: 0 },
    ])
    const access = { organisationId: tenant.organisation.id, keyId: 1 }
    assert.equal(await eraseSignals(service.store.signals, access, metadataQuery('{"user":"u-1"}'), now), 1)
  })

  test('before the cutoff, signals in the hour of a change count towards that change, each once', async () => {
    const service = await openService(engine)
    const { now } = service
    const cutoff = cutoffOf(engine, now)
    const other = await service.tenant('free', 'admin')
    await service.store.signals.import(inBatches(Array(600).fill(signalAt(other, cutoff - 70 * day))))
    const tenant = await service.tenant()
    const change = cutoff - 10 * hour + hour / 2
    await tenant.recordEntry({ createdAt: change - 5 * hour, commitSha: 'b2'.repeat(20) })
    await tenant.recordEntry({ createdAt: change })
    const times = [change - 2 * hour, change - 1, change, change + hour]
    await service.store.signals.import(inBatches(times.map((createdAt) => signalAt(tenant, createdAt))))
    const positiveBeforeAndAfter = async () => {
      const { body } = await service.app.inject({ url: `${tenant.path}/impact`, headers: tenant.headers })
      const [{ before, after }] = JSON.parse(body).data
      return [before.positive, after.positive]
    }
    assert.deepEqual(await positiveBeforeAndAfter(), [2, 2])
    // Also while their rows still exist, because the first batch removes older ones.
    assert.equal(await service.store.signals.removeBatch(now - retentionDays * day), true)
    assert.ok((await rowCount(service.url, 'signals')) >= 4)
    assert.deepEqual(await positiveBeforeAndAfter(), [1, 3])
    await removeOldSignals(service.store.signals, retentionDays, now)
    assert.equal(await rowCount(service.url, 'signals'), 0)
    assert.deepEqual(await positiveBeforeAndAfter(), [1, 3])
  })

  test('the running service removes old signals if SIGNAL_RETENTION_DAYS is set', async () => {
    const database = await engine.create()
    const store = await openTestStore(database.url)
    const createdAt = Date.now() - 70 * day
    const { id: organisationId } = await store.organisations.create(newOrganisation('Acme', 'free', createdAt))
    const { id: promptId } = await store.prompts.create(newPrompt(organisationId, 'p', createdAt), operator)
    // Before the start, because the service looks for old signals a second after it, and then only every hour.
    await store.signals.import(
      inBatches([{ organisationId, promptId, value: 'positive' as const, metadata: null, createdAt }]),
    )
    assert.equal(await rowCount(database.url, 'signals'), 1)
    const service = await startServe({ DATABASE_URL: database.url, SIGNAL_RETENTION_DAYS: '1' })
    await eventually(
      async () => assert.equal(await rowCount(database.url, 'signals'), 0, `still stored: ${service.output().stderr}`),
      { timeoutMs: 20_000 },
    )
    assert.equal(await service.stop(), 0)
  })
})

onPostgres('Retention', () => {
  const service = useService(postgres)

  // Citus detaches a month only in the way that makes others wait, for up to 5 s: docs/operations/citus.md.
  const skip = isCitus
  test('a month whose removal was interrupted takes signals again, and one that someone detached is left alone', {
    skip,
  }, async () => {
    const service = await openService(postgres)
    const tenant = await service.tenant()
    const at = service.now - 400 * day
    const table = partitionName(monthStart(at))
    // Another process does not know that the month was there.
    const importByAnother = async () => {
      const other = await openTestStore(service.url)
      await other.signals.import(inBatches([signalAt(tenant, at)])).finally(() => other.close())
    }
    await importByAnother()
    await queryRows(service.url, `alter table signals detach partition ${table}`)
    await assert.rejects(importByAnother(), /no partition/)
    assert.equal(await rowCount(service.url, table), 1)
    await queryRows(service.url, `update signal_retention set kept_since = ${monthStart(service.now)}`)
    await importByAnother()
    assert.equal(await rowCount(service.url, `pg_inherits where inhrelid = '${table}'::regclass`), 1)
    assert.equal(await rowCount(service.url, table), 1)
  })

  test('a month is not removed while another process creates months, which could end in a deadlock', {
    skip,
  }, async () => {
    const service = await openService(postgres)
    const tenant = await service.tenant()
    const { now, store } = service
    await store.signals.import(inBatches([signalAt(tenant, now - 100 * day)]))
    const table = partitionName(monthStart(now - 100 * day))
    const creator = await connect(service.url)
    await creator.query(`select pg_advisory_lock(${advisoryLockId})`)
    const removing = removeOldSignals(store.signals, retentionDays, now)
    await eventually(async () => assert.equal(await tableLockRequests(service.url), 1))
    assert.equal(await rowCount(service.url, `pg_inherits where inhrelid = '${table}'::regclass`), 1)
    await creator.query(`select pg_advisory_unlock(${advisoryLockId})`)
    await removing
    assert.equal(await rowCount(service.url, `pg_class where relname = '${table}'`), 0)
  })

  test('completing the removal of a month and creating months wait for each other, not in a circle', {
    skip,
  }, async () => {
    const service = await openService(postgres)
    const tenant = await service.tenant()
    const { now, store } = service
    await store.signals.import(inBatches([signalAt(tenant, now - 100 * day)]))
    const table = partitionName(monthStart(now - 100 * day))
    const [reader, other] = await Promise.all([1, 2].map(() => connect(service.url)))
    await reader?.query('begin; select count(*) from signals')
    const detach = `set lock_timeout = 100; alter table signals detach partition ${table} concurrently`
    for (const statement of detach.split(';')) await other?.query(statement).catch(() => {})
    await reader?.query('commit')
    assert.equal(await rowCount(service.url, 'pg_inherits where inhdetachpending'), 1)

    await other?.query(`select pg_advisory_lock(${advisoryLockId})`)
    const removing = removeOldSignals(store.signals, retentionDays, now)
    await eventually(async () => assert.equal(await tableLockRequests(service.url), 1))
    const importing = store.signals.import(inBatches([signalAt(tenant, now - 200 * day)]))
    await eventually(async () => assert.equal(await tableLockRequests(service.url), 2))
    await other?.query(`select pg_advisory_unlock(${advisoryLockId})`)
    await Promise.all([removing, importing])
    assert.equal(await rowCount(service.url, `pg_class where relname = '${table}'`), 0)
  })

  test('an import into a month that is removed at the same moment creates it again', { skip }, async () => {
    const service = await openService(postgres)
    const tenant = await service.tenant()
    const { now, store } = service
    const importOld = () => store.signals.import(inBatches([signalAt(tenant, now - 200 * day)]))
    await importOld()
    const table = partitionName(monthStart(now - 200 * day))
    const remover = await connect(service.url)
    await remover.query('begin; lock table signals')
    const importing = importOld()
    await eventually(async () => assert.equal(await lockWaiters(service.url), 1))
    await remover.query(`alter table signals detach partition ${table}; drop table ${table}; commit`)
    assert.deepEqual(await importing, { imported: 1, replaced: 0 })
    assert.equal((await streamedSignals(tenant)).length, 1)
  })

  test('a reader of an old month delays its removal, but neither writers nor other readers', { skip }, async () => {
    const tenant = await service.tenant()
    const { now } = service
    await service.store.signals.import(
      inBatches([signalAt(tenant, now - 100 * day), signalAt(tenant, now - 70 * day), signalAt(tenant, now)]),
    )
    const reader = await connect(service.url)
    await reader.query('begin; select count(*) from signals')
    let isRemoving = true
    const removing = service.store.signals.removeBatch(now - retentionDays * day).finally(() => {
      isRemoving = false
    })
    const removal = assert.rejects(removing, /lock timeout/)
    await eventually(async () => assert.equal((await streamedSignals(tenant)).length, 1))
    await eventually(async () => assert.equal(await lockWaiters(service.url), 1))
    let duringRemoval = 0
    for (let i = 0; i < 20; i++) {
      assert.equal((await service.store.signals.record(signalFor(tenant))).kind, 'recorded')
      assert.equal((await streamedSignals(tenant)).length, i + 2)
      if (isRemoving) duringRemoval++
    }
    // A recording or read that waited for the removal would end after it.
    assert.ok(duringRemoval > 0, 'recording or reading had to wait')
    await removal
    await reader.query('commit')
    assert.equal(await rowCount(service.url, 'pg_inherits where inhdetachpending'), 1)
    // A removal that was interrupted after detaching, too, is completed by the next run.
    await queryRows(service.url, `alter table signals detach partition ${partitionName(monthStart(now - 70 * day))}`)
    await removeOldSignals(service.store.signals, retentionDays, now)
    const left = await queryRows(
      service.url,
      "select relname from pg_class where relname like 'signals_2026_0%' and relkind = 'r'",
    )
    assert.deepEqual(left, [])
    assert.equal((await streamedSignals(tenant)).length, 21)
  })
})
