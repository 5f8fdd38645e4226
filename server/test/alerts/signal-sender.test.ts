import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { onOneEngine } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { openNotifier } from '../../../testing/notifier.ts'
import { type ReceivedRequest, startReceiver } from '../../../testing/receiver.ts'
import { queryRows } from '../../../testing/rows.ts'
import { openTestStore, type Tenant, useService } from '../../../testing/service.ts'
import { signalFor } from '../../../testing/signals.ts'
import { maxWaitingSignals } from '../../src/domain/alerts/signal-event.ts'
import { day } from '../../src/domain/time.ts'

interface ReceivedEvent {
  id: string
  type: string
  subject: string
  data: { prompt: { id: string; name: string }; signal: { id: number; value?: string } }
}

onOneEngine('Signals to a webhook', (engine) => {
  const service = useService(engine)

  async function open(respond?: (response: ServerResponse) => void) {
    const tenant = await service.tenant('free', 'admin')
    const receiver = await startReceiver(respond)
    const response = await request(tenant, 'POST', '/api/v1/alerts', {
      name: 'Warehouse',
      channel: 'cloudevents',
      target: receiver.url,
      events: [],
      signals: true,
    })
    assert.equal(response.statusCode, 201, response.body)
    const { id, secret, signals } = response.json().data
    assert.equal(signals, true)
    return { tenant, receiver, id, secret, ...openNotifier(service) }
  }

  function request({ headers }: Tenant, method: 'POST' | 'PATCH' | 'DELETE' | 'GET', url: string, body?: object) {
    const payload = body === undefined ? {} : { payload: JSON.stringify(body) }
    return service.app.inject({ method, url, headers: { ...headers, 'content-type': 'application/json' }, ...payload })
  }

  async function vote(tenant: Tenant, body: object): Promise<number> {
    const response = await tenant.signal(body)
    assert.ok(response.statusCode < 300, response.body)
    return response.json().data.id
  }

  const eventsOf = ({ body }: ReceivedRequest) => JSON.parse(body) as ReceivedEvent[]
  const typesOf = (received: ReceivedRequest[]) =>
    received.flatMap(eventsOf).map(({ type, data }) => [type.replace('dev.promptledger.signal.', ''), data.signal.id])

  const alert = async (tenant: Tenant, id: string) => (await request(tenant, 'GET', `/api/v1/alerts/${id}`)).json().data

  test('every signal arrives in a signed batch as CloudEvents 1.0 defines it, with the same JSON as the API returns', async () => {
    // Receivers reject old timestamps.
    service.now = Date.now() - 1_000
    const { tenant, receiver, secret, signalSender, sendSignals } = await open()
    const metadata = '{"b": 1.0,\t"a":[12345678901234567890]}'
    const plain = await vote(tenant, { value: 'positive' })
    await tenant.signal(
      `{"value":"negative","metadata":${metadata},"subject":"answer-1","comment":"“No”","version":"abcdef1"}`,
    )
    await sendSignals()
    const [received, ...others] = receiver.received
    assert.ok(received !== undefined && others.length === 0)
    assert.equal(received.headers['content-type'], 'application/cloudevents-batch+json')
    new Webhook(secret).verify(received.body, received.headers as Record<string, string>)
    const { data } = (await request(tenant, 'GET', `${tenant.path}/signals`)).json()
    const events = eventsOf(received)
    const { publicId, name } = tenant.prompt
    assert.deepEqual(
      events,
      data.reverse().map((signal: object, i: number) => ({
        specversion: '1.0',
        id: events[i]?.id,
        source: 'https://ledger.example',
        type: 'dev.promptledger.signal.recorded',
        time: new Date(service.now - 1_000).toISOString(),
        subject: publicId,
        datacontenttype: 'application/json',
        data: { prompt: { id: publicId, name }, signal },
      })),
    )
    assert.equal(events[0]?.data.signal.id, plain)
    assert.ok(received.body.includes(metadata))
    await sendSignals()
    assert.equal(receiver.received.length, 1, 'nothing is sent twice')
    await vote(tenant, { value: 'positive' })
    await sendSignals()
    await vote(tenant, { value: 'positive' })
    await signalSender.round()
    await signalSender.idle()
    assert.equal(receiver.received.length, 2, 'requests fill for a second')
  })

  test('replacing, withdrawing, deleting and erasing are events of their own, in order, the last two with IDs only', async () => {
    const { tenant, receiver, sendSignals } = await open()
    const voter = 'ada@example.com'
    const steps = [
      () => vote(tenant, { value: 'positive', subject: 'a', voter }),
      () => vote(tenant, { value: 'negative', subject: 'a', voter }),
      () => vote(tenant, { value: null, subject: 'a' }),
      () => vote(tenant, { value: 'positive', subject: 'a', voter }),
      () => request(tenant, 'POST', '/api/v1/signals/erase', { voter }),
      () => vote(tenant, { value: 'positive' }),
    ]
    const ids: unknown[] = []
    for (const step of steps) {
      ids.push(await step())
      await sendSignals()
    }
    await request(tenant, 'DELETE', `${tenant.path}/signals/${ids[5]}`)
    await sendSignals()
    const kinds = ['recorded', 'replaced', 'withdrawn', 'replaced', 'erased', 'recorded', 'erased']
    assert.deepEqual(
      typesOf(receiver.received),
      kinds.map((kind, i) => [kind, i < 5 ? ids[0] : ids[5]]),
    )
    const events = receiver.received.flatMap(eventsOf)
    assert.equal(new Set(events.map(({ id }) => id)).size, events.length)
    for (const i of [2, 4, 6]) assert.deepEqual(Object.keys(events[i]?.data.signal ?? {}), ['id'])
  })

  test('what is erased while it waits is never sent', async () => {
    const { tenant, receiver, sendSignals } = await open()
    const erased = await vote(tenant, { value: 'negative', metadata: { user: 'u-17' }, comment: 'I am Ada' })
    await request(tenant, 'POST', '/api/v1/signals/erase', { metadata: { user: 'u-17' } })
    await sendSignals()
    assert.deepEqual(typesOf(receiver.received), [['erased', erased]])
    assert.doesNotMatch(receiver.received[0]?.body ?? '', /u-17|am Ada/)
  })

  test('a receiver that was down gets every signal as it is by then, and each once', async () => {
    const { tenant, receiver, sendSignals } = await open((response) => response.writeHead(503).end())
    const ids = [await vote(tenant, { value: 'positive', subject: 'a' }), await vote(tenant, { value: 'positive' })]
    await sendSignals()
    await sendSignals()
    assert.equal(receiver.received.length, 1, 'not before it is due')
    await vote(tenant, { value: 'negative', subject: 'a' })
    ids.push(await vote(tenant, { value: 'negative' }))
    service.now += 6_000
    await sendSignals()
    const failed = receiver.received.splice(0)
    assert.notEqual(failed[0]?.headers['webhook-id'], failed[1]?.headers['webhook-id'], 'the second contains more')
    assert.equal(eventsOf(failed[0] as ReceivedRequest)[1]?.id, eventsOf(failed[1] as ReceivedRequest)[1]?.id)
    receiver.respondWith((response) => response.end())
    service.now += day
    await sendSignals()
    assert.deepEqual(typesOf(receiver.received), [
      ['replaced', ids[0]],
      ['recorded', ids[1]],
      ['recorded', ids[2]],
    ])
    assert.equal(receiver.received.flatMap(eventsOf)[0]?.data.signal.value, 'negative')
    await vote(tenant, { value: 'positive' })
    await sendSignals()
    assert.equal(receiver.received.length, 2, 'and the next at once')
  })

  test('a signal that changes while it is sent is sent again as it is then', async () => {
    let respond = () => {}
    const { tenant, receiver, signalSender, sendSignals } = await open((response) => {
      respond = () => response.end()
    })
    const id = await vote(tenant, { value: 'positive', subject: 'a' })
    await signalSender.round()
    await eventually(() => assert.equal(receiver.received.length, 1))
    await vote(tenant, { value: 'negative', subject: 'a' })
    receiver.respondWith((response) => response.end())
    respond()
    await signalSender.idle()
    await sendSignals()
    assert.deepEqual(typesOf(receiver.received), [
      ['recorded', id],
      ['replaced', id],
    ])
  })

  test('two processes send each signal once', async () => {
    const { tenant, receiver, sendSignals } = await open()
    const store = await openTestStore(service.url, () => service.now)
    const other = openNotifier(Object.create(service, { store: { value: store } }))
    const ids: number[] = []
    for (let round = 0; round < 5; round++) {
      for (let i = 0; i < 5; i++) ids.push(await vote(tenant, { value: 'positive' }))
      await Promise.all([sendSignals(), other.sendSignals()])
    }
    await sendSignals()
    assert.deepEqual(
      typesOf(receiver.received),
      ids.map((id) => ['recorded', id]),
    )
  })

  test('a request has at most 500 signals and 1 MB, and only those of the prompts of the alert', async () => {
    const { tenant, receiver, id, sendSignals } = await open()
    const other = await service.prompt(tenant.organisation, 'other/b.md')
    await request(tenant, 'PATCH', `/api/v1/alerts/${id}`, { prompts: 'prompts/**' })
    const record = (count: number, changes: object) =>
      Promise.all(Array.from({ length: count }, () => service.store.signals.record(signalFor(tenant, changes))))
    await record(600, {})
    await record(10, { promptId: other.id })
    await sendSignals()
    assert.deepEqual(
      receiver.received.splice(0).map((each) => eventsOf(each).length),
      [500, 100],
    )
    const metadata = JSON.stringify({ text: 'ä'.repeat(8_000) })
    await record(100, { metadata })
    await sendSignals()
    assert.equal(receiver.received.flatMap(eventsOf).length, 100)
    assert.equal(receiver.received.length, 2)
    for (const { body } of receiver.received) assert.ok(Buffer.byteLength(body) <= 1_000_000)
  })

  test('a webhook that takes no signals for three days, or responds with 410, is disabled and says why', async () => {
    for (const [status, reason] of [
      [500, /^It took no signals for three days\. The receiver responded with 500/],
      [410, /^The receiver responded with 410/],
    ] as const) {
      const { tenant, receiver, id, sendSignals } = await open((response) => response.writeHead(status).end())
      await vote(tenant, { value: 'positive' })
      const startedAt = service.now
      await sendSignals()
      while ((await alert(tenant, id)).state === 'active' && service.now < startedAt + 12 * day) {
        service.now += day
        await sendSignals()
      }
      assert.equal(receiver.received.length, status === 500 ? 11 : 1)
      assert.match((await alert(tenant, id)).disabled_reason, reason)
      assert.deepEqual(await waiting(tenant), 0)
      await vote(tenant, { value: 'positive' })
      assert.deepEqual(await waiting(tenant), 0)
    }
  })

  test('a webhook that falls behind by too many signals is disabled, and what waited is deleted', async () => {
    const { tenant, id, signalSender } = await open()
    const fill = (count: number) =>
      queryRows(
        service.url,
        `with recursive n (i) as (select 1 union all select i + 1 from n where i < ${count})
         insert into signal_events select ${tenant.organisation.id}, i, ${tenant.prompt.id}, 1, 'recorded', 'e', 1 from n`,
      )
    await fill(maxWaitingSignals)
    await signalSender.checkBacklogs()
    assert.equal((await alert(tenant, id)).state, 'active')
    await vote(tenant, { value: 'positive' })
    await queryRows(
      service.url,
      `insert into signal_events values (${tenant.organisation.id}, 1000000, 1, 1, 'erased', 'e', 1)`,
    )
    await signalSender.checkBacklogs()
    const { state, disabled_reason: reason } = await alert(tenant, id)
    assert.deepEqual([state, await waiting(tenant)], ['disabled', 0])
    assert.match(reason, /^More than 100,000 signals waited/)
    await request(tenant, 'PATCH', `/api/v1/alerts/${id}`, { state: 'active' })
    await vote(tenant, { value: 'positive' })
    assert.deepEqual(await waiting(tenant), 1)
  })

  test('other channels get no signals, and an alert needs events or signals', async () => {
    const tenant = await service.tenant('free', 'admin')
    const target = 'https://hooks.example/a'
    for (const [body, message] of [
      [{ channel: 'webhook', signals: true }, /signals/],
      [{ channel: 'cloudevents', events: [] }, /events/],
      [{ channel: 'cloudevents', signals: 'yes' }, /signals/],
    ] as const) {
      const response = await request(tenant, 'POST', '/api/v1/alerts', { name: 'A', target, ...body })
      assert.equal(response.statusCode, 422, response.body)
      assert.match(response.json().error.message, message)
    }
  })

  async function waiting({ organisation }: Tenant): Promise<number> {
    return service.store.signalEvents.countWaiting(organisation.id, 1_000_000)
  }
})
