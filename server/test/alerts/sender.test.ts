import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { beforeEach, test } from 'node:test'
import { addAlert, addDelivery } from '../../../testing/alerts.ts'
import { onEachEngine } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { openNotifier } from '../../../testing/notifier.ts'
import { startReceiver } from '../../../testing/receiver.ts'
import { openRegression } from '../../../testing/regressions.ts'
import { queryRows } from '../../../testing/rows.ts'
import { useService } from '../../../testing/service.ts'
import type { Alert } from '../../src/domain/alerts/alert.ts'
import { resultOf } from '../../src/domain/alerts/delivery.ts'
import { createVault } from '../../src/domain/repositories/vault.ts'
import { day, hour, minute } from '../../src/domain/time.ts'

onEachEngine('The sender', (engine) => {
  const service = useService(engine)
  beforeEach(() => queryRows(service.url, 'delete from alert_deliveries'))

  const limitMessage = (organisationId: number) =>
    JSON.stringify({
      event: 'limit.near',
      at: service.now,
      organisation: { id: organisationId, name: 'Acme' },
      month: '2026-11',
      limit: 1_000,
      used: 800,
      resetsAt: service.now + day,
    })

  /** Queues messages to an alert. */
  async function queue(alert: Alert, count = 1): Promise<string[]> {
    const message = limitMessage(alert.organisationId)
    return Promise.all(Array.from({ length: count }, () => addDelivery(service, alert, { message })))
  }

  const find = async ({ organisationId }: Alert, id: string) => {
    const delivery = await service.store.alertDeliveries.find(organisationId, id)
    assert.ok(delivery !== null)
    return delivery
  }

  test('a receiver that fails is tried again for three days with the same ID and contents, and then given up', async () => {
    const receiver = await startReceiver((response) => response.writeHead(503).end('overloaded'))
    const { organisation } = await service.tenant()
    const alert = await addAlert(service, organisation.id, { target: receiver.url })
    const [id = ''] = await queue(alert)
    const { tell } = openNotifier(service)
    const startedAt = service.now
    const delays: number[] = []
    for (let attempt = 1; ; attempt++) {
      await tell()
      const delivery = await find(alert, id)
      assert.deepEqual([delivery.attempts, delivery.status], [attempt, 503])
      assert.match(delivery.error ?? '', /503/)
      if (delivery.state === 'failed') break
      await tell()
      assert.equal(receiver.received.length, attempt, 'not before it is due')
      delays.push(delivery.dueAt - service.now)
      service.now = delivery.dueAt
    }
    assert.equal(delays.length, 10)
    const expected = [
      5_000,
      minute,
      5 * minute,
      30 * minute,
      2 * hour,
      5 * hour,
      10 * hour,
      14 * hour,
      20 * hour,
      20 * hour,
    ]
    for (const [i, delay] of delays.entries()) {
      // Both are integers, so the quotient of the longest delay would be a little more than 1.1.
      assert.ok(Math.abs(delay - (expected[i] as number)) <= (expected[i] as number) / 10, `${delay}`)
    }
    assert.ok(service.now - startedAt > 2.6 * day)
    assert.equal(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size, 1)
    assert.equal(new Set(receiver.received.map(({ body }) => body)).size, 1)
    service.now += 10 * day
    await tell()
    assert.equal(receiver.received.length, 11)
  })

  test('a message arrives when the receiver is back', async () => {
    const receiver = await startReceiver((response) => response.writeHead(500).end())
    const { organisation } = await service.tenant()
    const alert = await addAlert(service, organisation.id, { target: receiver.url })
    const [id = ''] = await queue(alert)
    const { tell, sender } = openNotifier(service)
    await tell()
    receiver.respondWith((response) => response.writeHead(204).end())
    service.now = (await find(alert, id)).dueAt
    await tell()
    const { state, attempts, status, error, finishedAt } = await find(alert, id)
    assert.deepEqual([state, attempts, status, error, finishedAt], ['sent', 2, 204, null, service.now])
    assert.deepEqual(sender.stats().attempts, { sent: 1, retry: 1, rejected: 0, gone: 0 })
  })

  test('a receiver that is gone disables its alert, and cancels what waits for it', async () => {
    const receiver = await startReceiver((response) => response.writeHead(410).end())
    const { organisation } = await service.tenant()
    const alert = await addAlert(service, organisation.id, { target: receiver.url })
    const ids = await queue(alert, 5)
    const { tell } = openNotifier(service)
    await tell()
    const found = await service.store.alerts.find(organisation.id, alert.publicId)
    assert.equal(found?.disabledAt, service.now)
    assert.match(found?.disabledReason ?? '', /410/)
    const states = (await Promise.all(ids.map((id) => find(alert, id)))).map(({ state }) => state)
    assert.ok(
      states.every((state) => state === 'failed' || state === 'cancelled') && states.includes('cancelled'),
      `${states}`,
    )
    assert.ok(receiver.received.length <= 2, 'at most two are sent at once')
  })

  test('while a process sends, others do not, and after its death another one sends the same again', async () => {
    const receiver = await startReceiver()
    const { organisation } = await service.tenant()
    const alert = await addAlert(service, organisation.id, { target: receiver.url })
    const [id = ''] = await queue(alert)
    const { alertDeliveries } = service.store
    const [due] = await alertDeliveries.due(service.now, 0, 10)
    assert.ok(due !== undefined)
    // A process that takes it and is killed.
    const dead = await alertDeliveries.claim(due, 'dead', service.now, service.now + minute)
    assert.ok(dead !== null)
    const { tell } = openNotifier(service)
    service.now += minute - 1
    await tell()
    assert.equal(receiver.received.length, 0)
    service.now += 1
    await tell()
    assert.deepEqual(
      receiver.received.map(({ headers }) => headers['webhook-id']),
      [id],
    )
    const late = { state: 'failed', status: 500, response: null, error: 'late', dueAt: 1, finishedAt: 1 } as const
    assert.equal(await alertDeliveries.finish(dead, late), false, 'it lost the lease')
    await alertDeliveries.release(dead, 1)
    assert.equal((await find(alert, id)).state, 'sent')
  })

  test('twenty hanging receivers of one organisation do not delay the message of another', async () => {
    const hanging = new Set<ServerResponse>()
    let mostHanging = 0
    const hangs = await startReceiver((response) => {
      hanging.add(response)
      mostHanging = Math.max(mostHanging, hanging.size)
      response.on('close', () => hanging.delete(response))
    })
    const works = await startReceiver()
    const bad = await service.tenant()
    const good: Alert[] = []
    for (let i = 0; i < 6; i++) {
      const { organisation } = await service.tenant()
      good.push(await addAlert(service, organisation.id, { target: works.url }))
    }
    for (let i = 0; i < 20; i++) {
      const { id, organisationId } = await addAlert(service, bad.organisation.id, { target: `${hangs.url}${i}` })
      await queryRows(
        service.url,
        `insert into alert_deliveries (organisation_id, public_id, notice_id, alert_id, event, round, message, state, due_at, created_at)
         with recursive n (i) as (select 1 union all select i + 1 from n where i < 500)
         select ${organisationId}, '${id}-' || i, i, ${id}, 'limit.near', 1, '${limitMessage(organisationId)}', 'pending', 1, 1 from n`,
      )
    }
    const { sender } = openNotifier(service)
    await sender.round()
    await eventually(() => assert.equal(hangs.received.length, 2))
    await Promise.all(good.map((alert) => queue(alert)))
    await eventually(async () => {
      await sender.round()
      assert.equal(works.received.length, 6)
    })
    assert.deepEqual(
      [hangs.received.length, hanging.size],
      [2, 2],
      'they arrived while the first two were still hanging',
    )
    assert.equal(mostHanging, 2)
    for (const response of hanging) response.destroy()
    await sender.idle()
  })

  test('organisations take turns, and first attempts come before retries', async () => {
    const receiver = await startReceiver((response) => setTimeout(() => response.end(), 5))
    const tenants = await Promise.all(Array.from({ length: 12 }, () => service.tenant()))
    for (const [i, { organisation }] of tenants.entries()) {
      const alert = await addAlert(service, organisation.id, { target: `${receiver.url}${i}` })
      await queue(alert, 6)
    }
    const first = tenants[0] as (typeof tenants)[number]
    const retried = await addAlert(service, first.organisation.id, { target: `${receiver.url}retry` })
    const message = limitMessage(first.organisation.id)
    await addDelivery(service, retried, { message, attempts: 3, due_at: service.now - hour })
    await openNotifier(service).tell()
    const paths = receiver.received.map(({ path }) => path)
    assert.equal(paths.length, 12 * 6 + 1)
    assert.equal(new Set(paths.slice(0, 36)).size, 12, 'every organisation had its turn early')
    const before = paths.slice(0, paths.indexOf('/retry')).filter((path) => path === '/0')
    // Two are in flight at once, so their order may differ.
    assert.ok(before.length >= 4, `the retry came after ${before.length}`)
  })

  test('a comment that was erased between two attempts is not sent again', async () => {
    const receiver = await startReceiver((response) => response.writeHead(500).end())
    const tenant = await service.tenant('free', 'admin')
    const alert = await addAlert(service, tenant.organisation.id, { target: receiver.url, holdMs: 0 })
    const payload = { value: 'negative', comment: 'my name is Eve', metadata: { user: 'eve' } }
    const sent = await service.app.inject({
      method: 'POST',
      url: `${tenant.path}/signals`,
      headers: tenant.headers,
      payload,
    })
    assert.equal(sent.statusCode, 201, sent.body)
    await openRegression(tenant, service.now)
    const { tell } = openNotifier(service)
    await tell()
    assert.match(receiver.received.at(-1)?.body ?? '', /my name is Eve/)
    const erased = await service.app.inject({
      method: 'POST',
      url: '/api/v1/signals/erase',
      headers: tenant.headers,
      payload: { metadata: { user: 'eve' } },
    })
    assert.equal(erased.statusCode, 200, erased.body)
    service.now += minute
    await tell()
    assert.equal(receiver.received.length, 2)
    assert.doesNotMatch(receiver.received.at(-1)?.body ?? '', /name is Eve/)
    const stored = await queryRows(service.url, `select message from alert_deliveries where alert_id = ${alert.id}`)
    assert.doesNotMatch(JSON.stringify(stored), /name is Eve/)
  })

  test('a target that the secret key does not decrypt, and a message that is damaged, are reported without details', async () => {
    const receiver = await startReceiver()
    const { organisation } = await service.tenant()
    const alert = await addAlert(service, organisation.id, { target: receiver.url })
    const sealed = createVault(randomBytes(32)).encrypt('https://secret.example/token', {
      alertId: alert.publicId,
      kind: 'alert_target',
    })
    await queryRows(service.url, `update alerts set sealed_target = '${sealed}' where id = ${alert.id}`)
    const [id = ''] = await queue(alert)
    const working = await addAlert(service, organisation.id, { target: receiver.url })
    const damaged = await addDelivery(service, working, {
      event: 'regression.opened',
      message: '{"event":"regression.opened"}',
    })
    const { tell, logged } = openNotifier(service)
    await tell()
    const unreadable = await find(alert, id)
    assert.equal(unreadable.state, 'pending')
    assert.match(unreadable.error ?? '', /cannot be decrypted/)
    assert.match((await find(working, damaged)).error ?? '', /internal error|could not be composed/)
    assert.doesNotMatch(JSON.stringify([unreadable, logged]), /secret\.example|token/)
    assert.equal(receiver.received.length, 0)
  })

  test('a delivery that cannot be read does not keep those of other organisations waiting', async () => {
    const receiver = await startReceiver()
    const [bad, good] = [await service.tenant(), await service.tenant()]
    const broken = await addAlert(service, bad.organisation.id, { target: receiver.url })
    await addDelivery(service, broken, { message: '{' })
    await queue(await addAlert(service, good.organisation.id, { target: receiver.url }))
    const { tell, logged } = openNotifier(service)
    await tell()
    assert.equal(receiver.received.length, 1)
    assert.match(logged.join(), /could not take an alert delivery/)
  })

  test('a message that names another organisation, as an edited import may, is sent as one of its own', async () => {
    const [own, other] = [await service.tenant(), await service.tenant()]
    const message = JSON.stringify({
      event: 'regression.opened',
      at: 1,
      organisation: { id: other.organisation.id, name: 'Forged' },
      prompts: [],
      dedupKey: 'x',
    })
    const pull = { organisationId: own.organisation.id, id: null }
    await addDelivery(service, pull, { event: 'regression.opened', message })
    const { tell, reported } = openNotifier(service)
    await tell()
    assert.deepEqual(
      reported.map(({ organisation }) => organisation.id),
      [own.organisation.id],
    )
  })

  test('a stop waits for what is being sent, and starts nothing more', async () => {
    let release = () => {}
    const receiver = await startReceiver((response) => {
      release = () => response.end('ok')
    })
    const { organisation } = await service.tenant()
    const alert = await addAlert(service, organisation.id, { target: receiver.url })
    const [first = '', ...others] = await queue(alert, 1)
    assert.deepEqual(others, [])
    const { sender } = openNotifier(service)
    await sender.round()
    await eventually(() => assert.equal(receiver.received.length, 1))
    const [second = ''] = await queue(alert, 1)
    const stopping = sender.stop()
    await sender.round()
    release()
    await stopping
    assert.equal((await find(alert, first)).state, 'sent')
    const waiting = await find(alert, second)
    assert.deepEqual([waiting.state, waiting.attempts, waiting.dueAt], ['pending', 0, service.now])
    assert.equal(receiver.received.length, 1)
  })

  test('a receiver that asks to wait is not asked before', () => {
    const attempt = {
      outcome: 'retry',
      status: 429,
      response: null,
      error: 'slow down',
      retryAfterMs: 600_000,
    } as const
    assert.equal(resultOf({ attempts: 0 }, attempt, 0, 0.5).dueAt, 600_000)
    assert.equal(resultOf({ attempts: 5 }, attempt, 0, 0.5).dueAt, 5 * hour)
    assert.equal(resultOf({ attempts: 10 }, attempt, 0, 0.5).state, 'failed')
    assert.equal(resultOf({ attempts: 0 }, { ...attempt, outcome: 'rejected' }, 0, 0.5).state, 'failed')
  })
})
