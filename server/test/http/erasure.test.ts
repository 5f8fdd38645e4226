import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { onEachEngine } from '../../../testing/engines.ts'
import { inPortions, signalOf } from '../../../testing/recording.ts'
import { queryRows, type Tenant, useService } from '../../../testing/service.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { newPrompt, type Prompt } from '../../src/domain/prompt.ts'
import { metadataQuery } from '../../src/domain/signals/erasure.ts'
import { canonicalJson } from '../../src/domain/signals/json-text.ts'
import type { NewSignal, SignalValue } from '../../src/domain/signals/signal.ts'

const hour = 3_600_000

/** Values, each in several texts: texts of one row are equal, texts of two rows are not. */
const values = [
  ['"u-1"', '"\\u0075-1"', '"u\\u002D1"'],
  ['"U-1"', '"\\u0055-1"'],
  ['"a\\"b%_!"', '"a\\u0022b%_!"'],
  ['"a!b!c"', '"\\u0061!b!c"'],
  ['"\\\\"', '"\\u005c"'],
  ['"/"', '"\\/"'],
  ['"ü"', '"\\u00fc"', '"\\u00FC"'],
  ['"u\u0308"'],
  ['"\\u0000"'],
  ['"\\ud800"', '"\\uD800"'],
  ['"1"'],
  ['""'],
  ['1', '1.0', '10e-1', '1E0', '0.1e+1'],
  ['-1', '-10E-1'],
  ['12345678901234567890', '1234567890123456789e1', '12345678901234567890.0'],
  ['12345678901234567891'],
  ['0', '-0', '0.00', '0e7', '-0E-7'],
  ['1e400', '10e399', '0.1e401'],
  ['1e401'],
  ['true', ' true '],
  ['false'],
  ['null'],
  ['{}', '{ }'],
  ['[]', '[\n]'],
  ['[1]', '[1.0]'],
  ['[[1]]'],
  ['{"a":1,"b":[1,"x"]}', '{ "b": [1.0, "\\u0078"], "a": 1 }', '{"a":2,"b":[1,"x"],"a":1}'],
  ['{"a":1,"b":["x",1]}'],
  ['{"__proto__":1}'],
]

const names = [['"user"', '"\\u0075ser"'], ['"User"'], ['"__proto__"'], ['"toString"'], ['"%_!\\""', '"%_!\\u0022"']]

interface Member {
  name: number
  value: number
  text: string
}

const member: fc.Arbitrary<Member> = fc
  .tuple(fc.nat(names.length - 1), fc.nat(), fc.nat(values.length - 1), fc.nat(), fc.constantFrom('', ' ', '\n'))
  .map(([name, nameText, value, valueText, space]) => {
    const [called, is] = [names[name] as string[], values[value] as string[]]
    const text = `${called[nameText % called.length]}${space}:${space}${is[valueText % is.length]}`
    return { name, value, text }
  })

const textOf = (members: Member[]) => `{${members.map(({ text }) => text).join(',')}}`

/** What is sought; of a repeated name the last. */
const said = (sought: Member[]) => new Map(sought.map(({ name, value }) => [name, value]))

/** Of a name that is stored twice each counts, since each is stored. */
const fits = (members: Member[] | null, sought: Member[]) =>
  members !== null &&
  [...said(sought)].every(([name, value]) => members.some((one) => one.name === name && one.value === value))

describe('Metadata that is sought', () => {
  test('is the same however it is written, and only then', () => {
    const texts = values.flatMap((row, i) => row.map((text) => ({ i, text })))
    for (const one of texts) {
      for (const other of texts) {
        const same = canonicalJson(one.text) === canonicalJson(other.text)
        assert.equal(same, one.i === other.i, `${one.text} ${other.text}`)
        const found = metadataQuery(`{"a":${one.text}}`).matches(`{"b":1,"a":${other.text}}`)
        assert.equal(found, one.i === other.i, `${one.text} ${other.text}`)
      }
    }
  })

  test('is found in each member of a name that stands there more than once', () => {
    const metadata = '{"user":"u-1","n":1,"user":{"id":"u-2"},"n":2.0,"\\u0075ser":"u-3"}'
    for (const text of [
      '{"user":"u-1"}',
      '{"user":{"id":"u-2"}}',
      '{"user":"u-3"}',
      '{"n":1}',
      '{"n":2,"user":"u-1"}',
    ]) {
      assert.ok(metadataQuery(text).matches(metadata), text)
    }
    for (const text of ['{"user":"u-2"}', '{"id":"u-2"}', '{"n":1,"user":"u-4"}']) {
      assert.ok(!metadataQuery(text).matches(metadata), text)
    }
  })

  test('is not missed by what the database looks for, unless there is a backslash', () => {
    fc.assert(
      fc.property(
        fc.array(member, { minLength: 1, maxLength: 4 }),
        fc.array(member, { maxLength: 3 }),
        (sought, more) => {
          const metadata = textOf([...more, ...sought])
          const { prefilter: needle, matches: fits } = metadataQuery(textOf(sought))
          assert.ok(fits(metadata))
          assert.ok(metadata.includes(needle) || metadata.includes('\\'), `${needle} ${metadata}`)
        },
      ),
    )
  })
})

