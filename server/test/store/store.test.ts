import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onEachEngine } from '../../../testing/engines.ts'
import { deployed, openTestStore, queryRows, useService } from '../../../testing/service.ts'
import { hashSecret, newApiKey, newSecret } from '../../src/domain/access/api-key.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { newOrganisation } from '../../src/domain/access/organisation.ts'
import { newHistoryEntry } from '../../src/domain/history/entry.ts'

const day = 86_400_000

onEachEngine('The store', (engine) => {
  const service = useService(engine)

  test('finds what was created', async () => {
    const { store } = service
    const organisation = await service.organisation('team')
    assert.deepEqual(await store.organisations.find(organisation.id), organisation)
    const secret = newSecret()
    const key = await store.keys.create(
      newApiKey(secret, { organisationId: organisation.id, name: 'ci', role: 'ingest', createdAt: 5, expiresAt: 9 }),
      operator,
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
    assert.equal(await store.organisations.setPlan(999_999, 'team', 1, operator), null)
    assert.equal(await store.keys.find(999_999), null)
    assert.equal(await store.keys.revoke(999_999, 1, operator), null)
    assert.equal(await store.keys.findAccess(hashSecret(newSecret())), null)
    assert.equal(await store.prompts.find(1, 'pmt_'), null)
    assert.deepEqual(await store.history.lastChanges([]), [])
    assert.deepEqual(await store.signals.days([], 0), [])
    assert.deepEqual(await store.organisations.usage(999_999, 0), new Map())
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
      operator,
    )
    await store.keys.revoke(key.id, 10, operator)
    assert.equal((await store.keys.revoke(key.id, 20, operator))?.revokedAt, 10)
  })

  test('lets a rotated key expire at the end of the overlap, never later than it would have', async () => {
    const { store } = service
    const { id: organisationId } = await service.organisation()
    const base = { organisationId, name: 'k', role: 'standard', createdAt: 1 } as const
    const unlimited = await store.keys.create(newApiKey(newSecret(), { ...base, expiresAt: null }), operator)
    const ending = await store.keys.create(newApiKey(newSecret(), { ...base, expiresAt: 50 }), operator)
    for (const old of [unlimited, ending]) {
      await store.keys.rotate(old.id, newApiKey(newSecret(), { ...base, expiresAt: null }), 100, operator)
    }
    assert.equal((await store.keys.find(unlimited.id))?.expiresAt, 100)
    assert.equal((await store.keys.find(ending.id))?.expiresAt, 50)
    assert.equal((await store.keys.list(organisationId)).length, 4)
  })

  test('rotates no key that is revoked or has expired, and makes none in its place', async () => {
    const { keys } = service.store
    const { id: organisationId } = await service.organisation()
    const base = { organisationId, name: 'k', role: 'standard', createdAt: 10 } as const
    const revoked = await keys.create(newApiKey(newSecret(), { ...base, expiresAt: null }), operator)
    await keys.revoke(revoked.id, 5, operator)
    const expired = await keys.create(newApiKey(newSecret(), { ...base, expiresAt: 10 }), operator)
    for (const id of [revoked.id, expired.id, 999_999]) {
      const replacement = newApiKey(newSecret(), { ...base, expiresAt: null })
      await assert.rejects(keys.rotate(id, replacement, 100, operator), { code: 'conflict' })
    }
    assert.equal((await keys.list(organisationId)).length, 2)
  })

  test('never lets an older use of a key replace a newer one', async () => {
    const { store } = service
    const { id: organisationId } = await service.organisation()
    const key = await store.keys.create(
      newApiKey(newSecret(), { organisationId, name: 'k', role: 'standard', createdAt: 1, expiresAt: null }),
      operator,
    )
    await store.keys.recordUses([{ keyId: key.id, usedAt: 20 }])
    await store.keys.recordUses([{ keyId: key.id, usedAt: 10 }])
    assert.equal((await store.keys.find(key.id))?.lastUsedAt, 20)
  })

  test('shows a change by another process after refresh', async () => {
    const tenant = await service.tenant()
    const access = () => service.store.keys.findAccess(hashSecret(tenant.key))
    const found = await access()
    assert.ok(found)
    const other = await openTestStore(service.url)
    try {
      await other.keys.revoke(found.keyId, 7, operator)
      await tenant.service.store.history.page(tenant.prompt, { page: '1', limit: 25 })
      await other.history.record(tenant.prompt, newHistoryEntry(deployed(day)))
      await other.prompts.delete(tenant.prompt, 8, operator)
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
    await service.store.organisations.setPlan(tenant.organisation.id, 'business', service.now, operator)
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
