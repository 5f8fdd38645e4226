import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onEachEngine } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { payloads, slackClick } from '../../../testing/payloads/sources/index.ts'
import { queryRows } from '../../../testing/rows.ts'
import { type Tenant, useService } from '../../../testing/service.ts'
import { addSource, secret, signedHeaders } from '../../../testing/sources.ts'
import { maxEvents } from '../../src/adapters/receive.ts'
import { type AdapterName, adapterNames } from '../../src/domain/sources/source.ts'

/** Those that send events. Langfuse is polled: see source-poller.test.ts. */
const senders = adapterNames.filter((name) => name !== 'langfuse')

onEachEngine('Sources', (engine) => {
  const service = useService(engine)

  const send = (tenant: Tenant, method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path = '', payload?: object) =>
    service.app.inject({
      method,
      url: `/api/v1/sources${path}`,
      headers: tenant.headers,
      ...(payload && { payload }),
    })

  /** Posts events as the product would. */
  function post(
    id: string,
    adapter: AdapterName,
    body: unknown,
    { headers, type = 'application/json' }: { headers?: Record<string, string>; type?: string } = {},
  ) {
    const payload = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
    return service.app.inject({
      method: 'POST',
      url: `/api/v1/sources/${id}/events`,
      headers: { 'content-type': type, ...(headers ?? signedHeaders(adapter, payload, service.now)) },
      payload,
    })
  }

  const signalsOf = async (tenant: Tenant) =>
    (await service.app.inject({ url: `${tenant.path}/signals`, headers: tenant.headers })).json().data

  test('a source is added with a URL and a secret that is shown once, changed, listed and removed', async () => {
    const tenant = await service.tenant('free', 'admin')
    const body = { name: 'Chat', adapter: 'posthog', prompt: tenant.prompt.name }
    const added = await send(tenant, 'POST', '', body)
    assert.equal(added.statusCode, 201, added.body)
    const { secret: shown, ...source } = added.json().data
    assert.match(shown, /^pls_\w{43}$/)
    assert.equal(source.url, `https://ledger.example/api/v1/sources/${source.id}/events`)
    assert.deepEqual((await send(tenant, 'GET')).json().data, [source])
    const [row] = await queryRows(service.url, `select sealed_secret from sources where public_id = '${source.id}'`)
    assert.match(String(row?.sealed_secret), /^v2:/)
    const other = await service.tenant('free', 'admin')
    for (const method of ['GET', 'PATCH', 'DELETE'] as const) {
      assert.equal((await send(other, method, `/${source.id}`, method === 'PATCH' ? {} : undefined)).statusCode, 404)
    }
    const changed = await send(tenant, 'PATCH', `/${source.id}`, { name: 'Chat 2', positive_values: ['great'] })
    assert.deepEqual(changed.json().data, { ...source, name: 'Chat 2', positive_values: ['great'] })
    assert.equal((await send(tenant, 'DELETE', `/${source.id}`)).statusCode, 204)
    assert.equal((await post(source.id, 'posthog', payloads.posthog)).statusCode, 404)
    const audit = await service.app.inject({ url: '/api/v1/audit', headers: tenant.headers })
    const actions = audit.json().data.map(({ action }: { action: string }) => action)
    assert.deepEqual(actions.slice(0, 3), ['source.removed', 'source.updated', 'source.added'])
    assert.ok(!audit.body.includes(shown))
  })

  test('a webhook must say where its value is and what tells its events apart', async () => {
    const tenant = await service.tenant('free', 'admin')
    const messageOf = async (more: object) =>
      (await send(tenant, 'POST', '', { name: 'x', adapter: 'webhook', ...more })).json().error?.message
    assert.equal(await messageOf({}), 'fields.value is required for a webhook')
    assert.match(await messageOf({ fields: { value: '$.v' } }), /^fields\.id or fields\.subject is required/)
    assert.match(await messageOf({ fields: { value: '$.v', id: '$.id' } }), /^prompt or fields\.prompt is required/)
    assert.match(await messageOf({ fields: { value: 'v', id: '$.id' } }), /^fields\.value must be a JSONPath/)
    assert.equal(await messageOf({ fields: { value: '$.v', id: '$.id' }, prompt: 'p' }), undefined)
  })

  test('events become signals of the prompt, with all that they say, and the source shows what arrived', async () => {
    const tenant = await service.tenant('free', 'admin')
    const { source } = await addSource(service, tenant.organisation.id)
    const event = { ...(payloads.webhook as object), prompt: tenant.prompt.name }
    const response = await post(source.publicId, 'webhook', [
      event,
      { ...event, id: 'fb-2', message_id: 2, rating: 'meh' },
    ])
    assert.equal(response.statusCode, 200, response.body)
    assert.deepEqual(response.json().data, {
      received: 2,
      recorded: 1,
      repeated: 0,
      ignored: 0,
      rejected: 1,
      errors: [{ event: 1, message: 'the value "meh" is not known' }],
    })
    const [signal, ...others] = await signalsOf(tenant)
    assert.deepEqual(others, [])
    assert.partialDeepStrictEqual(signal, {
      value: 'positive',
      subject: 'm-81',
      comment: 'Thanks!',
      metadata: { source: source.publicId },
    })
    await eventually(async () => {
      const { received, recorded, rejected, last_rejection, last_received_at } = (
        await send(tenant, 'GET', `/${source.publicId}`)
      ).json().data
      assert.deepEqual([received, recorded, rejected], [2, 1, 1])
      assert.equal(last_rejection, 'the value "meh" is not known')
      assert.equal(last_received_at, new Date(service.now).toISOString())
    })
  })

  test('a replayed request counts once, for every product', async () => {
    for (const adapter of senders) {
      const tenant = await service.tenant('free', 'admin')
      const { source } = await addSource(service, tenant.organisation.id, adapter, { prompt: tenant.prompt.name })
      const names = ['prompts/support.md', 'support-assistant']
      const text = names.reduce(
        (json, name) => json.replaceAll(JSON.stringify(name), JSON.stringify(tenant.prompt.name)),
        JSON.stringify(payloads[adapter]),
      )
      const first = await post(source.publicId, adapter, text)
      assert.equal(first.statusCode, 200, `${adapter}: ${first.body}`)
      const { recorded } = first.json().data
      assert.ok(recorded > 0, `${adapter}: ${first.body}`)
      const again = await post(source.publicId, adapter, text)
      assert.partialDeepStrictEqual(again.json().data, { recorded: 0, repeated: recorded, rejected: 0 }, adapter)
      assert.equal((await signalsOf(tenant)).length, recorded, adapter)
      assert.equal(await tenant.used(), recorded, adapter)
    }
  })

  test('a request that the secret does not authenticate is rejected, records nothing, and says why', async () => {
    for (const adapter of senders) {
      const tenant = await service.tenant('free', 'admin')
      const { source } = await addSource(service, tenant.organisation.id, adapter, { prompt: tenant.prompt.name })
      const body = JSON.stringify(payloads[adapter])
      const { now } = service
      const signed = signedHeaders(adapter, body, now)
      const last = Object.keys(signed).at(-1) as string
      const wrong: Record<string, Record<string, string>> = {
        missing: {},
        'of another secret': signedHeaders(adapter, body, now, `${secret}x`),
        'of the empty secret': signedHeaders(adapter, body, now, ''),
        'cut off': { ...signed, [last]: (signed[last] as string).slice(0, -1) },
        'with a key': tenant.headers,
      }
      const isOfBody = last !== 'authorization'
      if (isOfBody) wrong['of another body'] = signedHeaders(adapter, `${body} `, now)
      if (Object.keys(signed).length > 1) wrong['too old'] = signedHeaders(adapter, body, now - 6 * 60_000)
      for (const [what, headers] of Object.entries(wrong)) {
        const response = await post(source.publicId, adapter, body, { headers })
        assert.equal(response.statusCode, 401, `${adapter} ${what}`)
        assert.match(response.json().error.message, /^The request is not authentic: the /, `${adapter} ${what}`)
      }
      assert.deepEqual(await signalsOf(tenant), [])
      await eventually(async () => {
        const { rejected, last_rejection } = (await send(tenant, 'GET', `/${source.publicId}`)).json().data
        assert.ok(rejected > 0)
        assert.match(last_rejection, /^the /)
      })
    }
  })

  test('a product that generates the secret is rejected until its secret is set', async () => {
    const tenant = await service.tenant('free', 'admin')
    const body = { name: 'Slack', adapter: 'slack', prompt: tenant.prompt.name }
    const { id, secret: none, has_secret } = (await send(tenant, 'POST', '', body)).json().data
    assert.deepEqual([none, has_secret], [null, false])
    const empty = { headers: signedHeaders('slack', JSON.stringify(payloads.slack), service.now, '') }
    const rejected = await post(id, 'slack', payloads.slack, empty)
    assert.match(rejected.json().error.message, /the source has no secret yet/)
    const updated = await send(tenant, 'PATCH', `/${id}`, { secret })
    assert.equal(updated.json().data.has_secret, true)
    assert.ok(!updated.body.includes(secret))
    assert.equal((await post(id, 'slack', payloads.slack)).statusCode, 200)
  })

  test('Slack checks the URL with a challenge, sends clicks as a form, and takes a vote back with the reaction', async () => {
    const tenant = await service.tenant('free', 'admin')
    const { source } = await addSource(service, tenant.organisation.id, 'slack', { prompt: tenant.prompt.name })
    const challenge = await post(source.publicId, 'slack', {
      type: 'url_verification',
      token: 't',
      challenge: '3eZbrw1a',
    })
    assert.deepEqual([challenge.statusCode, challenge.json()], [200, { challenge: '3eZbrw1a' }])
    const form = `payload=${encodeURIComponent(JSON.stringify(slackClick))}`
    const clicked = await post(source.publicId, 'slack', form, { type: 'application/x-www-form-urlencoded' })
    assert.partialDeepStrictEqual(clicked.json().data, { recorded: 1, rejected: 0 })
    assert.equal((await signalsOf(tenant))[0].value, 'negative')
    const { event, ...wrapper } = payloads.slack as { event: object }
    const removed = { ...wrapper, event_id: 'Ev2', event: { ...event, type: 'reaction_removed' } }
    assert.equal((await post(source.publicId, 'slack', removed)).statusCode, 200)
    assert.deepEqual(await signalsOf(tenant), [])
    const unknown = { ...removed, event_id: 'Ev3', event: { ...removed.event, user: 'U9' } }
    assert.partialDeepStrictEqual((await post(source.publicId, 'slack', unknown)).json().data, { ignored: 1 })
  })

  test('events count towards the monthly limit, and get 429 beyond it', async () => {
    const tenant = await service.tenant('free', 'admin')
    const { source } = await addSource(service, tenant.organisation.id, 'zendesk', { prompt: tenant.prompt.name })
    await tenant.fillMonth(999)
    const body = (ticket: number) => ({ ...(payloads.zendesk as object), ticket_id: ticket })
    assert.equal((await post(source.publicId, 'zendesk', body(1))).statusCode, 200)
    const over = await post(source.publicId, 'zendesk', body(2))
    assert.deepEqual([over.statusCode, over.json().error.code], [429, 'rate_limited'])
    assert.equal(await tenant.used(), 1_000)
  })

  test('a malformed, deep or long payload is rejected with a reason, and the source of another organisation finds no prompt', async () => {
    const tenant = await service.tenant('free', 'admin')
    const { source } = await addSource(service, tenant.organisation.id)
    const messageOf = async (body: string | Buffer) => {
      const response = await post(source.publicId, 'webhook', body)
      return [response.statusCode, response.json().error?.message]
    }
    assert.deepEqual(await messageOf('{'), [422, 'The body is not valid JSON'])
    assert.deepEqual(await messageOf(''), [422, 'The body is not valid JSON'])
    assert.deepEqual(await messageOf(Buffer.from([0x22, 0xff, 0x22])), [422, 'The body is not valid UTF-8'])
    assert.deepEqual(await messageOf('['.repeat(200)), [422, 'The body is nested more than 128 levels deep'])
    const many = JSON.stringify(Array(maxEvents + 1).fill(0))
    assert.deepEqual(await messageOf(many), [422, `A request may have at most ${maxEvents} events`])
    assert.deepEqual(await messageOf(`"${'x'.repeat(1024 * 1024)}"`), [422, 'The body is too large'])
    const other = await service.tenant('free', 'admin')
    const event = { ...(payloads.webhook as object), prompt: other.prompt.publicId }
    const { errors } = (await post(source.publicId, 'webhook', event)).json().data
    assert.equal(errors[0].message, `no prompt has the ID, path or name "${other.prompt.publicId}"`)
    const long = { ...event, prompt: tenant.prompt.name, message_id: 'x'.repeat(256) }
    const rejected = (await post(source.publicId, 'webhook', long)).json().data
    assert.equal(rejected.errors[0].message, 'the subject is longer than 255 characters')
  })
})
