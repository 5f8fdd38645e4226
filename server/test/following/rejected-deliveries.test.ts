import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onOneEngine } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { deliveriesFrom } from '../../../testing/payloads/deliveries.ts'
import { connectedScenario, type Scenario } from '../../../testing/scenario.ts'
import { useService } from '../../../testing/service.ts'
import { createRejectedDeliveries } from '../../src/follow/rejected-deliveries.ts'
import { newPush } from './push-delivery.ts'

interface RepositoryBody {
  rejected_deliveries: number
  last_rejected_at: string | null
  last_rejection: string | null
}

async function repositoryOf(s: Scenario): Promise<RepositoryBody> {
  return (await s.get(`/repositories/${s.repository.id}`)).data as RepositoryBody
}

onOneEngine('Rejected deliveries', (engine) => {
  const service = useService(engine)

  test('a delivery with a wrong or missing signature is counted, with its time and reason', async () => {
    const s = await connectedScenario(service)
    assert.partialDeepStrictEqual(await repositoryOf(s), {
      rejected_deliveries: 0,
      last_rejected_at: null,
      last_rejection: null,
    })
    const { body } = newPush(s)
    assert.equal(await s.send(deliveriesFrom('github', 'another secret').signed('push', body)), 401)
    await eventually(async () => (await repositoryOf(s)).rejected_deliveries === 1)
    const { last_rejected_at: at, last_rejection: reason } = await repositoryOf(s)
    assert.equal(at, new Date(service.now).toISOString())
    assert.match(reason as string, /^the signature is wrong: the webhook has another secret/)
    assert.equal(await s.send({ headers: { 'x-github-event': 'push' }, body }), 401)
    await service.repositories.flush()
    assert.partialDeepStrictEqual(await repositoryOf(s), {
      rejected_deliveries: 2,
      last_rejection: 'the signature is missing: the webhook has no secret',
    })
    assert.deepEqual(await s.deliveryStates(), [])
  })

  test('a Gitea webhook without a secret, which sends an empty signature, is told apart from a wrong one', async () => {
    const s = await connectedScenario(service, { forge: 'gitea' })
    const headers = { 'x-gitea-event': 'push', 'x-gitea-signature': '', 'x-hub-signature-256': 'sha256=' }
    assert.equal(await s.send({ headers, body: newPush(s).body }), 401)
    await eventually(async () => (await repositoryOf(s)).rejected_deliveries === 1)
    assert.match((await repositoryOf(s)).last_rejection as string, /^the signature is missing/)
  })

  test('a flood of unsigned requests costs one write and one line of the log per webhook and minute', async () => {
    const [s, other] = [await connectedScenario(service), await connectedScenario(service)]
    const writes: number[] = []
    const logged: unknown[] = []
    const context = {
      ...service.syncContext,
      log: { ...service.syncContext.log, warn: (line: unknown) => logged.push(line) },
      store: {
        ...service.store,
        repositories: {
          ...service.store.repositories,
          recordRejections: async (_: unknown, { count }: { count: number }) => void writes.push(count),
        },
      },
    } as unknown as typeof service.syncContext
    const rejected = createRejectedDeliveries(context)
    for (let i = 0; i < 1_000; i++) rejected.reject(s.repository, {})
    rejected.reject(other.repository, {})
    assert.deepEqual([writes, logged.length], [[1, 1], 2])
    await rejected.flush()
    assert.deepEqual(writes, [1, 1, 999])
  })

  test('a count that could not be stored is stored with the next flush', async () => {
    const s = await connectedScenario(service)
    const writes: number[] = []
    let isDown = true
    const recordRejections = async (_: unknown, { count }: { count: number }) => {
      if (isDown) throw new Error('down')
      writes.push(count)
    }
    const repositories = { ...service.store.repositories, recordRejections }
    const store = { ...service.store, repositories } as unknown as typeof service.store
    const rejected = createRejectedDeliveries({ ...service.syncContext, store })
    rejected.reject(s.repository, {})
    await rejected.flush()
    isDown = false
    rejected.reject(s.repository, {})
    await rejected.flush()
    assert.deepEqual(writes, [2])
  })
})
