import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { onEachEngine } from '../../../testing/engines.ts'
import { queryRows } from '../../../testing/rows.ts'
import { deployedEntry, openTestStore, type Tenant, useService } from '../../../testing/service.ts'
import { generateSecret, newApiKey } from '../../src/domain/access/api-key.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { newHistoryEntry } from '../../src/domain/history/entry.ts'
import { newPrompt } from '../../src/domain/prompt.ts'
import { eraseSignals, metadataQuery } from '../../src/domain/signals/erasure.ts'
import type { Store } from '../../src/domain/store.ts'

onEachEngine('The chain of the audit log', (engine) => {
  const service = useService(engine)

  /** A tenant with six audit entries. */
  async function tenantWithEntries(): Promise<Tenant> {
    const tenant = await service.tenant('free', 'admin')
    for (const name of ['b', 'Grüße 😀', 'd']) await service.store.prompts.rename(tenant.prompt, name, 7, operator)
    await tenant.recordEntry()
    return tenant
  }

  const idOf = ({ organisation }: Tenant) => organisation.id
  const verify = (tenant: Tenant) => service.store.audit.verify(idOf(tenant))

  async function change(sql: string): Promise<void> {
    await queryRows(service.url, sql)
  }

  test('each entry contains the hash of the one before it, by the documented formula', async () => {
    const tenant = await tenantWithEntries()
    const access = {
      organisationId: idOf(tenant),
      keyId: (await service.store.keys.list(idOf(tenant)))[0]?.id as number,
    }
    await service.store.prompts.create(newPrompt(idOf(tenant), 'by key', 5), access)
    const rows = await queryRows(
      service.url,
      `select * from audit where organisation_id = ${idOf(tenant)} order by seq`,
    )
    assert.equal(rows.length, 7)
    let previous = ''
    for (const [i, row] of rows.entries()) {
      const { organisation_id, seq, at, key_id, key_name, action, subject_id, subject_name, details, hash } = row
      const numbers = [Number(organisation_id), i + 1, Number(at), key_id === null ? null : Number(key_id)]
      const fields = [previous, ...numbers, key_name, action, subject_id, subject_name, details]
      previous = createHash('sha256').update(JSON.stringify(fields)).digest('hex')
      assert.deepEqual([Number(seq), hash], [i + 1, previous])
    }
    assert.equal(rows.at(-1)?.key_name, 'test')
    assert.deepEqual(await verify(tenant), { entries: 7, hash: previous, brokenAt: null, unchained: 0 })
    const [head] = (
      await service.store.audit.page(
        idOf(tenant),
        { action: null, actor: null, since: null, until: null },
        { page: '1', limit: 1 },
      )
    ).entries
    assert.equal(typeof head?.hash, 'string')
  })

  test('a change to any field of an entry breaks the chain at that entry', async () => {
    const changes = [
      'at = at + 1',
      "action = 'prompt.deleted'",
      "subject_id = 'pmt_'",
      "subject_name = 'x'",
      "details = '{}'",
      'details = null',
      'key_id = 1',
      "key_name = 'x'",
      "hash = 'ab'",
    ]
    for (const sql of changes) {
      const tenant = await tenantWithEntries()
      await change(`update audit set ${sql} where organisation_id = ${idOf(tenant)} and seq = 3`)
      const { brokenAt } = await verify(tenant)
      assert.equal(brokenAt?.seq, 3, sql)
      assert.match(brokenAt.problem, /^does not match its hash/)
    }
  })

  test('a missing entry is noticed in the middle and at the end, and so is a shortened head', async () => {
    const middle = await tenantWithEntries()
    await change(`delete from audit where organisation_id = ${idOf(middle)} and seq in (3, 4)`)
    assert.deepEqual((await verify(middle)).brokenAt, { seq: 3, problem: 'to 4 are missing' })
    const end = await tenantWithEntries()
    await change(`delete from audit where organisation_id = ${idOf(end)} and seq = 6`)
    assert.deepEqual((await verify(end)).brokenAt, { seq: 6, problem: 'is missing at the end' })
    const all = await tenantWithEntries()
    await change(`delete from audit where organisation_id = ${idOf(all)}`)
    assert.deepEqual((await verify(all)).brokenAt, { seq: 1, problem: 'to 6 are missing at the end' })
    const behind = await tenantWithEntries()
    await change(`update audit_heads set entries = 5 where organisation_id = ${idOf(behind)}`)
    assert.notEqual((await verify(behind)).brokenAt, null)
    await change(
      `update audit_heads set hash = (select hash from audit where organisation_id = ${idOf(behind)} and seq = 5)
       where organisation_id = ${idOf(behind)}`,
    )
    assert.deepEqual((await verify(behind)).brokenAt, { seq: 6, problem: 'is not counted by the head of the chain' })
    const headless = await tenantWithEntries()
    await change(`delete from audit_heads where organisation_id = ${idOf(headless)}`)
    assert.deepEqual((await verify(headless)).brokenAt, { seq: 1, problem: 'is not counted by the head of the chain' })
  })

  test('an earlier head reveals a chain that was cut off together with its head', async () => {
    const tenant = await tenantWithEntries()
    const { brokenAt: _, unchained: __, ...known } = await verify(tenant)
    await service.store.prompts.rename(tenant.prompt, 'e', 8, operator)
    assert.equal((await service.store.audit.verify(idOf(tenant), known)).brokenAt, null)
    const id = idOf(tenant)
    await change(`delete from audit where organisation_id = ${id} and seq > 4`)
    await change(
      `update audit_heads set entries = 4, hash = (select hash from audit where organisation_id = ${id} and seq = 4)
       where organisation_id = ${id}`,
    )
    assert.equal((await verify(tenant)).brokenAt, null)
    const cut = await service.store.audit.verify(id, known)
    assert.deepEqual(cut.brokenAt, { seq: 5, problem: 'to 6 are missing at the end' })
    for (const name of ['x', 'y']) await service.store.prompts.rename(tenant.prompt, name, 9, operator)
    const rewritten = await service.store.audit.verify(id, known)
    assert.deepEqual(rewritten.brokenAt, { seq: 6, problem: 'is not the one that was the head earlier' })
  })

  test('entries of one organisation do not depend on those of another', async () => {
    const [tenant, other] = [await tenantWithEntries(), await tenantWithEntries()]
    await change(`update audit set subject_name = 'x' where organisation_id = ${idOf(other)} and seq = 1`)
    assert.deepEqual([(await verify(tenant)).brokenAt, (await verify(other)).brokenAt?.seq], [null, 1])
  })

  test('several processes that make all kinds of changes at once form one chain, without deadlocks', async () => {
    const tenant = await service.tenant('business', 'admin')
    const organisationId = idOf(tenant)
    const before = await verify(tenant)
    const stores = [
      service.store,
      ...(await Promise.all([1, 2].map(() => openTestStore(service.url, () => service.now)))),
    ]
    const rounds = 6
    const changes = (store: Store, n: number): Promise<unknown>[] => {
      const terms = { organisationId, name: `key ${n}`, role: 'reader', createdAt: n, expiresAt: null } as const
      const entry = newHistoryEntry({ ...deployedEntry(n), branchName: `b${n}` })
      return [
        store.keys.create(newApiKey(generateSecret(), terms), operator),
        store.prompts.create(newPrompt(organisationId, `prompt ${n}`, n), operator),
        store.prompts.rename(tenant.prompt, `name ${n}`, n, operator),
        store.history.record(tenant.prompt, entry, n, operator),
        store.audit.record({
          organisationId,
          by: null,
          at: n,
          action: 'organisation.exported',
          subject: { id: 1, name: 'x' },
        }),
        signalThenDelete(store, tenant, n),
        signalThenErase(store, tenant, n),
      ]
    }
    await Promise.all(
      stores.map(async (store, i) => {
        // One after the other: on a slow machine, the last of many rounds at once would wait too long for a connection.
        for (let round = 0; round < rounds; round++) await Promise.all(changes(store, i * rounds + round))
      }),
    )
    const after = await verify(tenant)
    assert.deepEqual([after.brokenAt, after.entries], [null, before.entries + stores.length * rounds * 7])
  })

  async function signalThenDelete(store: Store, tenant: Tenant, n: number): Promise<void> {
    const id = await signalWith(store, tenant, `{"n":${n}}`)
    assert.ok(await store.signals.delete(tenant.prompt, id, n, operator))
  }

  async function signalThenErase(store: Store, tenant: Tenant, n: number): Promise<void> {
    await signalWith(store, tenant, `{"user":"u-${n}"}`)
    const access = { organisationId: idOf(tenant), keyId: 0 }
    assert.equal(await eraseSignals(store.signals, access, metadataQuery(`{"user":"u-${n}"}`), n), 1)
  }

  async function signalWith(store: Store, { organisation, prompt }: Tenant, metadata: string): Promise<number> {
    const signal = {
      organisationId: organisation.id,
      promptId: prompt.id,
      value: 'positive' as const,
      metadata,
      createdAt: service.now,
      limit: 100_000,
      idempotency: null,
    }
    const outcome = await store.signals.record(signal)
    assert.equal(outcome.kind, 'recorded')
    return (outcome as { id: number }).id
  }

  test('a change that is rolled back leaves no gap in the chain', async () => {
    const tenant = await tenantWithEntries()
    const [key] = await service.store.keys.list(idOf(tenant))
    await service.store.keys.revoke(key?.id as number, 1, operator)
    const terms = { organisationId: idOf(tenant), name: 'x', role: 'admin', createdAt: 5, expiresAt: null } as const
    const replacement = newApiKey(generateSecret(), terms)
    await assert.rejects(service.store.keys.rotate(key?.id as number, replacement, 9, operator), /revoked or expired/)
    await service.store.prompts.rename(tenant.prompt, 'z', 8, operator)
    const { brokenAt, entries } = await verify(tenant)
    assert.deepEqual([brokenAt, entries], [null, 8])
  })

  test('entries of an earlier version are chained when a process starts, and an entry says how many', async (t) => {
    const tenant = await service.tenant('free', 'admin')
    const id = idOf(tenant)
    const insert = (at: number, action: string) =>
      change(
        `insert into audit (organisation_id, at, key_id, key_name, action, subject_id, subject_name, details)
         values (${id}, ${at}, null, null, '${action}', '${id}', 'Acme', '{"erased":1}')`,
      )
    const recent = service.now - 60_000
    for (let at = 1; at <= 3; at++) await insert(at, 'signals.erased')
    // A process of the earlier version may still be updating this one.
    await insert(recent, 'signals.erased')
    await insert(recent, 'prompt.created')
    const waiting = await verify(tenant)
    assert.deepEqual([waiting.brokenAt, waiting.entries, waiting.unchained], [null, 2, 5])
    await Promise.all([1, 2, 3].map(() => openTestStore(service.url, () => service.now)))
    const chained = await verify(tenant)
    assert.deepEqual([chained.brokenAt, chained.entries, chained.unchained], [null, 7, 1])
    await change(`update audit set details = '{"erased":2}' where organisation_id = ${id} and seq is null`)
    service.now += 7_200_000
    t.after(() => {
      service.now -= 7_200_000
    })
    await openTestStore(service.url, () => service.now)
    await openTestStore(service.url, () => service.now)
    const last = await verify(tenant)
    assert.deepEqual([last.brokenAt, last.entries, last.unchained], [null, 9, 0])
    const filter = { action: 'audit.chained', actor: null, since: null, until: null } as const
    const { entries } = await service.store.audit.page(id, filter, { page: '1', limit: 25 })
    assert.deepEqual(
      entries.map(({ details }) => details?.entries),
      [1, 4],
    )
  })

  test('a chain longer than one batch is verified and chained to its end', async () => {
    const tenant = await service.tenant('free', 'admin')
    const id = idOf(tenant)
    await change(
      `insert into audit (organisation_id, at, action, subject_id, subject_name)
       with recursive n(i) as (select 1 union all select i + 1 from n where i < 2500)
       select ${id}, i, 'prompt.created', 'pmt_', 'p' from n`,
    )
    await openTestStore(service.url, () => service.now)
    const { brokenAt, entries, unchained } = await verify(tenant)
    assert.deepEqual([brokenAt, entries, unchained], [null, 2_503, 0])
    await change(`update audit set at = 0 where organisation_id = ${id} and seq = 2400`)
    assert.equal((await verify(tenant)).brokenAt?.seq, 2_400)
  })
})