onEachEngine('Erasing signals', (engine) => {
  const service = useService(engine)

  function erase({ headers }: Tenant, body: string) {
    return service.app.inject({
      method: 'POST',
      url: '/api/v1/signals/erase',
      headers: { ...headers, 'content-type': 'application/json' },
      payload: body,
    })
  }

  async function erased(tenant: Tenant, metadata: string): Promise<number> {
    const response = await erase(tenant, `{"metadata":${metadata}}`)
    assert.equal(response.statusCode, 200, response.body)
    assert.deepEqual(Object.keys(response.json()), ['data'])
    return response.json().data.erased
  }

  function made({ organisationId, id }: Prompt, metadata: string | null, changes: Partial<NewSignal> = {}): NewSignal {
    return { organisationId, promptId: id, value: 'positive', metadata, createdAt: service.now, ...changes }
  }

  /** What is stored of a prompt's signals, and whether the sums say the same. */
  async function stored({ id }: Prompt): Promise<string[]> {
    const rows = await queryRows(
      service.url,
      `select value, metadata, created_at from signals where prompt_id = ${id} order by created_at, id`,
    )
    const hours = await queryRows(
      service.url,
      `select hour, positive, negative from signal_hours where prompt_id = ${id} and positive + negative <> 0 order by hour`,
    )
    const hourOf = ({ created_at }: Record<string, unknown>) => Number(created_at) - (Number(created_at) % hour)
    const count = (of: Record<string, unknown>[], wanted: SignalValue) =>
      of.filter(({ value }) => value === wanted).length
    assert.deepEqual(
      hours.map(({ hour, positive, negative }) => [Number(hour), Number(positive), Number(negative)]),
      [...Map.groupBy(rows, hourOf)].map(([at, of]) => [at, count(of, 'positive'), count(of, 'negative')]),
    )
    return rows.map(({ value, metadata, created_at }) => `${value} ${created_at} ${metadata}`)
  }

  const someSignals = fc.array(
    fc.record({
      members: fc.option(fc.array(member, { maxLength: 3 }), { nil: null }),
      prompt: fc.nat(2),
      at: fc.constantFrom(0, 1, hour - 1, hour, 24 * hour, 40 * 24 * hour),
      value: fc.constantFrom<SignalValue>('positive', 'negative'),
    }),
    { maxLength: 40 },
  )

  test('removes what fits from rows and sums, whatever there is, and nothing else', async () => {
    await fc.assert(
      fc.asyncProperty(someSignals, fc.array(member, { minLength: 1, maxLength: 2 }), async (signals, sought) => {
        const [tenant, other] = [await service.tenant('free', 'admin'), await service.tenant()]
        const deleted = await service.store.prompts.create(
          newPrompt(tenant.organisation.id, 'deleted', service.now),
          operator,
        )
        const prompts = [tenant.prompt, deleted, other.prompt]
        const start = service.now - (service.now % hour) - 50 * 24 * hour
        const all = signals.map(({ members, prompt, at, value }) => ({
          prompt: prompts[prompt] as Prompt,
          goes: prompt < 2 && fits(members, sought),
          metadata: members && textOf(members),
          createdAt: start + at,
          value,
        }))
        await service.store.signals.import(
          inPortions(all.map(({ prompt, metadata, createdAt, value }) => made(prompt, metadata, { createdAt, value }))),
        )
        await service.store.prompts.delete(deleted, service.now, operator)
        const used = await tenant.used()
        const expected = all.filter(({ goes }) => goes).length
        assert.equal(await erased(tenant, textOf(sought)), expected)
        for (const prompt of prompts) {
          const kept = all.filter((signal) => signal.prompt === prompt && !signal.goes)
          assert.deepEqual(
            (await stored(prompt)).sort(),
            kept.map(({ value, createdAt, metadata }) => `${value} ${createdAt} ${metadata}`).sort(),
          )
        }
        assert.equal(await tenant.used(), used)
        assert.equal(await erased(tenant, textOf(sought)), 0)
      }),
      { numRuns: 60 },
    )
  })

  test('finds every value in each of its spellings, whichever it is asked for in', async () => {
    const tenant = await service.tenant('free', 'admin')
    const signals = values.flat().map((text) => made(tenant.prompt, `{"trace":"f00","user":${text}}`))
    await service.store.signals.import(inPortions(signals))
    for (const texts of values) {
      assert.equal(await erased(tenant, `{"user":${texts.at(-1)}}`), texts.length, texts[0])
      await service.store.signals.import(
        inPortions(texts.map((text) => made(tenant.prompt, `{"trace":"f00","user":${text}}`))),
      )
      assert.equal(await erased(tenant, `{"\\u0075ser":${texts[0]}}`), texts.length, texts[0])
    }
    assert.deepEqual(await stored(tenant.prompt), [])
  })

  test('goes through any number of signals, also many of one millisecond', async () => {
    const tenant = await service.tenant('free', 'admin')
    const signals = Array.from({ length: 3_500 }, (_, i) =>
      made(tenant.prompt, `{"user":"u-${i % 3}"}`, { createdAt: service.now - (i % 2) }),
    )
    await service.store.signals.import(inPortions(signals))
    assert.equal(await erased(tenant, '{"user":"u-1"}'), 1_167)
    assert.equal((await stored(tenant.prompt)).length, 2_333)
  })

  test('goes on while signals are recorded and taken back, and is complete for what was there before', async () => {
    const tenant = await service.tenant('business', 'admin')
    const [gone, stays] = ['{"user":"u-1"}', '{"user":"u-2"}']
    const before = Array.from({ length: 4_000 }, (_, i) => made(tenant.prompt, i % 2 === 0 ? gone : stays))
    await service.store.signals.import(inPortions(before))
    const ids = await queryRows(service.url, `select id from signals where prompt_id = ${tenant.prompt.id} order by id`)
    let running = true
    const recorded: Promise<void>[] = Array.from({ length: 4 }, async (_, i) => {
      while (running) {
        const signal = signalOf(tenant, { metadata: i % 2 === 0 ? gone : stays, limit: 100_000 })
        assert.equal((await service.store.signals.record(signal)).kind, 'recorded')
      }
    })
    let takenBack = 0
    const taking = (async () => {
      for (const { id } of ids.toReversed()) {
        if (!running) return
        // An embedded database answers at once, and nobody else would get a turn.
        await new Promise((resolve) => setImmediate(resolve))
        if (await service.store.signals.retract(tenant.prompt, Number(id), service.now, operator)) takenBack++
      }
    })()
    const count = await erased(tenant, gone)
    running = false
    await Promise.all([...recorded, taking])
    const left = await stored(tenant.prompt)
    const used = await tenant.used()
    assert.equal(left.length, used - count - takenBack)
    const old = new Set(ids.map(({ id }) => Number(id)))
    const rows = await queryRows(
      service.url,
      `select id from signals where prompt_id = ${tenant.prompt.id} and metadata = '${gone}'`,
    )
    assert.deepEqual(
      rows.filter(({ id }) => old.has(Number(id))),
      [],
    )
    assert.ok(used > 4_000 && takenBack > 0, 'nothing happened meanwhile')
    await erased(tenant, gone)
    assert.ok((await stored(tenant.prompt)).every((line) => line.endsWith(stays)))
  })

  test('that breaks off has done a part of it completely, says so in the audit, and is finished by doing it again', async () => {
    const tenant = await service.tenant('free', 'admin')
    const signals = Array.from({ length: 2_500 }, () => made(tenant.prompt, '{"user":"u-1"}'))
    await service.store.signals.import(inPortions(signals))
    const begun = await service.store.signals.beginErasure(tenant.organisation.id, operator, service.now)
    const sought = metadataQuery('{"user":"u-1"}')
    let erasure = begun
    while (erasure.erased === 0) erasure = await service.store.signals.eraseNext(erasure, sought)
    const first = erasure.erased
    assert.ok(first < 2_500)
    assert.equal((await stored(tenant.prompt)).length, 2_500 - first)
    const details = async () => {
      const filter = { action: 'signals.erased', since: null, until: null } as const
      const { entries } = await service.store.audit.page(tenant.organisation.id, filter, { page: '1', limit: 25 })
      return entries.map((entry) => entry.details)
    }
    assert.deepEqual(await details(), [{ erased: first }])
    // Nothing of a step happens where a part of it cannot.
    for (const table of ['signal_hours', 'audit']) {
      await queryRows(service.url, `alter table ${table} rename to elsewhere`)
      await assert.rejects(service.store.signals.eraseNext(erasure, sought))
      await queryRows(service.url, `alter table elsewhere rename to ${table}`)
      assert.equal((await stored(tenant.prompt)).length, 2_500 - first)
    }
    assert.equal(await erased(tenant, '{"user":"u-1"}'), 2_500 - first)
    assert.deepEqual(await stored(tenant.prompt), [])
    assert.deepEqual(await details(), [{ erased: 2_500 - first }, { erased: first }])
  })

  test('is not undone by a request that is repeated with its idempotency key', async () => {
    const tenant = await service.tenant('free', 'admin')
    const send = () => tenant.signal({ value: 'positive', metadata: { user: 'u-1' } }, { 'idempotency-key': 'vote-1' })
    const first = await send()
    assert.equal(await erased(tenant, '{"user":"u-1"}'), 1)
    const again = await send()
    assert.deepEqual([again.statusCode, again.json()], [201, first.json()])
    assert.deepEqual(await stored(tenant.prompt), [])
    assert.equal(await tenant.used(), 1)
  })

  test('leaves lists, exports and figures without them', async () => {
    const tenant = await service.tenant('free', 'admin')
    for (const user of ['u-1', 'u-2']) await tenant.signal({ value: 'negative', metadata: { user } })
    assert.equal(await erased(tenant, '{"user":"u-1"}'), 1)
    const get = async (path: string) => service.app.inject({ url: `${tenant.path}${path}`, headers: tenant.headers })
    const { data, pagination } = (await get('/signals')).json()
    assert.deepEqual([data.length, data[0].metadata, pagination.total_count], [1, { user: 'u-2' }, 1])
    assert.deepEqual((await get('/signals/summary')).json().total, { positive: 0, negative: 1 })
    assert.ok(!(await get('/signals/export')).body.includes('u-1'))
  })

  test('refuses a body that names nothing, and keys that may not', async () => {
    const tenant = await service.tenant('free', 'admin')
    await tenant.signal({ value: 'positive', metadata: { user: 'u-1' } })
    const deep = `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`
    const wrong: [string, RegExp][] = [
      ['', /^The body is empty/],
      ['[]', /^The body must be a JSON object/],
      ['{}', /^metadata must be given/],
      ['{"metadata":null}', /^metadata must be an object/],
      ['{"metadata":"u-1"}', /^metadata must be an object/],
      ['{"metadata":[]}', /^metadata must be an object/],
      ['{"metadata":{}}', /^metadata must have at least one member/],
      [`{"metadata":${deep}}`, /^metadata must be nested at most 64 levels deep/],
      [`{"metadata":{"a":"${'x'.repeat(17_000)}"}}`, /^metadata must be at most 16384 bytes/],
    ]
    for (const [body, message] of wrong) {
      const response = await erase(tenant, body)
      assert.equal(response.statusCode, 422, body.slice(0, 40))
      assert.match(response.json().error.message, message)
    }
    for (const role of ['ingest', 'standard'] as const) {
      const headers = { authorization: `Bearer ${await service.key(tenant.organisation, role)}` }
      const response = await service.app.inject({
        method: 'POST',
        url: '/api/v1/signals/erase',
        headers,
        payload: { metadata: { user: 'u-1' } },
      })
      assert.equal(response.statusCode, 403)
    }
    assert.equal((await stored(tenant.prompt)).length, 1)
  })
})
