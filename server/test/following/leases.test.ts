import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { onEachEngine } from '../../../testing/engines.ts'
import { GitRepository } from '../../../testing/git-repository.ts'
import { connectedScenario, type Scenario } from '../../../testing/scenario.ts'
import { useService } from '../../../testing/service.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { type Lease, LostLeaseError } from '../../src/domain/repositories/lease.ts'
import { minute } from '../../src/domain/time.ts'
import { createRepositoryService } from '../../src/follow/repository-service.ts'
import { idleWorker, leaseUntil, syncOnce, syncWithLease } from '../../src/follow/worker.ts'
import { InterruptedError, interruptible } from '../../src/git/run.ts'

function createRemote(): GitRepository {
  const git = new GitRepository()
  git.commit('Start', { 'prompts/p.md': 'Be kind.\n', 'prompts/q.md': 'Be brief.\n' })
  git.push()
  return git
}

onEachEngine('The lease of a sync', (engine) => {
  const service = useService(engine)

  const take = (id: number, owner: string): Promise<Lease | null> =>
    service.store.repositories.lease(id, owner, service.now, leaseUntil(service.now))

  /** A repository with a commit that no sync has read. */
  async function withNewCommit(): Promise<{ s: Scenario; lease: Lease }> {
    const s = await connectedScenario(service)
    s.git.commit('Be kinder', { 'prompts/p.md': 'Be kinder.\n' })
    s.git.push()
    await service.store.repositories.wake(s.repository, service.now)
    return { s, lease: (await take(s.repository.id, 'this process')) ?? assert.fail() }
  }

  test('a process that was too busy to renew it in time finishes its sync, if no other process took it', async () => {
    const { s, lease } = await withNewCommit()
    await syncWithLease(service.syncContext, lease, async () => {
      // As if nothing else had run for ten minutes.
      service.now += 10 * minute
      const due = await service.store.repositories.due(service.now)
      assert.ok(
        due.some(({ id }) => id === s.repository.id),
        'it has expired',
      )
      assert.equal(await service.store.repositories.renew(lease, leaseUntil(service.now)), true)
      assert.equal(await take(s.repository.id, 'another process'), null, 'it is held again')
      service.now += 10 * minute
    })
    assert.equal((await s.history()).length, 2)
    assert.equal((await service.store.repositories.find(s.repository.id))?.lastSyncAt, service.now)
  })

  test('a process that finds it taken by another stores nothing more, and reports no failure of the repository', async () => {
    const { s, lease } = await withNewCommit()
    let other: Lease | null = null
    const sync = syncWithLease(service.syncContext, lease, async () => {
      service.now += 10 * minute
      other ??= await take(s.repository.id, 'another process')
      s.git.commit('Be kindest', { 'prompts/p.md': 'Be kindest.\n' })
      await assert.rejects(service.store.facts.apply(lease, { forgeId: '1' }), LostLeaseError)
      assert.equal(await service.store.repositories.renew(lease, leaseUntil(service.now)), false)
      throw new LostLeaseError()
    })
    await assert.rejects(sync, LostLeaseError)
    assert.equal(await syncOnce(service.syncContext, s.repository.id), null)
    const found = (await service.store.repositories.find(s.repository.id)) ?? assert.fail()
    assert.deepEqual([found.forgeId, found.lastError], [null, null])
    await syncWithLease(service.syncContext, other ?? assert.fail())
    assert.equal((await s.history()).length, 2)
  })

  test('connecting shows the secret before its first sync, and waits for the service if that took the sync over', async () => {
    const { remote: url } = createRemote()
    const { organisation } = await service.tenant('free', 'admin')
    const facts = { forge: 'github', path: 'prompts/**', similarity: 50, token: null, secret: null } as const
    const shown: string[] = []
    let takenOver: Promise<unknown> | null = null
    const connected = await createRepositoryService(service.syncContext, idleWorker).connect(
      { organisationId: organisation.id, url, ...facts },
      operator,
      {
        onConnected(repository, secret) {
          shown.push(secret)
          assert.equal(repository.lastSyncAt, null)
          service.now += 10 * minute
          takenOver = take(repository.id, 'the service').then((lease) =>
            syncWithLease(service.syncContext, lease ?? assert.fail()),
          )
        },
      },
    )
    await takenOver
    assert.deepEqual(shown, [connected.secret])
    assert.deepEqual([connected.backfillError, connected.prompts.length, connected.entryCount], [null, 2, 2])
  })

  test('connecting returns the secret, whatever fails after it is stored', async () => {
    const { remote: url } = createRemote()
    const { organisation } = await service.tenant('free', 'admin')
    const { store } = service.syncContext
    const failing = {
      ...service.syncContext,
      store: { ...store, facts: { ...store.facts, prompts: () => Promise.reject(new Error('the disk is on fire')) } },
    }
    const facts = { forge: 'github', path: 'prompts/**', similarity: 50, token: null, secret: null } as const
    const { secret, backfillError } = await createRepositoryService(failing, idleWorker).connect(
      { organisationId: organisation.id, url, ...facts },
      operator,
      {},
    )
    assert.match(secret, /^[0-9a-f]{64}$/)
    assert.equal(backfillError?.message, 'the disk is on fire')
  })

  test('a sync that has to make room for others is due again, and is no failure', async () => {
    const { s, lease } = await withNewCommit()
    await service.store.repositories.release(lease, { dueAt: service.now, error: null, syncedAt: null })
    // Git reads from it until it is killed, like from a server that accepts connections and says nothing.
    const refs = join(s.git.remote, 'packed-refs')
    execFileSync('mkfifo', [refs])
    const interrupt = new AbortController()
    const startedAt = performance.now()
    const sync = interruptible(interrupt.signal, () => syncOnce(service.syncContext, s.repository.id))
    setTimeout(() => interrupt.abort(), 100)
    await assert.rejects(sync, InterruptedError)
    assert.ok(performance.now() - startedAt < 20_000, 'git was killed')
    const found = (await service.store.repositories.find(s.repository.id)) ?? assert.fail()
    assert.equal(found.lastError, null)
    assert.ok((await service.store.repositories.due(service.now)).some(({ id }) => id === s.repository.id))
    execFileSync('rm', [refs])
    await syncOnce(service.syncContext, s.repository.id)
    assert.equal((await s.history()).length, 2)
  })
})
