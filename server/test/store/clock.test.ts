import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onEachEngine } from '../../../testing/engines.ts'
import { type TestService, useService } from '../../../testing/service.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { failedAttempt } from '../../src/domain/repositories/delivery.ts'
import { generateHookId, type Repository } from '../../src/domain/repositories/repository.ts'
import { removeOldSignals } from '../../src/domain/signals/retention.ts'
import { day, hour } from '../../src/domain/time.ts'

const second = 1_000
const minute = 60 * second

onEachEngine('When the clock goes back', (engine) => {
  const service = useService(engine)

  test('a lease whose holder has crashed blocks the repository for at most a minute', async () => {
    const { id } = await connectRepository(service)
    const { repositories } = service.store
    const { now } = service
    await repositories.lease(id, 'crashed', now, now + 10 * second)
    const earlier = now - 3 * hour
    assert.ok((await repositories.due(earlier)).some((due) => due.id === id))
    assert.ok(await repositories.lease(id, 'next', earlier, earlier + 10 * second))
  })

  test('a lease by a worker whose clock is slightly ahead is respected', async () => {
    const { id } = await connectRepository(service)
    const { repositories } = service.store
    const { now } = service
    await repositories.lease(id, 'ahead', now + 5 * second, now + 15 * second)
    assert.ok(!(await repositories.due(now)).some((due) => due.id === id))
    assert.equal(await repositories.lease(id, 'behind', now, now + 10 * second), null)
  })

  test('syncs and retries that were due are not put off until the clock catches up', async () => {
    const repository = await connectRepository(service)
    const { repositories, deliveries } = service.store
    const { now } = service
    const lease = await repositories.lease(repository.id, 'owner', now, now + 10 * second)
    assert.ok(lease)
    await repositories.release(lease, { dueAt: now + hour, error: null, syncedAt: now })
    assert.ok(!(await repositories.due(now)).some(({ id }) => id === repository.id))
    assert.ok((await repositories.due(now - 2 * hour)).some(({ id }) => id === repository.id))

    await deliveries.receive(repository, { deliveryId: 'a', event: 'push', body: '{}', receivedAt: now })
    assert.ok((await repositories.due(now - minute)).some(({ id }) => id === repository.id))
    const [received] = await deliveries.pending(repository, now - minute, 10)
    assert.ok(received)

    // A failed delivery is retried after a delay, but a delay of a month is recognised as a clock change.
    const again = await repositories.lease(repository.id, 'owner', now, now + 10 * second)
    assert.ok(again)
    await service.store.facts.apply(again, { deliveries: [failedAttempt(received, 'unreachable', now)] })
    assert.equal((await deliveries.pending(repository, now - minute, 10)).length, 0)
    assert.equal((await deliveries.pending(repository, now - 30 * day, 10)).length, 1)
  })

  test('signals are recorded and counted in a month that retention has already removed', async () => {
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

async function connectRepository({ store, now }: TestService): Promise<Repository> {
  const { id: organisationId } = await store.organisations.create({ name: 'Acme', plan: 'free', createdAt: now })
  const settings = { forge: 'github' as const, path: '*.md', similarity: 50, sealedToken: null, sealedSecret: '' }
  const url = `https://forge.example/${generateHookId()}.git`
  const repository = { organisationId, url, ...settings, hookId: generateHookId(), createdAt: now }
  return (await store.repositories.connect(repository, operator)) as Repository
}
