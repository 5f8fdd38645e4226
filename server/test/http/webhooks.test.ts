import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { test } from 'node:test'
import { onOneEngine } from '../../../testing/engines.ts'
import { deliveriesFrom } from '../../../testing/payloads/deliveries.ts'
import type { Delivery } from '../../../testing/payloads/facts.ts'
import { queryRows } from '../../../testing/rows.ts'
import { connectedScenario, type Scenario } from '../../../testing/scenario.ts'
import { useService } from '../../../testing/service.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { deliveriesOf, isDue, newPush } from '../following/push-delivery.ts'

const megabyte = 1024 * 1024

async function post(scenario: Scenario, hookId: string, { headers, body }: Delivery) {
  return scenario.service.app.inject({ method: 'POST', url: `/webhooks/${hookId}`, headers, payload: body })
}

onOneEngine('Receiving deliveries', (engine) => {
  const service = useService(engine)

  test('a delivery is stored unchanged and pending before the response, and processed afterwards', async () => {
    const scenario = await connectedScenario(service)
    const { headers, body } = newPush(scenario)
    const response = await post(scenario, scenario.repository.hookId, { headers, body })
    assert.deepEqual([response.statusCode, response.json()], [202, { data: { status: 'accepted' } }])
    const [row, ...others] = await queryRows(
      service.url,
      `select * from deliveries where repository_id = ${scenario.repository.id}`,
    )
    assert.deepEqual(others, [])
    assert.partialDeepStrictEqual(row, { state: 'pending', event: 'push', delivery_id: headers['x-github-delivery'] })
    assert.equal(row?.body, body.toString())
    assert.ok(await isDue(scenario))
    assert.equal((await scenario.history()).length, 1, 'it was processed before the sync')
    await scenario.sync()
    assert.equal((await scenario.history()).length, 2)
    assert.deepEqual(await scenario.deliveryStates(), ['done'])
  })

  test('a missing, empty, repeated or wrong signature is rejected with 401, and nothing is stored', async () => {
    const scenario = await connectedScenario(service)
    const { headers, body } = newPush(scenario)
    const name = 'x-hub-signature-256'
    const { [name]: signature = '', ...unsigned } = headers
    const otherSecret = deliveriesFrom('github', `${scenario.secret}x`).signed('push', body).headers[name] as string
    const noSecret = deliveriesFrom('github', '').signed('push', body).headers[name] as string
    const wrong: Record<string, Record<string, string | string[]>> = {
      missing: {},
      empty: { [name]: '' },
      'prefix only': { [name]: 'sha256=' },
      'without prefix': { [name]: signature.slice('sha256='.length) },
      'cut off': { [name]: signature.slice(0, -2) },
      longer: { [name]: `${signature}00` },
      'of another secret': { [name]: otherSecret },
      'of the empty secret': { [name]: noSecret },
      'not hexadecimal': { [name]: `sha256=${'z'.repeat(64)}` },
      'sha1 only': { 'x-hub-signature': headers['x-hub-signature'] as string },
      'secret instead of it': { [name]: `sha256=${scenario.secret}` },
      repeated: { [name]: [signature, signature] },
    }
    for (const [what, signed] of Object.entries(wrong)) {
      const response = await service.app.inject({
        method: 'POST',
        url: `/webhooks/${scenario.repository.hookId}`,
        headers: { ...unsigned, 'x-hub-signature': '', ...signed },
        payload: body,
      })
      assert.deepEqual([response.statusCode, response.json().error?.code], [401, 'unauthorized'], what)
    }
    for (const payload of [Buffer.concat([body, Buffer.from(' ')]), body.subarray(1), Buffer.alloc(0)]) {
      assert.equal((await post(scenario, scenario.repository.hookId, { headers, body: payload })).statusCode, 401)
    }
    assert.deepEqual(await scenario.deliveryStates(), [])
  })

  test('a delivery signed with the secret of another repository is rejected', async () => {
    const [scenario, other] = [await connectedScenario(service), await connectedScenario(service)]
    const { headers, body } = newPush(other)
    assert.equal((await post(scenario, scenario.repository.hookId, { headers, body })).statusCode, 401)
    assert.equal((await post(other, other.repository.hookId, { headers, body })).statusCode, 202)
    assert.deepEqual([await scenario.deliveryStates(), await other.deliveryStates()], [[], ['pending']])
  })

  test('an unknown or disconnected webhook responds with 404, whatever the signature', async () => {
    const scenario = await connectedScenario(service)
    const { hookId } = scenario.repository
    for (const unknown of ['x', hookId.slice(1), `${hookId}x`, '%00', 'x'.repeat(5_000)]) {
      const response = await post(scenario, unknown, scenario.forge.ping())
      assert.deepEqual([response.statusCode, response.json().error.code], [404, 'not_found'])
    }
    await service.store.repositories.disconnect(scenario.repository, service.now, operator)
    assert.equal(await scenario.send(scenario.forge.ping()), 404)
    assert.equal(await scenario.send(deliveriesFrom('github', 'wrong').ping()), 404)
    assert.deepEqual(await scenario.deliveryStates(), [])
  })

  test('both secrets are valid during a rotation, and the old one exactly until the announced time', async () => {
    const scenario = await connectedScenario(service)
    const rotate = async () => {
      const url = `/api/v1/repositories/${scenario.repository.id}/rotate-secret`
      const response = await service.app.inject({ method: 'POST', url, headers: scenario.tenant.headers })
      const { webhook_secret, old_secret_until } = response.json().data
      return { forge: deliveriesFrom('github', webhook_secret), until: Date.parse(old_secret_until) }
    }
    const { forge: old } = scenario
    const { forge: current, until } = await rotate()
    assert.equal(await scenario.send(old.ping()), 202)
    assert.equal(await scenario.send(current.ping()), 202)
    service.now = until - 1
    assert.equal(await scenario.send(old.ping()), 202)
    service.now = until
    assert.equal(await scenario.send(old.ping()), 401)
    assert.equal(await scenario.send(current.ping()), 202)
    const next = await rotate()
    assert.equal(await scenario.send(old.ping()), 401, 'an expired secret is valid again')
    assert.equal(await scenario.send(current.ping()), 202)
    assert.equal(await scenario.send(next.forge.ping()), 202)
  })

  test('the webhook determines the forge, whatever the headers say', async () => {
    const scenario = await connectedScenario(service)
    const push = newPush(scenario)
    for (const name of ['gitlab', 'bitbucket', 'gitea'] as const) {
      const { headers } = deliveriesFrom(name, scenario.secret).signed('push', push.body)
      // Gitea also sends GitHub's headers, for compatibility.
      for (const header of Object.keys(headers)) if (header.startsWith('x-hub-signature-256')) delete headers[header]
      assert.equal(await scenario.send({ headers, body: push.body }), 401, name)
    }
    const gitlab = { 'x-gitlab-event': 'Push Hook', 'x-gitlab-token': 'wrong', 'x-event-key': 'repo:push' }
    assert.equal(await scenario.send({ ...push, headers: { ...gitlab, ...push.headers } }), 202)
    await scenario.sync()
    assert.deepEqual(await scenario.deliveryStates(), ['done'])
    assert.equal((await scenario.history()).length, 2)
  })

  test('a body of 12 MB is accepted, and one over 25 MB is rejected with the usual error body', async () => {
    const scenario = await connectedScenario(service)
    await service.app.listen({ port: 0, host: '127.0.0.1' })
    const { port } = service.app.server.address() as AddressInfo
    const url = `http://127.0.0.1:${port}/webhooks/${scenario.repository.hookId}`
    const padded = (size: number) => Buffer.from(`{"ref":"refs/tags/x","pad":"${'x'.repeat(size)}"}`)

    const large = scenario.forge.signed('push', padded(12 * megabyte))
    const accepted = await fetch(url, { method: 'POST', headers: large.headers, body: large.body })
    assert.equal(accepted.status, 202)
    await scenario.sync()
    assert.deepEqual(await scenario.deliveryStates(), ['ignored'])

    const { headers, body } = scenario.forge.signed('push', padded(26 * megabyte))
    const socket = connect(port, '127.0.0.1')
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.write(
      `POST ${new URL(url).pathname} HTTP/1.1\r\nhost: x\r\n${lines.join('')}content-length: ${body.length}\r\n\r\n`,
    )
    const [response] = await once(socket, 'data')
    socket.destroy()
    assert.match(String(response), /^HTTP\/1\.1 422 /)
    assert.match(String(response), /\{"error":\{"code":"validation_error","message":"The body is too large"\}\}$/)
    const chunked = await service.app.inject({
      method: 'POST',
      url: new URL(url).pathname,
      headers: { ...headers, 'transfer-encoding': 'chunked' },
      payload: body,
    })
    assert.deepEqual([chunked.statusCode, chunked.json().error.code], [422, 'validation_error'])
    assert.equal((await scenario.deliveryStates()).length, 1)
  })

  test('a signed body that is not UTF-8 is rejected with 422, and nothing is stored', async () => {
    const scenario = await connectedScenario(service)
    const body = Buffer.concat([Buffer.from('{"ref":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')])
    const response = await post(scenario, scenario.repository.hookId, scenario.forge.signed('push', body))
    assert.equal(response.statusCode, 422)
    assert.deepEqual(response.json(), { error: { code: 'validation_error', message: 'The body is not valid UTF-8' } })
    assert.deepEqual(await scenario.deliveryStates(), [])
  })

  test('a body is accepted with any content type, or none', async () => {
    const scenario = await connectedScenario(service)
    const { headers, body } = scenario.forge.ping()
    const { 'content-type': _, ...untyped } = headers
    for (const more of [{}, { 'content-type': 'text/plain' }, { 'content-type': 'application/octet-stream' }] as Record<
      string,
      string
    >[]) {
      const sent = { headers: { ...untyped, ...more, 'x-github-delivery': randomUUID() }, body }
      assert.equal((await post(scenario, scenario.repository.hookId, sent)).statusCode, 202, JSON.stringify(more))
    }
    const form = Buffer.from(`payload=${encodeURIComponent(newPush(scenario).body.toString())}`)
    const signed = scenario.forge.signed('push', form)
    signed.headers['content-type'] = 'application/x-www-form-urlencoded'
    assert.equal((await post(scenario, scenario.repository.hookId, signed)).statusCode, 202)
    await scenario.sync()
    assert.deepEqual(await scenario.deliveryStates(), ['done', 'ignored', 'ignored', 'ignored'])
    assert.equal((await scenario.history()).length, 2)
  })

  test('of deliveries that arrive at the same time, each is stored once, however often it is repeated', async () => {
    const scenario = await connectedScenario(service)
    const pings = Array.from({ length: 15 }, () => scenario.forge.ping())
    const statuses = await Promise.all([...pings, ...pings].map((ping) => scenario.send(ping)))
    assert.deepEqual(new Set(statuses), new Set([202]))
    assert.equal((await scenario.deliveryStates()).length, pings.length)
  })

  test('a delivery that the forge sends twice is processed once', async () => {
    const scenario = await connectedScenario(service)
    const push = newPush(scenario)
    await scenario.deliver(push)
    assert.equal(await scenario.send(push), 202)
    assert.deepEqual(await scenario.deliveryStates(), ['done'])
    await scenario.sync()
    assert.deepEqual(
      (await deliveriesOf(scenario)).map(({ state, attempts }) => [state, attempts]),
      [['done', 1]],
    )
    assert.equal((await scenario.history()).length, 2)
  })
})
