import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import pino from 'pino'
import { type Engine, onEachEngine, onOneEngine } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { TestService } from '../../../testing/service.ts'
import { addSource } from '../../../testing/sources.ts'
import { hour, minute } from '../../src/domain/time.ts'
import { createSourcePolls } from '../../src/service/source-poller.ts'

const quickMs = 10_000
const slots = { slots: 4, slotsPerOrganisation: 1 }

async function openService(engine: Engine): Promise<TestService> {
  const service = new TestService()
  await service.open(engine)
  return service
}

function createPolls(service: TestService, limits: { quickMs: number; limitMs: number }) {
  const { store, voters, planLimits } = service
  const network = { allowPrivate: true, allowHttp: true }
  const log = pino({ level: 'silent' })
  const { vault } = service.syncContext
  const context = { store, vault, voters, planLimits, clock: () => service.now, log, network }
  return createSourcePolls(context, { ...slots, ...limits, now: () => service.now })
}

/** A server that answers with this. */
async function startServer(t: TestContext, answer: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((_request, response) => answer(response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close().closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A server that answers no request until it closes its connections. */
async function startHanging(t: TestContext) {
  const responses = new Set<ServerResponse>()
  const url = await startServer(t, (response) => {
    responses.add(response)
    response.on('close', () => responses.delete(response))
  })
  const close = () => {
    for (const response of responses) response.destroy()
    responses.clear()
  }
  return { url, count: () => responses.size, close }
}

onEachEngine('The polls of several organisations', (engine) => {
  test('fifty sources of hostile organisations that never answer do not delay the poll of another organisation', async (t) => {
    const service = await openService(engine)
    const isAnyDue = async () => (await service.store.sources.duePolls(service.now, 1)).length > 0
    const hostile = await startHanging(t)
    for (let i = 0; i < 25; i++) {
      const { id } = await service.organisation()
      for (let j = 0; j < 2; j++) await addSource(service, id, 'langfuse', { baseUrl: hostile.url })
    }
    const polls = createPolls(service, { quickMs, limitMs: hour })
    // Until each of them has been found to be slow.
    while (await isAnyDue()) {
      await polls.start()
      await eventually(() => assert.equal(hostile.count(), polls.running()))
      service.now += quickMs + 1
      hostile.close()
      await polls.idle()
    }
    const own = await service.organisation()
    let polled = 0
    const url = await startServer(t, (response) => {
      polled++
      response.end('{"data":[]}')
    })
    const { source } = await addSource(service, own.id, 'langfuse', { baseUrl: url })
    for (let round = 0; round < 3; round++) {
      service.now += 15 * minute
      await service.store.sources.continueAt(source, { readUntil: service.now - minute, pollAt: service.now + minute })
      await polls.start()
      await eventually(() => assert.equal(hostile.count(), 2, 'all of them share half of the slots'))
      service.now += minute
      const before = polled
      await polls.start()
      await eventually(async () => {
        const found = await service.store.sources.find(own.id, source.publicId)
        assert.equal(found?.readUntil, service.now)
      })
      assert.ok(polled > before)
      assert.equal(hostile.count(), 2, 'they are still hanging')
      hostile.close()
      await polls.idle()
    }
  })
})

onOneEngine('A poll', (engine) => {
  test('ends after its time, and one that fails again and again is tried less and less often', async (t) => {
    const service = await openService(engine)
    const { id } = await service.organisation()
    const { url, count } = await startHanging(t)
    const { source } = await addSource(service, id, 'langfuse', { baseUrl: url })
    const polls = createPolls(service, { quickMs, limitMs: 20 })
    const isDue = async () => (await service.store.sources.duePolls(service.now, 1)).length > 0
    for (const minutes of [10, 20, 40, 60, 60]) {
      const startedAt = performance.now()
      await polls.start()
      await polls.idle()
      assert.ok(performance.now() - startedAt < 4_500, 'a single request may take 5 s')
      const found = await service.store.sources.find(id, source.publicId)
      assert.equal(found?.counts.lastRejection, 'Langfuse responds too slowly')
      await eventually(() => assert.equal(count(), 0, 'its request is aborted'))
      service.now += minutes * minute - 1
      assert.equal(await isDue(), false)
      service.now += 1
      assert.equal(await isDue(), true)
    }
  })

  test('that is slow is followed by a rest of four times as long', async (t) => {
    const service = await openService(engine)
    const { id } = await service.organisation()
    const url = await startServer(t, (response) => {
      service.now += 20_000
      response.end('{"data":[]}')
    })
    await addSource(service, id, 'langfuse', { baseUrl: url })
    const polls = createPolls(service, { quickMs, limitMs: hour })
    const startedAt = service.now
    await polls.start()
    await polls.idle()
    const took = service.now - startedAt
    assert.ok(took >= 40_000)
    assert.deepEqual(await service.store.sources.duePolls(service.now + 4 * took - 1, 1), [])
    assert.equal((await service.store.sources.duePolls(service.now + 4 * took, 1)).length, 1)
  })

  test('reads no more than four megabytes of scores, however many pages there are', async (t) => {
    const service = await openService(engine)
    const { id } = await service.organisation()
    const page = JSON.stringify({ data: [{ comment: 'x'.repeat(1_500_000) }], meta: { totalPages: 6 } })
    let pages = 0
    const url = await startServer(t, (response) => {
      pages++
      response.end(page)
    })
    const { source } = await addSource(service, id, 'langfuse', { baseUrl: url })
    const polls = createPolls(service, { quickMs, limitMs: hour })
    await polls.start()
    await polls.idle()
    const found = await service.store.sources.find(id, source.publicId)
    assert.equal(found?.counts.lastRejection, 'a response of Langfuse is too large')
    assert.equal(pages, 6 + 3, 'six of prompts, and three of scores')
  })
})
