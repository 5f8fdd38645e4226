import assert from 'node:assert/strict'
import { renameSync } from 'node:fs'
import { test } from 'node:test'
import { onTestEnd } from '../../../testing/cleanup.ts'
import { type Engine, onEachEngine, onOneEngine } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { queryRows } from '../../../testing/rows.ts'
import { connectedScenario, type Scenario } from '../../../testing/scenario.ts'
import { TestService, useService } from '../../../testing/service.ts'
import { day } from '../../src/domain/time.ts'
import { startWorker, syncOnce, type Worker } from '../../src/follow/worker.ts'
import { deliveriesOf, isDue, newPush } from './push-delivery.ts'

const secondMs = 1_000

/** Makes the remote unreachable. Returns a function that brings it back. */
function takeDown({ git }: Scenario): () => void {
  renameSync(git.remote, `${git.remote}.down`)
  return () => renameSync(`${git.remote}.down`, git.remote)
}

/** A service with a worker syncs all its repositories, so it must not be shared between tests. */
async function openService(engine: Engine): Promise<TestService> {
  const service = new TestService()
  await service.open(engine)
  return service
}

function startTestWorker({ syncContext }: TestService): Worker {
  const worker = startWorker(syncContext)
  onTestEnd(() => worker.stop())
  return worker
}

onEachEngine('Processing deliveries', (engine) => {
  const service = useService(engine)

  test('a delivery is retried after growing delays while the server is down, and processed once it is back', async () => {
    const scenario = await connectedScenario(service)
    const push = newPush(scenario)
    const bringBack = takeDown(scenario)
    assert.equal(await scenario.send(push), 202)
    for (const [i, seconds] of [2, 10, 60, 300].entries()) {
      assert.ok(await isDue(scenario))
      await assert.rejects(syncOnce(service.syncContext, scenario.repository.id))
      const [delivery] = await deliveriesOf(scenario)
      assert.partialDeepStrictEqual(delivery, { state: 'pending', attempts: i + 1 })
      assert.match(delivery?.error as string, /the repository does not exist, or the server requires/)
      assert.equal(Date.parse(delivery?.next_attempt_at as string), service.now + seconds * secondMs)
      service.now += seconds * secondMs - 1
      assert.ok(!(await isDue(scenario)), 'it is due before the delay is over')
      service.now += 1
    }
    bringBack()
    await scenario.sync()
    const [delivery] = await deliveriesOf(scenario)
    assert.partialDeepStrictEqual(delivery, { state: 'done', attempts: 5, error: null, next_attempt_at: null })
    assert.equal((await scenario.history()).length, 2)
    assert.equal(scenario.repository.lastError, null)
  })

  test('names and titles with any characters reach the history and never fail the delivery', async () => {
    const scenario = await connectedScenario(service)
    scenario.git.switchTo('feature', 'main')
    const head = scenario.git.commit('Change', { 'prompts/p.md': 'x\n' })
    scenario.git.push('feature:refs/pull/7/head')
    const title = 'a\0b\u001e\ud800\r\n</script>"\\ 𝒳'
    await scenario.deliver(scenario.forge.pull({ action: 'opened', number: 7, head, title, author: 'x\0y\udfff' }))
    assert.partialDeepStrictEqual(await deliveriesOf(scenario), [{ state: 'done', error: null }])
    const entry = (await scenario.history()).at(-1)
    assert.equal(entry?.action, 'pr_opened')
    const { data } = await scenario.get(`/prompts/${await scenario.promptId('prompts/p.md')}/history/${entry?.id}`)
    assert.partialDeepStrictEqual(data, { message: 'a b \ufffd  </script>"\\ 𝒳', actor: 'x y\ufffd' })
  })

  test('repositories are synced soon after the start, spread over 16 s', async () => {
    const own = await openService(engine)
    const scenarios = [await connectedScenario(own), await connectedScenario(own)]
    for (const scenario of scenarios) newPush(scenario)
    const { due } = own.store.repositories
    assert.deepEqual(await due(own.now + 16 * secondMs), [])
    startTestWorker(own)
    await eventually(async () => (await due(own.now + 16 * secondMs)).length === 2)
    assert.equal((await due(own.now + 250)).length, 1, 'both are synced at the same moment')
    own.now += 16 * secondMs
    for (const scenario of scenarios) await eventually(async () => (await scenario.history()).length === 2)
  })

  test('the worker polls for due repositories and deletes deliveries after 30 days', async () => {
    const own = await openService(engine)
    const [one, other] = [await connectedScenario(own), await connectedScenario(own)]
    await one.deliver(one.forge.ping(), newPush(one), one.forge.ping())
    await other.deliver(other.forge.ping())
    const idsOf = async (scenario: Scenario) => (await deliveriesOf(scenario)).map(({ id }) => id)
    const [newest, push] = await idsOf(one)
    const idsOfOther = await idsOf(other)
    // A pending delivery is kept, however old it is. Its next attempt is not due in this test.
    const postponed = `update deliveries set state = 'pending', next_attempt_at = ${own.now + 30.5 * day} where id = ${push}`
    await queryRows(own.url, postponed)

    own.now += 30 * day
    const first = startTestWorker(own)
    const { lastSyncAt } = one.repository
    await eventually(async () => (await own.store.repositories.find(one.repository.id))?.lastSyncAt !== lastSyncAt)
    await first.stop()
    assert.equal((await idsOf(one)).length, 3, 'a delivery was deleted too early')

    own.now += 1
    const second = startTestWorker(own)
    await eventually(async () => (await idsOf(one)).length < 3)
    await second.stop()
    assert.deepEqual(await idsOf(one), [newest, push])
    assert.deepEqual(await idsOf(other), idsOfOther)
  })
})

