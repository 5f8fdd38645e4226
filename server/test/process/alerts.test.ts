import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { createAccount } from '../../../testing/account.ts'
import { addDelivery } from '../../../testing/alerts.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { type RunningProcess, startServe, stopLimitMs } from '../../../testing/processes.ts'
import { startReceiver } from '../../../testing/receiver.ts'
import { queryRows } from '../../../testing/rows.ts'

onOneEngine('Alerts of a running service', (engine) => {
  /** A service with an alert, and a message that waits for it. */
  async function start(target: string) {
    const { url } = await engine.create()
    const account = await createAccount(url, 'free')
    const env = {
      DATABASE_URL: url,
      PROMPTLEDGER_FIRST_RUN: 'off',
      PROMPTLEDGER_SECRET_KEY: randomBytes(32).toString('hex'),
      ALLOW: 'private-alert-targets',
      PUBLIC_URL: 'https://ledger.example',
    }
    const service: RunningProcess = await startServe(env)
    const post = async (path: string, body: object) => {
      const headers = { authorization: `Bearer ${account.key}`, 'content-type': 'application/json' }
      const response = await fetch(service.address + path, { method: 'POST', headers, body: JSON.stringify(body) })
      assert.equal(response.status, 201, await response.text())
    }
    await post('/api/v1/alerts', { name: 'On call', channel: 'webhook', target })
    const [alert] = await queryRows(url, 'select id, organisation_id from alerts')
    const { organisationId } = account
    const message = JSON.stringify({
      event: 'limit.near',
      at: Date.now(),
      organisation: { id: organisationId, name: 'free' },
      month: '2026-11',
      limit: 1_000,
      used: 800,
      resetsAt: Date.now(),
    })
    const id = await addDelivery({ url, now: Date.now() }, { id: Number(alert?.id), organisationId }, { message })
    return { service, url, env, id, post, promptId: account.promptId }
  }

  test('a message is sent within seconds, and a stop waits for the response', async () => {
    const receiver = await startReceiver((response) => setTimeout(() => response.end('ok'), 1_500))
    const { service, url, id } = await start(receiver.url)
    await eventually(() => assert.equal(receiver.received.length, 1))
    assert.equal(receiver.received[0]?.headers['webhook-id'], id)
    assert.equal(await service.stop(), 0)
    const [delivery] = await queryRows(url, 'select state, attempts from alert_deliveries')
    assert.deepEqual([delivery?.state, Number(delivery?.attempts)], ['sent', 1])
  })

  test('a signal is sent within seconds, and a stop waits for the response', async () => {
    const receiver = await startReceiver()
    const lake = await startReceiver((response) => setTimeout(() => response.end('ok'), 1_500))
    const { service, url, post, promptId } = await start(receiver.url)
    await post('/api/v1/alerts', { name: 'Lake', channel: 'cloudevents', target: lake.url, events: [], signals: true })
    await post(`/api/v1/prompts/${promptId}/signals`, { value: 'positive' })
    await eventually(() => assert.equal(lake.received.length, 1))
    assert.equal(JSON.parse(lake.received[0]?.body ?? '')[0].type, 'dev.promptledger.signal.recorded')
    assert.equal(await service.stop(), 0)
    assert.deepEqual(await queryRows(url, 'select * from signal_events'), [])
  })

  test('a receiver that hangs does not delay the stop, and the next process sends the message again with the same ID', async () => {
    const receiver = await startReceiver(() => {})
    const { service, url, env, id } = await start(receiver.url)
    await eventually(() => assert.equal(receiver.received.length, 1))
    const stoppingAt = performance.now()
    assert.equal(await service.stop(), 0)
    assert.ok(performance.now() - stoppingAt < stopLimitMs)
    // As if the lease had ended.
    await queryRows(url, 'update alert_deliveries set due_at = 1')
    receiver.respondWith((response) => response.end('ok'))
    const next = await startServe(env)
    await eventually(async () => {
      const [delivery] = await queryRows(url, 'select state from alert_deliveries')
      assert.equal(delivery?.state, 'sent')
    })
    assert.deepEqual(
      receiver.received.map(({ headers }) => headers['webhook-id']),
      [id, id],
    )
    assert.equal(new Set(receiver.received.map(({ body }) => body)).size, 1)
    await next.stop()
  })
})
