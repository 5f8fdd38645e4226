import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onEachEngine } from '../../../testing/engines.ts'
import { type TestService, useService } from '../../../testing/service.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { failedAttempt } from '../../src/domain/repositories/delivery.ts'
import { newHookId, type Repository } from '../../src/domain/repositories/repository.ts'
import { removeOldSignals } from '../../src/domain/signals/retention.ts'
import { day, hour } from '../../src/domain/time.ts'

const second = 1_000
const minute = 60 * second

onEachEngine('A clock that goes back', (engine) => {
  const service = useService(engine)

  test('leaves a lease whose holder is gone for a minute at most', async () => {
    const { id } = await connected(service)
    const { repositories } = service.store
    const { now } = service
    await repositories.lease(id, 'gone', now, now + 10 * second)
    const back = now - 3 * hour
    assert.ok((await repositories.due(back)).includes(id))
    assert.ok(await repositories.lease(id, 'next', back, back + 10 * second))
  })

  test('does not take a lease from somebody whose clock is a little ahead', async () => {
    const { id } = await connected(service)
    const { repositories } = service.store
    const { now } = service
    await repositories.lease(id, 'ahead', now + 5 * second, now + 15 * second)
    assert.ok(!(await repositories.due(now)).includes(id))
    assert.equal(await repositories.lease(id, 'behind', now, now + 10 * second), null)
  })

  test('does not put off for long what was to be done', async () => {
    const repository = await connected(service)
    const { repositories, deliveries } = service.store
    const { now } = service
    const lease = await repositories.lease(repository.id, 'owner', now, now + 10 * second)
    assert.ok(lease)
    await repositories.release(lease, { dueAt: now + hour, error: null, syncedAt: now })
    assert.ok(!(await repositories.due(now)).includes(repository.id))
    assert.ok((await repositories.due(now - 2 * hour)).includes(repository.id))

    await deliveries.receive(repository, { deliveryId: 'a', event: 'push', body: '{}', receivedAt: now })
    assert.ok((await repositories.due(now - minute)).includes(repository.id))
    const [received] = await deliveries.pending(repository, now - minute, 10)
    assert.ok(received)

    // What failed is tried again after a pause, but not after one of a month.
    const again = await repositories.lease(repository.id, 'owner', now, now + 10 * second)
    assert.ok(again)
    await service.store.facts.apply(again, { deliveries: [failedAttempt(received, 'gone', now)] })
    assert.equal((await deliveries.pending(repository, now - minute, 10)).length, 0)
    assert.equal((await deliveries.pending(repository, now - 30 * day, 10)).length, 1)
  })

  test('records and counts signals in a month whose signals were removed', async () => {
    const tenant = await service.tenant()
    const { now } = service
    assert.equal((await tenant.signal({ value: 'positive' })).statusCode, 201)
    await removeOldSignals(service.store.signals, 30, now + 100 * day)
    assert.equal((await tenant.signal({ value: 'positive' })).statusCode, 201)
    assert.equal(await tenant.used(), 2)
    const summary = await service.app.inject({ url: `${tenant.path}/signals/summary`, headers: tenant.headers })
    assert.deepEqual(summary.json().total, { positive: 2, negative: 0 })
  })
})

async function connected({ store, now }: TestService): Promise<Repository> {
  const { id: organisationId } = await store.organisations.create({ name: 'Acme', plan: 'free', createdAt: now })
  const facts = { forge: 'github' as const, path: '*.md', similarity: 50, sealedToken: null, sealedSecret: '' }
  const url = `https://forge.example/${newHookId()}.git`
  const repository = { organisationId, url, ...facts, hookId: newHookId(), createdAt: now }
  return (await store.repositories.connect(repository, operator)) as Repository
}
