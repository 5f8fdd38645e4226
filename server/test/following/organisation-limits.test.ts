import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onOneEngine } from '../../../testing/engines.ts'
import { GitRepository } from '../../../testing/git-repository.ts'
import { connectedScenario, type Scenario } from '../../../testing/scenario.ts'
import { useService } from '../../../testing/service.ts'
import { DomainError } from '../../src/domain/errors.ts'
import { connectRepository } from '../../src/follow/connect.ts'
import { createRepositoryService } from '../../src/follow/repository-service.ts'
import { idleWorker } from '../../src/follow/worker.ts'
import { repositoryClient } from '../http/repository-client.ts'
import { newPush } from './push-delivery.ts'

onOneEngine('Limits per organisation', (engine) => {
  const service = useService(engine)
  const { admin, connect, request } = repositoryClient(service)

  function withLimits(limits: { repositories?: number; inboxBytes?: number }) {
    return { ...service.syncContext, limits: { ...service.syncContext.limits, ...limits } }
  }

  function createRemote(): GitRepository {
    const git = new GitRepository()
    git.commit('Start', { 'prompts/p.md': 'Be kind.\n' })
    git.push()
    return git
  }

  function connection(organisationId: number) {
    const facts = { forge: 'github', path: 'prompts/**', similarity: 100, token: null, secret: null } as const
    return { organisationId, url: createRemote().remote, ...facts }
  }

  test('one repository more than the limit is rejected with 409 until another is disconnected', async () => {
    const tenant = await admin()
    const { limits } = service.syncContext
    service.syncContext.limits = { ...limits, repositories: 2 }
    try {
      const first = await connect(tenant, createRemote())
      await connect(tenant, createRemote())
      const body = { forge: 'github', url: createRemote().remote, path: 'prompts/**' }
      const rejected = await request(tenant, 'POST', '', body)
      assert.equal(rejected.statusCode, 409)
      assert.match(rejected.json().error.message, /already has 2 connected repositories.*REPOSITORIES_PER_ORGANISATION/)
      await connect(await admin(), createRemote())
      assert.equal((await request(tenant, 'DELETE', `/${first.id}`)).statusCode, 204)
      assert.equal((await request(tenant, 'POST', '', body)).statusCode, 201)
    } finally {
      service.syncContext.limits = limits
    }
  })

  test('repositories that are connected at the same time do not exceed the limit together', async () => {
    const { organisation } = await admin()
    const context = withLimits({ repositories: 2 })
    const connections = Array.from({ length: 6 }, () => connection(organisation.id))
    const results = await Promise.allSettled(connections.map((each) => connectRepository(context, each, null)))
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 2)
    const connected = await service.store.repositories.list(organisation.id)
    assert.equal(connected.length, 2)
  })

  test('an organisation connects at most two repositories at the same time', async () => {
    const { organisation } = await admin()
    const repositories = createRepositoryService(service.syncContext, idleWorker)
    const connections = Array.from({ length: 5 }, () => connection(organisation.id))
    const results = await Promise.allSettled(connections.map((each) => repositories.connect(each, null, {})))
    const rejected = results.filter((result) => result.status === 'rejected')
    assert.equal(rejected.length, 3)
    for (const { reason } of rejected) assert.ok(reason instanceof DomainError && reason.code === 'conflict')
    await repositories.connect(connection(organisation.id), null, {})
  })

  test('deliveries over the inbox limit are rejected until the waiting ones are processed, and other organisations are not affected', async () => {
    const [flooded, other] = [await connectedScenario(service), await connectedScenario(service)]
    const [push, later] = [newPush(flooded), newPush(flooded)]
    const size = push.body.length + 1_024
    const repositories = createRepositoryService(withLimits({ inboxBytes: 2.5 * size }), idleWorker)
    const receive = ({ repository, forge }: Scenario) => repositories.receive(repository, forge.ping())
    await repositories.receive(flooded.repository, push)
    await repositories.receive(flooded.repository, later)
    await assert.rejects(
      repositories.receive(flooded.repository, newPush(flooded)),
      /The inbox of this organisation is full/,
    )
    await receive(other)
    await flooded.sync()
    // The count is at most 5 s old.
    service.now += 5_000
    await receive(flooded)
    assert.deepEqual(await flooded.deliveryStates(), ['pending', 'done', 'done'])
  })

  test('a delivery to a full inbox gets 500 with Retry-After, which makes a forge send it again', async () => {
    const scenario = await connectedScenario(service)
    const { limits } = service.syncContext
    const inboxBytes = 1_000
    service.syncContext.limits = { ...limits, inboxBytes }
    try {
      const { headers, body } = scenario.forge.ping()
      const response = await service.app.inject({
        method: 'POST',
        url: `/webhooks/${scenario.repository.hookId}`,
        headers,
        payload: body,
      })
      assert.equal(response.statusCode, 500)
      assert.equal(response.headers['retry-after'], '60')
      assert.match(response.json().error.message, /The inbox of this organisation is full/)
      assert.deepEqual(await scenario.deliveryStates(), [])
      const unsigned = { ...headers, 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` }
      const stranger = { method: 'POST', url: `/webhooks/${scenario.repository.hookId}`, headers: unsigned } as const
      assert.equal((await service.app.inject({ ...stranger, payload: body })).statusCode, 401)
    } finally {
      service.syncContext.limits = limits
    }
  })
})
