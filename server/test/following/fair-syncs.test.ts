import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { onTestEnd } from '../../../testing/cleanup.ts'
import { type Engine, onEachEngine, onOneEngine } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { GitRepository } from '../../../testing/git-repository.ts'
import { connectedScenario } from '../../../testing/scenario.ts'
import { TestService } from '../../../testing/service.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { generateHookId, type Repository } from '../../src/domain/repositories/repository.ts'
import { hour } from '../../src/domain/time.ts'
import { startWorker, syncOnce, syncUntilDone } from '../../src/follow/worker.ts'
import { newPush } from './push-delivery.ts'

async function openService(engine: Engine): Promise<TestService> {
  const service = new TestService()
  await service.open(engine)
  return service
}

/** A repository that git reads from until it is killed, like one on a server that accepts connections and says nothing. */
function createHangingRemote(): string {
  const { remote } = new GitRepository()
  execFileSync('mkfifo', [join(remote, 'packed-refs')])
  return remote
}

async function connectUnread({ store, now }: TestService, organisationId: number, url: string): Promise<Repository> {
  const settings = { forge: 'github' as const, path: '*.md', similarity: 50, sealedToken: null, sealedSecret: '' }
  const repository = { organisationId, url, ...settings, hookId: generateHookId(), createdAt: now }
  return (await store.repositories.connect(repository, operator)) as Repository
}

onEachEngine('Syncs of several organisations', (engine) => {
  test('slow git servers of one organisation do not delay the syncs of another', async () => {
    const service = await openService(engine)
    const hostile = await service.organisation()
    const victim = await connectedScenario(service)
    const remotes = Array.from({ length: 5 }, createHangingRemote)
    const hanging = await Promise.all(remotes.map((remote) => connectUnread(service, hostile.id, remote)))
    const worker = startWorker(service.syncContext)
    onTestEnd(() => worker.stop())
    for (const repository of hanging) worker.wake(repository)
    await eventually(async () => {
      const states = await Promise.all(hanging.map(({ id }) => service.store.repositories.find(id)))
      const due = await service.store.repositories.due(service.now)
      // Two hold a lease, so they are no longer due; the other three wait.
      assert.equal(due.filter(({ organisationId }) => organisationId === hostile.id).length, 3)
      assert.ok(states.every((repository) => repository?.lastSyncAt === null))
    })
    assert.equal(await victim.send(newPush(victim)), 202)
    worker.wake(victim.repository)
    await eventually(async () => assert.equal((await victim.history()).length, 2))
  })

  test('a backlog of one organisation does not hide the due repositories of another', async () => {
    const service = await openService(engine)
    const { id: busy } = await service.organisation()
    for (let i = 0; i < 120; i++) await connectUnread(service, busy, `https://forge.example/${i}.git`)
    service.now += 1_000
    const { id: quiet } = await service.organisation()
    const { id } = await connectUnread(service, quiet, 'https://forge.example/quiet.git')
    const due = await service.store.repositories.due(service.now)
    assert.equal(due.length, 100)
    assert.deepEqual(due[1], { id, organisationId: quiet })
  })
})

onOneEngine('Waiting for a sync', (engine) => {
  test('ends after a time, even if deliveries arrive faster than they are processed', async () => {
    const service = await openService(engine)
    const s = await connectedScenario(service)
    for (let i = 0; i <= 100; i++) assert.equal(await s.send(s.forge.ping()), 202)
    const syncFor = (timeoutMs: number) => syncUntilDone(service.syncContext, s.repository.id, timeoutMs)
    await assert.rejects(syncFor(0), /Sync the repository again$/)
    await syncFor(0)
  })
})

onEachEngine('Staleness', (engine) => {
  test('a repository without a successful sync for two hours is stale, in its state and in the metrics', async () => {
    const service = await openService(engine)
    const scenario = await connectedScenario(service)
    const read = async () => (await scenario.get(`/repositories/${scenario.repository.id}`)).data
    service.now += 2 * hour
    assert.partialDeepStrictEqual(await read(), { stale: false, sync_age_seconds: 7_200 })
    assert.equal((await service.store.repositories.staleness(service.now)).stale, 0)
    service.now += 1_000
    assert.partialDeepStrictEqual(await read(), { stale: true, sync_age_seconds: 7_201 })
    const staleness = await service.store.repositories.staleness(service.now)
    assert.deepEqual(staleness, { stale: 1, oldestSyncAt: scenario.repository.lastSyncAt })
    await scenario.sync()
    assert.partialDeepStrictEqual(await read(), { stale: false, sync_age_seconds: 0 })
    await service.store.repositories.disconnect(scenario.repository, service.now, operator)
    service.now += 3 * hour
    assert.partialDeepStrictEqual(await read(), { stale: false })
  })

  test('a delivery that needs no fetch does not count as a successful sync', async () => {
    const service = await openService(engine)
    const scenario = await connectedScenario(service)
    const { lastSyncAt } = scenario.repository
    scenario.git.remove()
    service.now += hour
    await assert.rejects(syncOnce(service.syncContext, scenario.repository.id))
    await scenario.deliver(scenario.forge.ping())
    assert.deepEqual(await scenario.deliveryStates(), ['ignored'])
    assert.equal(scenario.repository.lastSyncAt, lastSyncAt)
    assert.notEqual(scenario.repository.lastError, null)
  })
})
