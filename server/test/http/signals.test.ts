import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { errorBodySchema } from '../../../contract/schema.ts'
import { signalSchema } from '../../../contract/signals.ts'
import { assertMatchesSchema } from '../../../testing/assertions.ts'
import { onEachEngine } from '../../../testing/engines.ts'
import { queryRows } from '../../../testing/rows.ts'
import { type Tenant, useService } from '../../../testing/service.ts'

async function storedMetadata(tenant: Tenant): Promise<unknown> {
  const sql = `select metadata from signals where organisation_id = ${tenant.organisation.id} order by id desc limit 1`
  return (await queryRows(tenant.service.url, sql))[0]?.metadata
}

onEachEngine('Creating signals', (engine) => {
  const service = useService(engine)

  describe('201', () => {
    test('the response to a new signal has exactly id, value and created_at', async () => {
      const tenant = await service.tenant()
      const response = await tenant.signal({ value: 'negative', metadata: { a: 1 } })
      assert.equal(response.statusCode, 201)
      assert.equal(response.headers['content-type'], 'application/json; charset=utf-8')
      const { data } = response.json()
      assert.ok(Number.isSafeInteger(data.id))
      assertMatchesSchema(signalSchema, response)
      assert.deepEqual(response.json(), {
        data: { id: data.id, value: 'negative', created_at: '2026-11-15T12:00:00.000Z' },
      })
    })

    test('a signal with a 201 is visible to another connection', async () => {
      const tenant = await service.tenant()
      const { id } = (await tenant.signal({ value: 'positive', metadata: { trace: 'abc' } })).json().data
      const [row] = await queryRows(
        service.url,
        `select value, metadata, created_at, prompt_id from signals where id = ${id}`,
      )
      assert.deepEqual(
        [row?.value, row?.metadata, Number(row?.created_at), Number(row?.prompt_id)],
        ['positive', '{"trace":"abc"}', service.now, tenant.prompt.id],
      )
    })

    test('unknown fields of a signal are ignored', async () => {
      const tenant = await service.tenant()
      const response = await tenant.signal({ value: 'positive', score: 5, id: 1, created_at: 'then', metadata: null })
      assert.equal(response.statusCode, 201)
      assert.equal(response.json().data.created_at, '2026-11-15T12:00:00.000Z')
    })

    test('Content-Type application/json is accepted with parameters and in any case', async () => {
      const tenant = await service.tenant()
      for (const type of ['application/json; charset=utf-8', 'application/json;charset=UTF-8', 'Application/JSON']) {
        assert.equal((await tenant.signal({ value: 'positive' }, { 'content-type': type })).statusCode, 201, type)
      }
    })

    test('absent and null metadata are stored as none', async () => {
      const tenant = await service.tenant()
      for (const body of [{ value: 'positive' }, { value: 'positive', metadata: null }]) {
        assert.equal((await tenant.signal(body)).statusCode, 201)
        assert.equal(await storedMetadata(tenant), null)
      }
    })

    test('metadata of any content is stored exactly as sent', async () => {
      const tenant = await service.tenant()
      const texts = [
        '{}',
        '{ "spaced" :  [1 , 2]  }',
        '{"__proto__":{"polluted":true},"constructor":1,"":2,"toString":null}',
        '{"big":123456789012345678901234567890,"precise":0.1000000000000000055511151231257827,"huge":1e400}',
        '{"nul":"a\\u0000b","lone":"\\ud800","pair":"\\ud83d\\ude00","raw":"😀\u2028"}',
        '{"quotes":"\\"}{\\\\","nested":{"a":[{"b":"]}"}]}}',
        '{"same":1,"same":2}',
        `{"deep":${'['.repeat(63)}${']'.repeat(63)}}`,
        `{"long":"${'x'.repeat(16 * 1024 - 11)}"}`,
      ]
      for (const text of texts) {
        const response = await tenant.signal(`{"value":"positive","metadata":${text}}`)
        assert.equal(response.statusCode, 201, text.slice(0, 80))
        assert.equal(await storedMetadata(tenant), text)
      }
      assert.equal(({} as { polluted?: boolean }).polluted, undefined)
    })

    test('any JSON object is read back equal', async () => {
      const tenant = await service.tenant('business')
      const objects = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ stringUnit: 'binary' }))
      await fc.assert(
        fc.asyncProperty(objects, async (metadata) => {
          const response = await tenant.signal({ metadata, value: 'positive' })
          assert.equal(response.statusCode, 201)
          assert.equal(await storedMetadata(tenant), JSON.stringify(metadata))
        }),
        { numRuns: 50 },
      )
    })

    test('the last of repeated members counts, as in JSON.parse', async () => {
      const tenant = await service.tenant()
      const response = await tenant.signal(
        '{"value":"negative","metadata":{"a":1},"value":"positive","metadata":{"b":2},"meta\\u0064ata":{"c":3}}',
      )
      assert.equal(response.json().data.value, 'positive')
      assert.equal(await storedMetadata(tenant), '{"c":3}')
    })
  })

  describe('422', () => {
    test('a value other than exactly positive or negative is rejected', async () => {
      const tenant = await service.tenant()
      for (const value of [
        'Positive',
        'positive ',
        '',
        'neutral',
        1,
        0,
        true,
        null,
        ['positive'],
        { value: 'positive' },
      ]) {
        const response = await tenant.signal({ value })
        assert.equal(response.statusCode, 422, JSON.stringify(value))
        assert.deepEqual(response.json(), {
          error: { code: 'validation_error', message: 'value must be "positive" or "negative"' },
        })
      }
      const missing = await tenant.signal({ metadata: {} })
      assert.equal(missing.statusCode, 422)
      assert.equal(missing.json().error.message, 'value is required')
      assert.equal(await tenant.used(), 0)
    })

    test('a body that is not a JSON object is rejected with the reason', async () => {
      const tenant = await service.tenant()
      const bodies: [string | Buffer, RegExp][] = [
        ['', /body/],
        ['{', /not valid JSON/],
        ['{"value":"positive"', /not valid JSON/],
        ['{"value":"positive",}', /not valid JSON.* at position 20/],
        ['not json', /not valid JSON/],
        ['[]', /must be a JSON object/],
        ['"positive"', /must be a JSON object/],
        ['null', /must be a JSON object/],
        ['1', /must be a JSON object/],
        [Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), /not valid UTF-8/],
        [Buffer.from('{"value":"positive","metadata":{"a":"\xed\xa0\x80"}}', 'latin1'), /not valid UTF-8/],
        [`\ufeff${JSON.stringify({ value: 'positive' })}`, /not valid JSON/],
        [`${'['.repeat(30_000)}`, /not valid JSON/],
        [`{"value":"positive","x":"${'x'.repeat(70_000)}"}`, /too large/],
      ]
      for (const [body, message] of bodies) {
        const response = await tenant.signal(body)
        assert.equal(response.statusCode, 422, body.toString().slice(0, 40))
        assert.equal(response.json().error.code, 'validation_error')
        assert.match(response.json().error.message, message)
        assertMatchesSchema(errorBodySchema, response)
        assert.doesNotMatch(response.body, /xxxx|\[\[\[/, 'the message repeats what was sent')
      }
      assert.equal(await tenant.used(), 0)
    })

    test('a body without the Content-Type application/json is rejected', async () => {
      const tenant = await service.tenant()
      for (const type of [
        'text/plain',
        'application/x-www-form-urlencoded',
        'application/jsonp',
        'json',
        'multipart/form-data',
      ]) {
        const response = await tenant.signal({ value: 'positive' }, { 'content-type': type })
        assert.equal(response.statusCode, 422, type)
        assert.match(response.json().error.message, /Content-Type/)
      }
      const without = await service.app.inject({
        method: 'POST',
        url: `${tenant.path}/signals`,
        headers: tenant.headers,
        payload: Buffer.from('{"value":"positive"}'),
      })
      assert.equal(without.statusCode, 422)
      const empty = await service.app.inject({ method: 'POST', url: `${tenant.path}/signals`, headers: tenant.headers })
      assert.equal(empty.statusCode, 422)
      assert.equal(await tenant.used(), 0)
    })

    test('metadata that is not an object, over 16 KiB or more than 64 levels deep is rejected', async () => {
      const tenant = await service.tenant()
      const texts: [string, RegExp][] = [
        ['[]', /metadata must be an object or null/],
        ['"text"', /metadata must be an object or null/],
        ['0', /metadata must be an object or null/],
        ['false', /metadata must be an object or null/],
        [`{"long":"${'x'.repeat(16 * 1024 - 10)}"}`, /at most 16384 bytes/],
        [`{"long":"${'é'.repeat(8 * 1024 - 4)}"}`, /at most 16384 bytes/],
        [`{"deep":${'['.repeat(64)}${']'.repeat(64)}}`, /at most 64 levels/],
        [`{"deep":${'{"a":'.repeat(64)}1${'}'.repeat(64)}}`, /at most 64 levels/],
      ]
      for (const [text, message] of texts) {
        const response = await tenant.signal(`{"value":"positive","metadata":${text}}`)
        assert.equal(response.statusCode, 422, text.slice(0, 40))
        assert.match(response.json().error.message, message)
      }
      assert.equal(await tenant.used(), 0)
    })

    test('an Idempotency-Key other than 1 to 255 visible ASCII characters is rejected', async () => {
      const tenant = await service.tenant()
      for (const key of ['', ' ', 'a b', 'é', 'a\tb', 'x'.repeat(256)]) {
        const response = await tenant.signal({ value: 'positive' }, { 'idempotency-key': key })
        assert.equal(response.statusCode, 422, JSON.stringify(key))
        assert.match(response.json().error.message, /Idempotency-Key/)
      }
      assert.equal((await tenant.signal({ value: 'positive' }, { 'idempotency-key': '~'.repeat(255) })).statusCode, 201)
    })

    test('an invalid signal is reported before the monthly limit', async () => {
      const tenant = await service.tenant()
      await tenant.fillMonth(1_000)
      assert.equal((await tenant.signal({ value: 'wrong' })).statusCode, 422)
      assert.equal((await tenant.signal({ value: 'positive' })).statusCode, 429)
    })
  })
})
