import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertError } from '../../../testing/assertions.ts'
import { onEachEngine } from '../../../testing/engines.ts'
import { type Tenant, useService } from '../../../testing/service.ts'
import { assertSumsAgree } from '../../../testing/signal-sums.ts'

interface Result {
  status: number
  data?: { id: number; value: string | null; created_at: string }
  error?: { code: string; message: string }
}

onEachEngine('A batch of signals', (engine) => {
  const service = useService(engine)

  function send(tenant: Tenant, body: unknown, headers: Record<string, string> = {}) {
    return service.app.inject({
      method: 'POST',
      url: '/api/v1/signals',
      headers: { ...tenant.headers, 'content-type': 'application/json', ...headers },
      payload: typeof body === 'string' ? body : JSON.stringify(body),
    })
  }

  async function results(tenant: Tenant, signals: unknown[]): Promise<Result[]> {
    const response = await send(tenant, { signals })
    assert.equal(response.statusCode, 200, response.body)
    return response.json().data
  }

  const statuses = (all: Result[]) => all.map(({ status }) => status)

  test('each signal has the result that it would have alone, in order', async () => {
    const [tenant, other] = [await service.tenant(), await service.tenant()]
    const prompt = tenant.prompt.publicId
    const all = await results(tenant, [
      { prompt, value: 'positive', metadata: { big: 1 } },
      { prompt: tenant.prompt.name, value: 'negative', subject: 's' },
      { prompt, value: null, subject: 's' },
      { prompt, value: null, subject: 'unknown' },
      { prompt: other.prompt.publicId, value: 'positive' },
      { prompt: 'unknown\0', value: 'positive' },
      { prompt, value: 'maybe' },
      { prompt, value: 'positive', version: 'x' },
      { value: 'positive' },
      'text',
      null,
      { prompt, value: 'positive', idempotency_key: 'has space' },
    ])
    assert.deepEqual(statuses(all), [201, 201, 200, 404, 404, 404, 422, 422, 422, 422, 422, 422])
    assert.equal(all[2]?.data?.id, all[1]?.data?.id)
    assert.equal(all[2]?.data?.value, null)
    for (const unknown of [all[4], all[5]])
      assert.match(unknown?.error?.message ?? '', /^No prompt has this ID, path or name/)
    assert.match(all[6]?.error?.message ?? '', /^value must be/)
    assert.match(all[7]?.error?.message ?? '', /^version must be/)
    assert.equal(await tenant.used(), 2)
    await assertSumsAgree(service.url)
  })

  test('metadata is stored exactly as sent', async () => {
    const tenant = await service.tenant()
    const metadata = '{"big":12345678901234567890, "a]":"}],{", "n":[1,[2]]}'
    const body = `{"other":[1],"signals":[ {"prompt":"${tenant.prompt.publicId}","value":"positive","metadata":${metadata}} , {"value":"negative","prompt":"${tenant.prompt.publicId}"}]}`
    assert.deepEqual(statuses((await send(tenant, body)).json().data), [201, 201])
    const filter = { value: null, since: null, until: null }
    const stored = (await Array.fromAsync(service.store.signals.stream(tenant.prompt, filter))).flat()
    assert.deepEqual(
      stored.map((signal) => signal.metadata),
      [metadata, null],
    )
  })

  test('of more signals than the month has room for, the first ones are recorded', async () => {
    const tenant = await service.tenant()
    await tenant.fillMonth(700)
    const prompt = tenant.prompt.publicId
    const signals = Array.from({ length: 1_000 }, (_, i) => ({
      prompt,
      value: 'positive',
      // Every third has details, every ninth a subject, so that both ways of recording share the limit.
      ...(i % 3 === 0 && { version: 'abcdef1' }),
      ...(i % 9 === 0 && { subject: `s${i}` }),
    }))
    const response = await send(tenant, { signals })
    assert.deepEqual(statuses(response.json().data), [...Array(300).fill(201), ...Array(700).fill(429)])
    assert.equal(response.headers['ratelimit-remaining'], '0')
    assert.equal(response.json().data[999].error.used, 1_000)
    assert.equal(await tenant.used(), 1_000)
    await assertSumsAgree(service.url)
  })

  test('a repeated batch changes nothing, and each of its signals can be repeated in another batch', async () => {
    const tenant = await service.tenant()
    const prompt = tenant.prompt.publicId
    const signals = Array.from({ length: 100 }, (_, i) => ({
      prompt,
      value: 'positive',
      idempotency_key: `k${i % 50}`,
    }))
    const first = await results(tenant, signals)
    assert.deepEqual(await results(tenant, signals), first)
    assert.deepEqual(await results(tenant, signals.slice(40, 60)), first.slice(40, 60))
    assert.equal(await tenant.used(), 50)
    const changed = await results(tenant, [{ prompt, value: 'negative', idempotency_key: 'k1' }])
    assert.deepEqual(statuses(changed), [422])
  })

  test('a thousand votes on one subject are one signal, with the last value', async () => {
    const tenant = await service.tenant()
    const prompt = tenant.prompt.publicId
    const signals = Array.from({ length: 1_000 }, (_, i) => ({
      prompt,
      value: i % 2 === 0 ? 'positive' : 'negative',
      subject: 's',
      version: `abcdef${i % 10}`,
      idempotency_key: `k${i}`,
    }))
    const all = await results(tenant, signals)
    assert.deepEqual(statuses(all), [201, ...Array(999).fill(200)])
    assert.equal(await tenant.used(), 1)
    const versions = await service.store.signals.versionsOf(tenant.prompt)
    assert.deepEqual(versions, [{ version: 'abcdef9', positive: 0, negative: 1 }])
    await assertSumsAgree(service.url)
  })

  test('a key limited to some prompts records only for them', async () => {
    const tenant = await service.tenant('free', 'admin')
    const created = await service.app.inject({
      method: 'POST',
      url: '/api/v1/keys',
      headers: tenant.headers,
      payload: { name: 'limited', role: 'ingest', prompts: 'elsewhere/**' },
    })
    const authorization = `Bearer ${created.json().data.secret ?? created.json().data.key}`
    const body = { signals: [{ prompt: tenant.prompt.publicId, value: 'positive' }] }
    assert.deepEqual(statuses((await send(tenant, body, { authorization })).json().data), [404])
  })

  test('a body that is no batch is rejected as a whole', async () => {
    const tenant = await service.tenant()
    const signal = { prompt: tenant.prompt.publicId, value: 'positive' }
    for (const body of [
      {},
      [signal],
      { signals: signal },
      { signals: [] },
      { signals: Array(1_001).fill(signal) },
      '',
      '{"signals":[',
    ]) {
      assertError(await send(tenant, body), 422, 'validation_error')
    }
    const large = { signals: Array(1_000).fill({ ...signal, metadata: { text: 'x'.repeat(16_000) } }) }
    const tooLarge = await send(tenant, large)
    assertError(tooLarge, 422, 'validation_error')
    assert.match(tooLarge.json().error.message, /too large/)
    assert.equal(await tenant.used(), 0)
  })

  test('a large body of little but brackets or members is rejected before it is parsed', async () => {
    const tenant = await service.tenant()
    const deep = '['.repeat(2_000_000)
    const nested = `${'['.repeat(100)}${']'.repeat(100)},`
    const wide = `{"signals":[${nested.repeat(9_000)}1]}`
    const message = async (body: string) => {
      const response = await send(tenant, body)
      assertError(response, 422, 'validation_error')
      return response.json().error.message
    }
    assert.equal(await message(deep), 'The body is nested more than 128 levels deep')
    assert.match(await message(wide), /^The body has more than 100,000 objects and arrays: split it/)
    const names = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`a long name: ${i}\\`, i]))
    // Some more than allowed, because names are counted by a hash.
    const named = (count: number) => JSON.stringify({ ...names(count), signals: [1] })
    assert.match(await message(named(10_100)), /^The body has more than 10,000 different names of members: split it/)
    assert.equal((await send(tenant, named(9_999))).statusCode, 200)
    const repeated = `{${'"value":1,'.repeat(100_000)}"signals":[1]}`
    assert.match(await message(repeated), /^The body has more than 100,000 members: split it/)
    // Brackets and names in strings do not count, also after an escaped quote.
    const metadata = { text: `\\"${'['.repeat(150)}`, quoted: '{"a":1}' }
    const signals = Array(500).fill({ prompt: tenant.prompt.publicId, value: 'positive', metadata })
    assert.equal((await send(tenant, { signals })).statusCode, 200)
  })
})
