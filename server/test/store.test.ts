import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import pg from 'pg'
import { hashSecret, newApiKey, newSecret } from '../src/domain/api-key.ts'
import { newHistoryEntry } from '../src/domain/history.ts'
import { newOrganisation } from '../src/domain/organisation.ts'
import type { NewSignal, SignalToRecord } from '../src/domain/signal.ts'
import { type Engine, engines, onEachEngine } from './engines.ts'
import { deployed, openTestStore, queryRows, type Tenant, usageOf, useService } from './service.ts'

const day = 86_400_000

function signalOf({ organisation, prompt, service }: Tenant, changes: Partial<SignalToRecord> = {}): SignalToRecord {
  return {
    organisationId: organisation.id,
    promptId: prompt.id,
    value: 'positive',
    metadata: null,
    createdAt: service.now,
    limit: 1_000,
    idempotency: null,
    ...changes,
  }
}

async function* inPortions<T>(...portions: T[][]): AsyncGenerator<T[]> {
  yield* portions
}

onEachEngine('The store', (engine) => {
  const service = useService(engine)

  test('finds what was created', async () => {
    const { store } = service
    const organisation = await service.organisation('team')
    assert.deepEqual(await store.organisations.find(organisation.id), organisation)
    const secret = newSecret()
    const key = await store.keys.create(
      newApiKey(secret, { organisationId: organisation.id, name: 'ci', role: 'ingest', createdAt: 5, expiresAt: 9 }),
    )
    assert.deepEqual(await store.keys.find(key.id), key)
    assert.deepEqual(key, {
      id: key.id,
      organisationId: organisation.id,
      name: 'ci',
      role: 'ingest',
      hint: secret.slice(-4),
      createdAt: 5,
      expiresAt: 9,
      revokedAt: null,
      lastUsedAt: null,
    })
    const prompt = await service.prompt(organisation)
    assert.deepEqual(await store.prompts.find(organisation.id, prompt.publicId), prompt)
    assert.deepEqual(await store.prompts.findAnywhere(prompt.publicId), prompt)
  })

  test('gives null for what is not there', async () => {
    const { store } = service
    assert.equal(await store.organisations.find(999_999), null)
    assert.equal(await store.organisations.setPlan(999_999, 'team'), null)
    assert.equal(await store.keys.find(999_999), null)
    assert.equal(await store.keys.revoke(999_999, 1), null)
    assert.equal(await store.keys.findAccess(hashSecret(newSecret())), null)
    assert.equal(await store.prompts.find(1, 'pmt_'), null)
  })

  test('creates a first organisation only in an empty database, however many processes try at once', async () => {
    const database = await engine.create()
    const stores = await Promise.all([1, 2, 3, 4].map(() => openTestStore(database.url)))
    try {
      const first = newOrganisation('First', 'free', 1)
      const created = await Promise.all(stores.map((store) => store.organisations.createFirst(first)))
      assert.equal(created.filter((organisation) => organisation !== null).length, 1)
      assert.equal((await stores[0]?.organisations.list())?.length, 1)
    } finally {
      for (const store of stores) await store.close()
      await database.remove()
    }
  })

  test('keeps the first time at which a key was revoked', async () => {
    const { store } = service
    const organisation = await service.organisation()
    const key = await store.keys.create(
      newApiKey(newSecret(), {
        organisationId: organisation.id,
        name: 'k',
        role: 'admin',
        createdAt: 1,
        expiresAt: null,
      }),
    )
    await store.keys.revoke(key.id, 10)
    assert.equal((await store.keys.revoke(key.id, 20))?.revokedAt, 10)
  })

  test('lets a rotated key expire at the end of the overlap, never later than it would have', async () => {
    const { store } = service
    const { id: organisationId } = await service.organisation()
    const base = { organisationId, name: 'k', role: 'standard', createdAt: 1 } as const
    const unlimited = await store.keys.create(newApiKey(newSecret(), { ...base, expiresAt: null }))
    const ending = await store.keys.create(newApiKey(newSecret(), { ...base, expiresAt: 50 }))
    for (const old of [unlimited, ending]) {
      await store.keys.rotate(old.id, newApiKey(newSecret(), { ...base, expiresAt: null }), 100)
    }
    assert.equal((await store.keys.find(unlimited.id))?.expiresAt, 100)
    assert.equal((await store.keys.find(ending.id))?.expiresAt, 50)
    assert.equal((await store.keys.list(organisationId)).length, 4)
  })

  test('never lets an older use of a key replace a newer one', async () => {
    const { store } = service
    const { id: organisationId } = await service.organisation()
    const key = await store.keys.create(
      newApiKey(newSecret(), { organisationId, name: 'k', role: 'standard', createdAt: 1, expiresAt: null }),
    )
    await store.keys.recordUses([{ keyId: key.id, usedAt: 20 }])
    await store.keys.recordUses([{ keyId: key.id, usedAt: 10 }])
    assert.equal((await store.keys.find(key.id))?.lastUsedAt, 20)
  })

  test('shows history newest first, entries of one moment by id, whatever order they came in', async () => {
    const tenant = await service.tenant()
    const order = [3, 1, 2, 2, 5, 0]
    for (const [i, at] of order.entries()) await tenant.record({ createdAt: at * day, branchName: `b${i}` })
    const { entries, totalCount } = await service.store.history.page(tenant.prompt, { page: '1', limit: 100 })
    assert.equal(totalCount, 6)
    assert.deepEqual(
      entries.map(({ branchName }) => branchName),
      ['b4', 'b0', 'b3', 'b2', 'b1', 'b5'],
    )
  })

  test('records the same entry once and gives the first one back', async () => {
    const tenant = await service.tenant()
    const first = await tenant.record()
    assert.deepEqual(await tenant.record(), first)
    const { totalCount } = await service.store.history.page(tenant.prompt, { page: '1', limit: 25 })
    assert.equal(totalCount, 1)
  })

  test('numbers entries right while several processes record for one prompt at once', async () => {
    const tenant = await service.tenant()
    const other = await openTestStore(service.url)
    try {
      await Promise.all(
        Array.from({ length: 40 }, (_, i) => {
          const store = i % 2 === 0 ? service.store : other
          const entry = newHistoryEntry({ ...deployed(((i * 7) % 40) * day), branchName: `b${i}` })
          return store.history.record(tenant.prompt, entry)
        }),
      )
      await service.store.refresh()
      const { entries, totalCount } = await other.history.page(tenant.prompt, { page: '1', limit: 100 })
      assert.equal(totalCount, 40)
      const times = entries.map(({ createdAt }) => createdAt)
      assert.deepEqual(
        times,
        times.toSorted((a, b) => b - a),
      )
      assert.equal(entries.length, 40)
    } finally {
      await other.close()
    }
  })

  test('merges imported entries into the history that is there, each once', async () => {
    const tenant = await service.tenant()
    for (const at of [1, 3, 5]) await tenant.record({ createdAt: at * day })
    const entries = [6, 2, 4, 3, 2].map((at) => newHistoryEntry(deployed(at * day)))
    const result = await service.store.history.import(tenant.prompt, inPortions(entries.slice(0, 2), entries.slice(2)))
    assert.deepEqual(result, { imported: 3, alreadyThere: 2 })
    const page = await service.store.history.page(tenant.prompt, { page: '1', limit: 4 })
    assert.deepEqual(
      page.entries.map(({ createdAt }) => createdAt / day),
      [6, 5, 4, 3],
    )
    assert.equal(page.totalCount, 6)
  })

  test('imports nothing where the source fails in the middle', async () => {
    const tenant = await service.tenant()
    async function* failing() {
      yield [newHistoryEntry(deployed(day))]
      throw new Error('broken source')
    }
    await assert.rejects(service.store.history.import(tenant.prompt, failing()), /broken source/)
    async function* failingSignals(): AsyncGenerator<NewSignal[]> {
      yield [signalOf(tenant)]
      throw new Error('broken source')
    }
    await assert.rejects(service.store.signals.import(failingSignals()), /broken source/)
    const page = await service.store.history.page(tenant.prompt, { page: '1', limit: 25 })
    assert.equal(page.totalCount, 0)
    assert.equal(await tenant.used(), 0)
  })

  test('keeps imports that run at the same time apart', async () => {
    const [a, b] = [await service.tenant(), await service.tenant()]
    async function* slowly(from: number) {
      for (let i = 0; i < 3; i++) {
        yield [newHistoryEntry(deployed((from + i) * day))]
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    }
    const results = await Promise.all([
      service.store.history.import(a.prompt, slowly(1)),
      service.store.history.import(b.prompt, slowly(10)),
    ])
    assert.deepEqual(results, Array(2).fill({ imported: 3, alreadyThere: 0 }))
  })

  test('imports an empty source as nothing', async () => {
    const tenant = await service.tenant()
    assert.deepEqual(await service.store.history.import(tenant.prompt, inPortions()), { imported: 0, alreadyThere: 0 })
    assert.deepEqual(await service.store.signals.import(inPortions()), { imported: 0 })
  })

  test('counts imported signals in their own months, past the limit, and adds them to the hours', async () => {
    const tenant = await service.tenant()
    const times = ['2025-12-31T23:59:59.999Z', '2026-01-01T00:00:00.000Z', '2026-01-01T00:30:00.000Z'].map(Date.parse)
    const signals = times.map((createdAt) => signalOf(tenant, { createdAt }))
    const many = Array.from({ length: 1_500 }, () =>
      signalOf(tenant, { createdAt: times[0] as number, value: 'negative' }),
    )
    assert.deepEqual(await service.store.signals.import(inPortions(signals, many)), { imported: 1_503 })
    assert.deepEqual(await usageOf(service.url, tenant.organisation.id), [
      { month: Date.parse('2025-12-01T00:00:00Z'), used: 1_501 },
      { month: Date.parse('2026-01-01T00:00:00Z'), used: 2 },
    ])
    const hours = await queryRows(
      service.url,
      `select hour, positive, negative from signal_hours where prompt_id = ${tenant.prompt.id} order by hour`,
    )
    assert.deepEqual(
      hours.map(({ hour, positive, negative }) => [Number(hour), Number(positive), Number(negative)]),
      [
        [Date.parse('2025-12-31T23:00:00Z'), 1, 1_500],
        [Date.parse('2026-01-01T00:00:00Z'), 2, 0],
      ],
    )
  })

  test('records signals up to the limit and says how many are used beyond it', async () => {
    const tenant = await service.tenant()
    const outcomes = await Promise.all(
      Array.from({ length: 7 }, () => service.store.signals.record(signalOf(tenant, { limit: 5 }))),
    )
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      [...Array(5).fill('recorded'), 'over_limit', 'over_limit'],
    )
    assert.deepEqual(outcomes[6], { kind: 'over_limit', used: 5 })
    assert.equal(new Set(outcomes.slice(0, 5).map((outcome) => 'id' in outcome && outcome.id)).size, 5)
    assert.equal(await tenant.used(), 5)
  })

  test('holds each signal of a batch to the limit of its own request', async () => {
    const tenant = await service.tenant()
    for (let i = 0; i < 5; i++) await service.store.signals.record(signalOf(tenant))
    const outcomes = await Promise.all(
      [100, 5, 5, 100].map((limit) => service.store.signals.record(signalOf(tenant, { limit }))),
    )
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      ['recorded', 'over_limit', 'over_limit', 'recorded'],
    )
  })

  test('keeps organisations that share a batch apart', async () => {
    const [full, roomy] = [await service.tenant(), await service.tenant()]
    const outcomes = await Promise.all(
      Array.from({ length: 6 }, (_, i) =>
        service.store.signals.record(i % 2 === 0 ? signalOf(full, { limit: 1 }) : signalOf(roomy, { limit: 3 })),
      ),
    )
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      ['recorded', 'recorded', 'over_limit', 'recorded', 'over_limit', 'recorded'],
    )
    assert.equal(await full.used(), 1)
    assert.equal(await roomy.used(), 3)
  })

  test('counts signals of two months that share a batch in their own months', async () => {
    const tenant = await service.tenant()
    const end = Date.parse('2026-11-30T23:59:59.999Z')
    await Promise.all(
      [end, end, end + 1].map((createdAt) => service.store.signals.record(signalOf(tenant, { createdAt, limit: 2 }))),
    )
    assert.deepEqual(await usageOf(service.url, tenant.organisation.id), [
      { month: Date.parse('2026-11-01T00:00:00Z'), used: 2 },
      { month: Date.parse('2026-12-01T00:00:00Z'), used: 1 },
    ])
  })

  test('answers the same idempotency key in one batch and in a later one with the first signal', async () => {
    const tenant = await service.tenant()
    const signal = signalOf(tenant, { idempotency: { key: 'k', fingerprint: 'f' } })
    const together = await Promise.all([1, 2, 3].map(() => service.store.signals.record(signal)))
    const later = await service.store.signals.record({ ...signal, createdAt: signal.createdAt + 1 })
    const [first] = together
    assert.equal(first?.kind, 'recorded')
    for (const outcome of [...together.slice(1), later]) {
      assert.deepEqual(outcome, { ...first, kind: 'repeated' })
    }
    assert.equal(await tenant.used(), 1)
  })

  test('tells when an idempotency key comes back with another request, also over the limit', async () => {
    const tenant = await service.tenant()
    const signal = signalOf(tenant, { limit: 1, idempotency: { key: 'k', fingerprint: 'f' } })
    await service.store.signals.record(signal)
    const reused = await service.store.signals.record({ ...signal, idempotency: { key: 'k', fingerprint: 'other' } })
    assert.deepEqual(reused, { kind: 'key_reused' })
    assert.equal((await service.store.signals.record(signal)).kind, 'repeated')
  })

  test('does not remember the idempotency key of a signal that was refused', async () => {
    const tenant = await service.tenant()
    const signal = signalOf(tenant, { limit: 0, idempotency: { key: 'k', fingerprint: 'f' } })
    assert.equal((await service.store.signals.record(signal)).kind, 'over_limit')
    assert.equal((await service.store.signals.record({ ...signal, limit: 1 })).kind, 'recorded')
  })

  test('keeps equal idempotency keys of two organisations apart', async () => {
    const idempotency = { key: 'same', fingerprint: 'f' }
    for (const tenant of [await service.tenant(), await service.tenant()]) {
      assert.equal((await service.store.signals.record(signalOf(tenant, { idempotency }))).kind, 'recorded')
    }
  })

  test('stores an idempotency key once when two processes record it at the same moment', async () => {
    const tenant = await service.tenant()
    const other = await openTestStore(service.url)
    try {
      for (let round = 0; round < 20; round++) {
        const signal = signalOf(tenant, { idempotency: { key: `k${round}`, fingerprint: 'f' } })
        const outcomes = await Promise.all([service.store, other].map((store) => store.signals.record(signal)))
        assert.deepEqual(outcomes.map(({ kind }) => kind).sort(), ['recorded', 'repeated'])
      }
    } finally {
      await other.close()
    }
    assert.equal(await tenant.used(), 20)
  })

  test('keeps counter, hours and stored signals equal', async () => {
    const tenant = await service.tenant('business')
    await Promise.all(
      Array.from({ length: 300 }, (_, i) =>
        service.store.signals.record(
          signalOf(tenant, { value: i % 3 === 0 ? 'negative' : 'positive', createdAt: service.now + i * 60_000 }),
        ),
      ),
    )
    const where = `where organisation_id = ${tenant.organisation.id}`
    const [stored] = await queryRows(service.url, `select count(*) as n from signals ${where}`)
    const [hours] = await queryRows(
      service.url,
      `select sum(positive) as positive, sum(negative) as negative from signal_hours ${where}`,
    )
    assert.equal(Number(stored?.n), 300)
    assert.equal(await tenant.used(), 300)
    assert.deepEqual([Number(hours?.positive), Number(hours?.negative)], [200, 100])
  })

  test('shows a change by another process after refresh', async () => {
    const tenant = await service.tenant()
    const access = () => service.store.keys.findAccess(hashSecret(tenant.key))
    const found = await access()
    assert.ok(found)
    const other = await openTestStore(service.url)
    try {
      await other.keys.revoke(found.keyId, 7)
      await tenant.service.store.history.page(tenant.prompt, { page: '1', limit: 25 })
      await other.history.record(tenant.prompt, newHistoryEntry(deployed(day)))
      await other.prompts.delete(tenant.prompt, 8)
    } finally {
      await other.close()
    }
    // PostgreSQL is asked at most every 5 ms.
    await new Promise((resolve) => setTimeout(resolve, 10))
    await service.store.refresh()
    assert.equal((await access())?.revokedAt, 7)
    assert.equal((await service.store.history.page(tenant.prompt, { page: '1', limit: 25 })).totalCount, 1)
    assert.equal(await service.store.prompts.find(tenant.organisation.id, tenant.prompt.publicId), null)
  })

  test('shows its own changes at once', async () => {
    const tenant = await service.tenant()
    const access = () => service.store.keys.findAccess(hashSecret(tenant.key))
    assert.equal((await access())?.plan, 'free')
    await service.store.organisations.setPlan(tenant.organisation.id, 'business')
    assert.equal((await access())?.plan, 'business')
  })

  test('accepts a write when asked whether it would', async () => {
    await service.store.checkWritable()
  })

  test('is migrated by one of several processes that open it at once', async () => {
    const database = await engine.create()
    const stores = await Promise.all([1, 2, 3, 4].map(() => openTestStore(database.url)))
    const versions = await queryRows(database.url, 'select version from schema_migrations')
    for (const store of stores) await store.close()
    await database.remove()
    assert.equal(versions.length, stores[0]?.schemaVersion)
  })

  test('refuses a database that is newer than the code and leaves it alone', async () => {
    const database = await engine.create()
    await (await openTestStore(database.url)).close()
    await queryRows(
      database.url,
      "insert into schema_migrations (version, name, applied_at) values (9999, 'future', 0)",
    )
    await assert.rejects(openTestStore(database.url), /version 9999, newer than this Promptledger/)
    await database.remove()
  })
})

describe('The store, on PostgreSQL', () => {
  const service = useService(engines[1] as Engine)

  test('makes room for a new month although somebody is reading signals', async () => {
    const tenant = await service.tenant()
    const reader = new pg.Client({ connectionString: service.url })
    await reader.connect()
    await reader.query('begin; select count(*) from signals')
    const createdAt = Date.parse('2031-05-05T00:00:00Z')
    const outcome = await service.store.signals.record(signalOf(tenant, { createdAt }))
    await reader.end()
    assert.equal(outcome.kind, 'recorded')
  })
})
