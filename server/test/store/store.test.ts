import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onEachEngine } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { queryRows } from '../../../testing/rows.ts'
import { deployedEntry, openTestStore, useService } from '../../../testing/service.ts'
import { generateSecret, hashSecret, newApiKey } from '../../src/domain/access/api-key.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { newOrganisation } from '../../src/domain/access/organisation.ts'
import { newHistoryEntry } from '../../src/domain/history/entry.ts'
import { day } from '../../src/domain/time.ts'

const refreshDeadline = { timeoutMs: 1_000, intervalMs: 5 }

onEachEngine('The store', (engine) => {
  const service = useService(engine)

  test('created organisations, keys and prompts can be read back', async () => {
    const { store } = service
    const organisation = await service.organisation('team')
    assert.deepEqual(await store.organisations.find(organisation.id), organisation)
    const secret = generateSecret()
    const key = await store.keys.create(
      newApiKey(secret, { organisationId: organisation.id, name: 'ci', role: 'ingest', createdAt: 5, expiresAt: 9 }),
      operator,
    )
    assert.deepEqual(await store.keys.find(key.id), key)
    assert.deepEqual(key, {
      id: key.id,
      organisationId: organisation.id,
      personId: null,
      name: 'ci',
      role: 'ingest',
      prompts: null,
      hint: secret.slice(-4),
      createdAt: 5,
      expiresAt: 9,
      revokedAt: null,
      lastUsedAt: null,
    })
    const prompt = await service.prompt(organisation)
    assert.deepEqual(await store.prompts.find(organisation.id, prompt.publicId), prompt)
    assert.deepEqual(await store.prompts.findInAnyOrganisation(prompt.publicId), prompt)
    await store.history.record(prompt, newHistoryEntry(deployedEntry(10)), 20, operator)
    assert.deepEqual(await store.prompts.changedSince(organisation.id, 10, 5), [prompt])
    assert.deepEqual(await store.prompts.changedSince(organisation.id, 11, 5), [])
  })

  test('all processes that use a database, and their cookies, agree on when it was created, whatever their clocks say', async () => {
    const other = await openTestStore(service.url, () => 1)
    assert.equal(other.databaseCreatedAt, service.store.databaseCreatedAt)
    const [first] = await queryRows(service.url, 'select applied_at from schema_migrations where version = 1')
    assert.equal(other.databaseCreatedAt, Number(first?.applied_at))
  })

  test('lookups of unknown records return null or nothing', async () => {
    const { store } = service
    assert.equal(await store.organisations.find(999_999), null)
    assert.equal(await store.organisations.setPlan(999_999, 'team', 1, operator), null)
    assert.equal(await store.keys.find(999_999), null)
    assert.equal(await store.keys.revoke(999_999, 1, operator), null)
    assert.equal(await store.keys.findAccess(hashSecret(generateSecret())), null)
    assert.equal(await store.prompts.find(1, 'pmt_'), null)
    assert.deepEqual(await store.signals.tallyByDay([], 0), [])
    assert.deepEqual(await store.organisations.usage(999_999, 0), new Map())
  })

  test('of several processes that create the first organisation at once, exactly one succeeds', async () => {
    const database = await engine.create()
    const stores = await Promise.all([1, 2, 3, 4].map(() => openTestStore(database.url)))
    const first = newOrganisation('First', 'free', 1)
    const created = await Promise.all(stores.map((store) => store.organisations.createFirst(first)))
    assert.equal(created.filter((organisation) => organisation !== null).length, 1)
    assert.equal((await stores[0]?.organisations.list())?.length, 1)
  })

  test('revoking a key again keeps its first revocation time', async () => {
    const { store } = service
    const organisation = await service.organisation()
    const key = await store.keys.create(
      newApiKey(generateSecret(), {
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

  test('a rotated key expires at the end of the overlap, or earlier if it was about to', async () => {
    const { store } = service
    const { id: organisationId } = await service.organisation()
    const base = { organisationId, name: 'k', role: 'standard', createdAt: 1 } as const
    const unlimited = await store.keys.create(newApiKey(generateSecret(), { ...base, expiresAt: null }), operator)
    const ending = await store.keys.create(newApiKey(generateSecret(), { ...base, expiresAt: 50 }), operator)
    for (const old of [unlimited, ending]) {
      await store.keys.rotate(old.id, newApiKey(generateSecret(), { ...base, expiresAt: null }), 100, operator)
    }
    assert.equal((await store.keys.find(unlimited.id))?.expiresAt, 100)
    assert.equal((await store.keys.find(ending.id))?.expiresAt, 50)
    assert.equal((await store.keys.list(organisationId)).length, 4)
  })

  test('a revoked or expired key cannot be rotated, and no replacement is created', async () => {
    const { keys } = service.store
    const { id: organisationId } = await service.organisation()
    const base = { organisationId, name: 'k', role: 'standard', createdAt: 10 } as const
    const revoked = await keys.create(newApiKey(generateSecret(), { ...base, expiresAt: null }), operator)
    await keys.revoke(revoked.id, 5, operator)
    const expired = await keys.create(newApiKey(generateSecret(), { ...base, expiresAt: 10 }), operator)
    for (const id of [revoked.id, expired.id, 999_999]) {
      const replacement = newApiKey(generateSecret(), { ...base, expiresAt: null })
      await assert.rejects(keys.rotate(id, replacement, 100, operator), { code: 'conflict' })
    }
    assert.equal((await keys.list(organisationId)).length, 2)
  })

  test('an older use of a key never replaces a newer one', async () => {
    const { store } = service
    const { id: organisationId } = await service.organisation()
    const key = await store.keys.create(
      newApiKey(generateSecret(), { organisationId, name: 'k', role: 'standard', createdAt: 1, expiresAt: null }),
      operator,
    )
    await store.keys.recordUses([{ keyId: key.id, usedAt: 20 }])
    await store.keys.recordUses([{ keyId: key.id, usedAt: 10 }])
    assert.equal((await store.keys.find(key.id))?.lastUsedAt, 20)
  })

  test('changes by another process are visible after a refresh', async () => {
    const tenant = await service.tenant()
    const access = () => service.store.keys.findAccess(hashSecret(tenant.key))
    const cached = await access()
    assert.ok(cached)
    await service.store.history.page(tenant.prompt, { page: '1', limit: 25 })
    const other = await openTestStore(service.url)
    await other.keys.revoke(cached.keyId, 7, operator)
    await other.history.record(tenant.prompt, newHistoryEntry(deployedEntry(day)), day, operator)
    await other.prompts.delete(tenant.prompt, 8, operator)
    // On PostgreSQL, changes by other processes may take 5 ms longer to show.
    await eventually(async () => {
      await service.store.refresh()
      assert.equal((await access())?.revokedAt, 7)
    }, refreshDeadline)
    assert.equal((await service.store.history.page(tenant.prompt, { page: '1', limit: 25 })).totalCount, 1)
    assert.equal(await service.store.prompts.find(tenant.organisation.id, tenant.prompt.publicId), null)
  })

  test('changes by the same process are visible at once', async () => {
    const tenant = await service.tenant()
    const access = () => service.store.keys.findAccess(hashSecret(tenant.key))
    assert.equal((await access())?.plan, 'free')
    await service.store.organisations.setPlan(tenant.organisation.id, 'business', service.now, operator)
    assert.equal((await access())?.plan, 'business')
  })

  test('the write check succeeds on a writable database', async () => {
    await assert.doesNotReject(service.store.checkWritable())
  })

  test('several processes that open a new database at once migrate it only once', async () => {
    const database = await engine.createEmpty()
    const stores = await Promise.all([1, 2, 3, 4].map(() => openTestStore(database.url)))
    const versions = await queryRows(database.url, 'select version from schema_migrations')
    const applied = versions.map(({ version }) => Number(version))
    assert.equal(new Set(applied).size, applied.length)
    assert.equal(Math.max(...applied), stores[0]?.schemaVersion)
  })

  test('a database that is newer than the code is rejected', async () => {
    const database = await engine.create()
    await (await openTestStore(database.url)).close()
    await queryRows(
      database.url,
      "insert into schema_migrations (version, name, applied_at) values (9999, 'future', 0)",
    )
    await assert.rejects(openTestStore(database.url), /version 9999, but this release supports only up to version/)
  })
})
