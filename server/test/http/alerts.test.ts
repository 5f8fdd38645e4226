import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import type { AddedAlertBody, AlertBody } from '../../../contract/alerts.ts'
import { addAlert, addDelivery } from '../../../testing/alerts.ts'
import { assertError } from '../../../testing/assertions.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { startReceiver } from '../../../testing/receiver.ts'
import { queryRows } from '../../../testing/rows.ts'
import { type Tenant, useService } from '../../../testing/service.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { maxAlerts } from '../../src/domain/alerts/alert.ts'
import { defaultEvents } from '../../src/domain/alerts/event.ts'
import { day, hour, minute } from '../../src/domain/time.ts'

const terminalEscape = String.fromCharCode(27)

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

onOneEngine('Alerts', (engine) => {
  const service = useService(engine)

  const admin = () => service.tenant('free', 'admin')

  function send({ headers }: Pick<Tenant, 'headers'>, method: Method, path: string, body?: object) {
    return service.app.inject({
      method,
      url: `/api/v1/alerts${path}`,
      headers,
      ...(body !== undefined && { payload: body }),
    })
  }

  const webhook = { name: 'Support team', channel: 'webhook', target: 'https://hooks.example/services/T0/secret-path' }

  async function add(tenant: Tenant, body: object = webhook): Promise<AddedAlertBody> {
    const response = await send(tenant, 'POST', '', body)
    assert.equal(response.statusCode, 201, response.body)
    return response.json().data
  }

  test('a new alert has the documented defaults, and its target and secret are never returned again', async () => {
    const tenant = await admin()
    const { secret, ...added } = await add(tenant)
    assert.match(added.id, /^alr_[0-9A-Za-z]{24}$/)
    assert.match(String(secret), /^whsec_[A-Za-z0-9+/]{43}=$/)
    const expected: AlertBody = {
      id: added.id,
      name: 'Support team',
      channel: 'webhook',
      target_hint: 'hooks.example',
      has_slack_token: false,
      prompts: '**',
      events: [...defaultEvents],
      hold_minutes: 15,
      min_signals: 50,
      recovery_hold_minutes: 15,
      repeat_hours: null,
      signals: false,
      state: 'active',
      disabled_at: null,
      disabled_reason: null,
      old_secret_until: null,
      created_at: new Date(service.now).toISOString(),
      last_delivery: null,
    }
    assert.deepEqual(added, expected)
    const [one, list] = [await send(tenant, 'GET', `/${added.id}`), await send(tenant, 'GET', '')]
    assert.deepEqual(one.json(), { data: expected })
    assert.deepEqual(list.json().data, [expected])
    const audit = await service.app.inject({ url: '/api/v1/audit', headers: tenant.headers })
    for (const { body } of [one, list, audit]) assert.doesNotMatch(body, /secret-path|whsec_/)
    const rows = await queryRows(service.url, `select * from alerts where public_id = '${added.id}'`)
    const stored = JSON.stringify(rows, (_, value) => (typeof value === 'bigint' ? String(value) : value))
    assert.ok(!stored.includes('secret-path') && !stored.includes(String(secret)), 'they are encrypted at rest')
    assert.ok(!service.log.join('').includes('secret-path'))
  })

  test('every invalid field is rejected with what is wrong, and nothing is stored', async (t) => {
    const tenant = await admin()
    const cases: [object, RegExp][] = [
      [{ channel: 'webhook', target: webhook.target }, /^name is required$/],
      [{ ...webhook, name: ' ' }, /^name must not be empty/],
      [{ ...webhook, name: 'a\u202Eb' }, /^name must not contain hidden characters/],
      [{ ...webhook, name: 'x\r\nBcc: y' }, /^name must not contain control characters/],
      [{ ...webhook, name: 'x'.repeat(201) }, /^name must be at most 200 characters/],
      [
        { ...webhook, channel: 'pigeon' },
        /^channel must be "webhook", "cloudevents", "slack", "teams", "discord", "email", "pagerduty" or "linear"$/,
      ],
      [
        { name: 'x', channel: 'pagerduty', target: 'a'.repeat(32), events: ['digest.weekly'] },
        /^events must not contain digest.weekly/,
      ],
      [{ ...webhook, target: 'ftp://hooks.example/' }, /^target must be an https/],
      [{ ...webhook, target: 'https://user:word@hooks.example/' }, /^target must not contain a user name/],
      [{ ...webhook, target: 5 }, /^target must be a string$/],
      [{ ...webhook, channel: 'email', target: 'not an address' }, /^target must be email addresses/],
      [{ ...webhook, channel: 'email', target: 'a@b.example\nBcc: c@d.example' }, /^target must not contain control/],
      [
        { ...webhook, channel: 'linear', target: 'lin_api_0123456789' },
        /^target must be the key or the ID of a team in Linear/,
      ],
      [
        { name: 'x', channel: 'linear', target: `ENG:lin_api_${'a'.repeat(40)}`, events: ['limit.near'] },
        /^events must contain regression.opened/,
      ],
      [{ ...webhook, channel: 'pagerduty', target: 'short' }, /^target must be the integration key/],
      [{ ...webhook, slack_token: 'xoxb-1-2-abcdefghijkl' }, /^slack_token is only for alerts to Slack$/],
      [{ ...webhook, channel: 'slack', slack_token: 'xoxp-1-2-abcdefghijkl' }, /^slack_token must be a bot token/],
      [{ ...webhook, channel: 'slack', slack_token: 'xoxb-1\r\nX: 2345678' }, /^slack_token must be a bot token/],
      [{ ...webhook, prompts: '' }, /^prompts must not be empty/],
      [{ ...webhook, prompts: '*a'.repeat(11) }, /^prompts must have at most 10 wildcards/],
      [{ ...webhook, events: [] }, /^events must contain at least one event$/],
      [{ ...webhook, events: ['alert.test'] }, /^events.0 must be "regression.opened"/],
      [{ ...webhook, events: ['regression.dismissed'] }, /^events.0 must be "regression.opened"/],
      [{ ...webhook, hold_minutes: -1 }, /^hold_minutes must be >= 0$/],
      [{ ...webhook, hold_minutes: 1.5 }, /^hold_minutes must be an integer$/],
      [{ ...webhook, hold_minutes: 10_081 }, /^hold_minutes must be <= 10080$/],
      [{ ...webhook, min_signals: 0 }, /^min_signals must be >= 1$/],
      [{ ...webhook, recovery_hold_minutes: '5' }, /^recovery_hold_minutes must be an integer$/],
      [{ ...webhook, repeat_hours: 0 }, /^repeat_hours must be >= 1$/],
      [{ ...webhook, repeat_hours: 721 }, /^repeat_hours must be <= 720$/],
    ]
    for (const [body, message] of cases) {
      await t.test(String(message), async () => {
        const response = await send(tenant, 'POST', '', body)
        assertError(response, 422, 'validation_error')
        assert.match(response.json().error.message, message)
      })
    }
    assert.deepEqual((await send(tenant, 'GET', '')).json().data, [])
  })

  test('an update changes what is given and nothing else, and the channel cannot be changed', async () => {
    const tenant = await admin()
    const { id, secret: _, ...added } = await add(tenant)
    const update = { name: 'Night shift', prompts: 'a/*', events: ['limit.near', 'limit.near'], repeat_hours: 24 }
    const changed = await send(tenant, 'PATCH', `/${id}`, { ...update, channel: 'slack', hold_minutes: 0 })
    const expected = { id, ...added, ...update, events: ['limit.near'], hold_minutes: 0 }
    assert.deepEqual(changed.json().data, expected)
    const again = await send(tenant, 'PATCH', `/${id}`, { repeat_hours: null, target: 'https://other.example/x' })
    assert.deepEqual(again.json().data, { ...expected, repeat_hours: null, target_hint: 'other.example' })
    assert.equal((await send(tenant, 'PATCH', `/${id}`, {})).statusCode, 200)
    const rejected = await send(tenant, 'PATCH', `/${id}`, { target: 'http:/' })
    assertError(rejected, 422, 'validation_error')
  })

  test('a bot token of Slack is stored encrypted, never returned, and kept until it is replaced or removed', async () => {
    const tenant = await admin()
    const token = 'xoxb-1-2-abcdefghijkl'
    const { id } = await add(tenant, { ...webhook, channel: 'slack', slack_token: token })
    const stored = async (of: string) =>
      (await queryRows(service.url, `select sealed_secret from alerts where public_id = '${of}'`))[0]?.sealed_secret
    const sealed = String(await stored(id))
    assert.match(sealed, /^v2:/)
    assert.ok(!sealed.includes(token))
    const renamed = await send(tenant, 'PATCH', `/${id}`, { name: 'Renamed' })
    assert.deepEqual([renamed.json().data.has_slack_token, await stored(id)], [true, sealed])
    assert.ok(!renamed.body.includes('xoxb'))
    assert.equal((await send(tenant, 'PATCH', `/${id}`, { slack_token: null })).json().data.has_slack_token, false)
    assert.equal(await stored(id), null)
    const audit = await service.app.inject({ url: '/api/v1/audit', headers: tenant.headers })
    assert.deepEqual(audit.json().data[0].details, { slack_token: 'removed' })
    assert.ok(!audit.body.includes('xoxb'))
    // The secret of another channel signs requests, and stays.
    const signed = await add(tenant)
    const secret = await stored(signed.id)
    await send(tenant, 'PATCH', `/${signed.id}`, { slack_token: null })
    assert.equal(await stored(signed.id), secret)
  })

  test('an alert can be disabled and enabled again, and says since when and why', async () => {
    const tenant = await admin()
    const { id } = await add(tenant)
    const disabled = (await send(tenant, 'PATCH', `/${id}`, { state: 'disabled' })).json().data
    assert.deepEqual(
      [disabled.state, disabled.disabled_at, disabled.disabled_reason],
      ['disabled', new Date(service.now).toISOString(), 'Disabled by an administrator'],
    )
    const [alert] = await service.store.alerts.list(tenant.organisation.id)
    assert.ok(alert)
    const enabled = (await send(tenant, 'PATCH', `/${id}`, { state: 'active' })).json().data
    assert.deepEqual([enabled.state, enabled.disabled_at, enabled.disabled_reason], ['active', null, null])
    await service.store.alerts.disable(alert, 'The receiver responded with 410.', service.now)
    const renamed = (await send(tenant, 'PATCH', `/${id}`, { name: 'Other', state: 'disabled' })).json().data
    assert.equal(renamed.disabled_reason, 'The receiver responded with 410.', 'the first reason stays')
  })

  test('an organisation has at most 20 alerts, and a removed one makes room', async () => {
    const tenant = await admin()
    const { id } = await add(tenant)
    for (let count = 1; count < maxAlerts; count++) await addAlert(service, tenant.organisation.id)
    assertError(await send(tenant, 'POST', '', webhook), 409, 'conflict')
    assert.equal((await send(tenant, 'DELETE', `/${id}`)).statusCode, 204)
    assertError(await send(tenant, 'GET', `/${id}`), 404, 'not_found')
    await add(tenant)
  })

  test('a test is sent at once, signed, and answered with what the receiver said', async () => {
    const tenant = await admin()
    const receiver = await startReceiver((response) => response.writeHead(202).end('Thank you.\nBye'))
    const { id, secret } = await add(tenant, { ...webhook, target: `${receiver.url}in?x=1` })
    const { data } = (await send(tenant, 'POST', `/${id}/test`)).json()
    const { id: messageId, milliseconds, ...result } = data
    assert.deepEqual(result, { sent: true, status: 202, response: 'Thank you. Bye', error: null })
    assert.match(messageId, /^msg_[0-9A-Za-z]{24}$/)
    assert.ok(Number.isInteger(milliseconds) && milliseconds >= 0)
    const [request] = receiver.received
    assert.ok(request)
    assert.equal(request.path, '/in?x=1')
    assert.equal(request.headers['webhook-id'], messageId)
    const { 'webhook-signature': signature, 'webhook-timestamp': timestamp } = request.headers
    const signed = {
      'webhook-id': messageId,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': String(signature),
    }
    // The service's clock stands still, so only the signature is checked.
    const expected = new Webhook(String(secret)).sign(messageId, new Date(service.now), request.body)
    assert.equal(signed['webhook-signature'], expected)
    const body = JSON.parse(request.body)
    assert.equal(body.type, 'alert.test')
    assert.equal(body.data.alert, 'Support team')
    assert.deepEqual((await send(tenant, 'GET', '/deliveries')).json().data, [], 'tests are no deliveries')
  })

  test('a test that fails says why, and changes nothing', async () => {
    const tenant = await admin()
    const receiver = await startReceiver((response) =>
      response.writeHead(500).end(`<b>broken${terminalEscape}[31m</b>`),
    )
    const { id } = await add(tenant, { ...webhook, target: receiver.url })
    const failed = (await send(tenant, 'POST', `/${id}/test`)).json().data
    assert.deepEqual([failed.sent, failed.status], [false, 500])
    assert.match(failed.error, /500/)
    assert.ok(!failed.response.includes(terminalEscape))
    receiver.respondWith((response) => response.writeHead(410).end())
    assert.equal((await send(tenant, 'POST', `/${id}/test`)).json().data.sent, false)
    assert.equal((await send(tenant, 'GET', `/${id}`)).json().data.state, 'active', 'only deliveries disable an alert')
    const refused = await add(tenant, { ...webhook, target: 'http://127.0.0.1:1/' })
    const { data } = (await send(tenant, 'POST', `/${refused.id}/test`)).json()
    assert.deepEqual([data.sent, data.status, data.response], [false, null, null])
    assert.match(data.error, /cannot be reached/)
  })

  test('an organisation sends at most 10 tests a minute and 2 at once, and others are not affected', async () => {
    const [tenant, other] = [await admin(), await admin()]
    const receiver = await startReceiver((response) => response.end())
    const { id } = await add(tenant, { ...webhook, target: receiver.url })
    const { id: otherId } = await add(other, { ...webhook, target: receiver.url })
    const hanging: (() => void)[] = []
    receiver.respondWith((response) => hanging.push(() => response.end()))
    const waiting = [send(tenant, 'POST', `/${id}/test`), send(tenant, 'POST', `/${id}/test`)]
    await eventually(() => assert.equal(hanging.length, 2))
    const third = await send(tenant, 'POST', `/${id}/test`)
    assertError(third, 429, 'rate_limited')
    assert.deepEqual([third.json().error.limit, third.headers['retry-after']], [2, '10'])
    receiver.respondWith((response) => response.end())
    assert.equal((await send(other, 'POST', `/${otherId}/test`)).json().data.sent, true)
    for (const answer of hanging) answer()
    for (const response of await Promise.all(waiting)) assert.equal(response.json().data.sent, true)
    for (let sent = 2; sent < 10; sent++) assert.equal((await send(tenant, 'POST', `/${id}/test`)).statusCode, 200)
    const limited = await send(tenant, 'POST', `/${id}/test`)
    assertError(limited, 429, 'rate_limited')
    assert.deepEqual(
      [limited.json().error.limit, limited.json().error.resets_at],
      [10, new Date(service.now + minute).toISOString()],
    )
    assert.equal((await send(other, 'POST', `/${otherId}/test`)).statusCode, 200)
    service.now += minute
    assert.equal((await send(tenant, 'POST', `/${id}/test`)).statusCode, 200)
  })

  test('an organisation sends at most 100 tests a day', async () => {
    const tenant = await admin()
    const receiver = await startReceiver((response) => response.end())
    const { id } = await add(tenant, { ...webhook, target: receiver.url })
    for (let sent = 0; sent < 100; sent++) {
      assert.equal((await send(tenant, 'POST', `/${id}/test`)).statusCode, 200)
      service.now += minute
    }
    const limited = await send(tenant, 'POST', `/${id}/test`)
    assertError(limited, 429, 'rate_limited')
    assert.equal(limited.json().error.limit, 100)
    service.now += day
    assert.equal((await send(tenant, 'POST', `/${id}/test`)).statusCode, 200)
  })

  test('after a rotation, requests carry both signatures until the overlap ends', async () => {
    const tenant = await admin()
    const receiver = await startReceiver((response) => response.end())
    const { id, secret: old } = await add(tenant, { ...webhook, target: receiver.url })
    const rotated = (await send(tenant, 'POST', `/${id}/rotate-secret`, { overlap_hours: 2 })).json().data
    assert.notEqual(rotated.secret, old)
    assert.equal(rotated.old_secret_until, new Date(service.now + 2 * hour).toISOString())
    const signatures = async () => {
      await send(tenant, 'POST', `/${id}/test`)
      const { headers, body } = receiver.received.at(-1) as (typeof receiver.received)[number]
      const sign = (secret: string) =>
        new Webhook(secret).sign(String(headers['webhook-id']), new Date(service.now), body)
      return {
        given: String(headers['webhook-signature']).split(' '),
        expected: [sign(rotated.secret), sign(String(old))],
      }
    }
    const during = await signatures()
    assert.deepEqual(during.given, during.expected)
    service.now += 2 * hour
    const after = await signatures()
    assert.deepEqual(after.given, after.expected.slice(0, 1))
    const leaked = (await send(tenant, 'POST', `/${id}/rotate-secret`, { overlap_hours: 0 })).json().data
    assert.equal(leaked.old_secret_until, new Date(service.now).toISOString())
    const slack = await add(tenant, { ...webhook, channel: 'slack', target: 'https://hooks.slack.com/services/T/B/x' })
    assert.equal(slack.secret, null)
    assertError(await send(tenant, 'POST', `/${slack.id}/rotate-secret`), 409, 'conflict')
  })

  test('deliveries are listed newest first, per alert and for all, and a failed one can be retried once', async () => {
    const tenant = await admin()
    const { organisation } = tenant
    const [one, two] = [
      await addAlert(service, organisation.id, { name: 'One' }),
      await addAlert(service, organisation.id),
    ]
    const told = {
      prompt: { publicId: tenant.prompt.publicId, name: tenant.prompt.name },
      regressionId: 5,
    }
    const sent = await addDelivery(service, one, {
      event: 'regression.opened',
      message: JSON.stringify({ event: 'regression.opened', prompts: [told] }),
      state: 'sent',
      attempts: 2,
      status: 200,
      response: 'ok',
      finished_at: service.now + 5,
    })
    const failed = await addDelivery(service, two, {
      state: 'failed',
      attempts: 11,
      error: 'No.',
      finished_at: service.now,
    })
    const toPull = await addDelivery(service, { organisationId: organisation.id, id: null })
    const list = async (path: string) => (await send(tenant, 'GET', path)).json()
    const all = await list('/deliveries?limit=2')
    assert.deepEqual(
      all.data.map(({ id }: { id: string }) => id),
      [toPull, failed],
    )
    assert.deepEqual(all.pagination, { current_page: 1, total_pages: 2, total_count: 3, per_page: 2 })
    assert.deepEqual([all.data[0].destination, all.data[0].alert], ['pull_request', null])
    const ofOne = await list(`/${one.publicId}/deliveries`)
    assert.deepEqual(ofOne.data, [
      {
        id: sent,
        destination: 'alert',
        alert: { id: one.publicId, name: 'One', channel: 'webhook' },
        event: 'regression.opened',
        prompts: [{ id: tenant.prompt.publicId, name: tenant.prompt.name, regression_id: 5 }],
        state: 'sent',
        attempts: 2,
        status: 200,
        response: 'ok',
        error: null,
        created_at: new Date(service.now).toISOString(),
        next_attempt_at: null,
        finished_at: new Date(service.now + 5).toISOString(),
      },
    ])
    assert.equal((await list(`/${one.publicId}`)).data.last_delivery.id, sent)
    const retried = await send(tenant, 'POST', `/deliveries/${failed}/retry`)
    assert.equal(retried.statusCode, 202)
    const { state, attempts, next_attempt_at: next } = retried.json().data
    assert.deepEqual([state, attempts, next], ['pending', 0, new Date(service.now).toISOString()])
    assertError(await send(tenant, 'POST', `/deliveries/${failed}/retry`), 409, 'conflict')
    assertError(await send(tenant, 'POST', `/deliveries/${sent}/retry`), 409, 'conflict')
  })

  test('a failed delivery of a removed alert stays listed and cannot be retried', async () => {
    const tenant = await admin()
    const alert = await addAlert(service, tenant.organisation.id)
    const failed = await addDelivery(service, alert, { state: 'failed', finished_at: service.now })
    await service.store.alerts.remove(alert, service.now, operator)
    const [listed] = (await send(tenant, 'GET', '/deliveries')).json().data
    assert.deepEqual([listed.id, listed.alert, listed.destination], [failed, null, 'alert'])
    assertError(await send(tenant, 'POST', `/deliveries/${failed}/retry`), 409, 'conflict')
  })

  test('IDs that are malformed are not found', async () => {
    const tenant = await admin()
    for (const id of ['alr_', 'alr_%00', "alr_'", `msg_${'0'.repeat(24)}`, 'x'.repeat(5_000)]) {
      assertError(await send(tenant, 'GET', `/${id}`), 404, 'not_found')
      assertError(await send(tenant, 'POST', `/deliveries/${id}x/retry`), 404, 'not_found')
    }
  })
})