onOneEngine('Deliveries that fail or are ignored', (engine) => {
  const service = useService(engine)

  test('a delivery fails for good after a week, and is retried when the forge resends it or a user redelivers it', async () => {
    const scenario = await connectedScenario(service)
    const push = newPush(scenario)
    const bringBack = takeDown(scenario)
    const retryUntilFailed = async () => {
      const start = service.now
      for (let attempt = 1; attempt <= 50; attempt++) {
        await assert.rejects(syncOnce(service.syncContext, scenario.repository.id))
        const [delivery] = await deliveriesOf(scenario)
        if (delivery?.state === 'failed') return service.now - start
        service.now = Date.parse(delivery?.next_attempt_at as string)
      }
      return assert.fail('it is still pending after 50 attempts')
    }
    assert.equal(await scenario.send(push), 202)
    const triedForMs = await retryUntilFailed()
    assert.ok(triedForMs > 6 * day && triedForMs < 8 * day, `it was tried for ${triedForMs} ms`)
    const [failed] = await deliveriesOf(scenario)
    assert.match(failed?.error as string, /the repository does not exist, or the server requires/)
    assert.equal(failed?.next_attempt_at, null)

    assert.equal(await scenario.send(push), 202)
    assert.partialDeepStrictEqual(await deliveriesOf(scenario), [{ id: failed?.id, state: 'pending', attempts: 0 }])
    await assert.rejects(syncOnce(service.syncContext, scenario.repository.id))
    assert.partialDeepStrictEqual(await deliveriesOf(scenario), [{ id: failed?.id, state: 'pending', attempts: 1 }])

    bringBack()
    const url = `/api/v1/repositories/${scenario.repository.id}/deliveries/${failed?.id}/redeliver`
    await service.app.inject({ method: 'POST', url, headers: scenario.tenant.headers })
    assert.ok(await isDue(scenario))
    await scenario.sync()
    assert.partialDeepStrictEqual(await deliveriesOf(scenario), [{ id: failed?.id, state: 'done', error: null }])
    assert.equal((await scenario.history()).length, 2)
  })

  test('a malformed delivery fails with its reason and does not block others of the same repository', async () => {
    const scenario = await connectedScenario(service)
    const malformed: [string, string, RegExp][] = [
      ['push', '{"ref":5}', /^ref must be a string/],
      ['push', 'nonsense', /^the body must be JSON/],
      ['pull_request', '{"action":"opened","pull_request":{}}', /^pull_request\.\S+ must be /],
      ['push', '\0', /^the body must be JSON/],
    ]
    for (const [event, body] of malformed) {
      assert.equal(await scenario.send(scenario.forge.signed(event, Buffer.from(body))), 202)
    }
    await scenario.deliver(newPush(scenario))
    const [push, ...others] = await deliveriesOf(scenario)
    assert.equal(push?.state, 'done')
    for (const [i, { state, attempts, error }] of others.reverse().entries()) {
      assert.deepEqual([state, attempts], ['failed', 1])
      assert.match(error as string, malformed[i]?.[2] as RegExp)
    }
    assert.equal((await scenario.history()).length, 2)
    assert.equal(scenario.repository.lastError, null)
  })

  test('a delivery about a missing commit waits and does not block others of the same repository', async () => {
    const scenario = await connectedScenario(service)
    const pull = scenario.forge.pull({ action: 'opened', number: 7, head: 'd'.repeat(40) })
    await scenario.deliver(pull, newPush(scenario))
    const [push, opened] = await deliveriesOf(scenario)
    assert.equal(push?.state, 'done')
    assert.partialDeepStrictEqual(opened, { state: 'pending', attempts: 1 })
    assert.match(opened?.error as string, /^commit d{40} of pull request 7 is not in git/)
    assert.equal((await scenario.history()).length, 2)
  })

  test('an ignored delivery does not postpone the next poll', async () => {
    const scenario = await connectedScenario(service)
    const { dueAt } = scenario.repository
    service.now = dueAt - 1
    newPush(scenario)
    await scenario.deliver(scenario.forge.ping())
    assert.equal((await scenario.history()).length, 1)
    assert.equal(scenario.repository.dueAt, dueAt)
    service.now = dueAt
    await scenario.deliver(scenario.forge.ping())
    assert.equal((await scenario.history()).length, 2)
    assert.deepEqual(await scenario.deliveryStates(), ['ignored', 'ignored'])
  })

  test('a failing repository does not block others', async () => {
    const own = await openService(engine)
    const [broken, healthy] = [await connectedScenario(own), await connectedScenario(own)]
    const [brokenPush, healthyPush] = [newPush(broken), newPush(healthy)]
    takeDown(broken)
    const worker = startTestWorker(own)
    assert.equal(await broken.send(brokenPush), 202)
    assert.equal(await healthy.send(healthyPush), 202)
    for (const { repository } of [broken, healthy]) worker.wake(repository)
    await eventually(async () => (await healthy.history()).length === 2)
    await eventually(async () => (await deliveriesOf(broken))[0]?.error !== null)
    await worker.stop()
    assert.deepEqual([await broken.deliveryStates(), await healthy.deliveryStates()], [['pending'], ['done']])
  })
})
