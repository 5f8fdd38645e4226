import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { onEachEngine } from '../../../testing/engines.ts'
import { matches, member, objectOf, textOf, values } from '../../../testing/metadata-members.ts'
import { queryRows } from '../../../testing/rows.ts'
import { type Tenant, useService } from '../../../testing/service.ts'
import { assertSumsAgree } from '../../../testing/signal-sums.ts'
import { inBatches, signalFor } from '../../../testing/signals.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { newPrompt, type Prompt } from '../../src/domain/prompt.ts'
import { type Erasure, metadataQuery, startErasure } from '../../src/domain/signals/erasure.ts'
import type { NewSignal, SignalValue } from '../../src/domain/signals/signal.ts'

const hour = 3_600_000

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

  /** How many signals an erasure would remove. */
  async function matching({ headers }: Tenant, body: string): Promise<number> {
    const response = await service.app.inject({
      method: 'POST',
      url: '/api/v1/signals/erase/preview',
      headers: { ...headers, 'content-type': 'application/json' },
      payload: body,
    })
    assert.equal(response.statusCode, 200, response.body)
    return response.json().data.matching
  }

  async function erased(tenant: Tenant, metadata: string): Promise<number> {
    const response = await erase(tenant, `{"metadata":${metadata}}`)
    assert.equal(response.statusCode, 200, response.body)
    assert.deepEqual(Object.keys(response.json()), ['data'])
    return response.json().data.erased
  }

  function newSignal(
    { organisationId, id }: Prompt,
    metadata: string | null,
    changes: Partial<NewSignal> = {},
  ): NewSignal {
    return { organisationId, promptId: id, value: 'positive', metadata, createdAt: service.now, ...changes }
  }

  /** The stored signals of a prompt. Also checks that the hourly sums match them. */
  async function stored({ id }: Prompt): Promise<string[]> {
    const rows = await queryRows(
      service.url,
      `select value, metadata, created_at from signals where prompt_id = ${id} order by created_at, id`,
    )
    const hours = await queryRows(
      service.url,
      `select hour, sum(positive) as positive, sum(negative) as negative from hour_sums where prompt_id = ${id}
       group by hour having sum(positive + negative) <> 0 order by hour`,
    )
    const hourOf = ({ created_at }: Record<string, unknown>) => Number(created_at) - (Number(created_at) % hour)
    const count = (signals: Record<string, unknown>[], counted: SignalValue) =>
      signals.filter(({ value }) => value === counted).length
    assert.deepEqual(
      hours.map(({ hour, positive, negative }) => [Number(hour), Number(positive), Number(negative)]),
      [...Map.groupBy(rows, hourOf)].map(([at, signals]) => [
        at,
        count(signals, 'positive'),
        count(signals, 'negative'),
      ]),
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

  test('an erasure removes exactly the matching signals, from rows and sums', async () => {
    await fc.assert(
      fc.asyncProperty(someSignals, fc.array(member, { minLength: 1, maxLength: 2 }), async (signals, query) => {
        const [tenant, other] = [await service.tenant('free', 'admin'), await service.tenant()]
        const deleted = await service.store.prompts.create(
          newPrompt(tenant.organisation.id, 'deleted', service.now),
          operator,
        )
        const prompts = [tenant.prompt, deleted, other.prompt]
        const start = service.now - (service.now % hour) - 50 * 24 * hour
        const all = signals.map(({ members, prompt, at, value }) => ({
          prompt: prompts[prompt] as Prompt,
          isErased: prompt < 2 && matches(members, query),
          metadata: members && textOf(members),
          createdAt: start + at,
          value,
        }))
        await service.store.signals.import(
          inBatches(
            all.map(({ prompt, metadata, createdAt, value }) => newSignal(prompt, metadata, { createdAt, value })),
          ),
        )
        await service.store.prompts.delete(deleted, service.now, operator)
        const used = await tenant.used()
        const expected = all.filter(({ isErased }) => isErased).length
        assert.equal(await matching(tenant, `{"metadata":${textOf(query)}}`), expected)
        assert.equal(await erased(tenant, textOf(query)), expected)
        for (const prompt of prompts) {
          const remaining = all.filter((signal) => signal.prompt === prompt && !signal.isErased)
          assert.deepEqual(
            (await stored(prompt)).sort(),
            remaining.map(({ value, createdAt, metadata }) => `${value} ${createdAt} ${metadata}`).sort(),
          )
        }
        assert.equal(await tenant.used(), used)
        assert.equal(await erased(tenant, textOf(query)), 0)
      }),
      { numRuns: 60 },
    )
  })

  test('every value is found in all of its JSON spellings', async () => {
    const tenant = await service.tenant('free', 'admin')
    const signals = values.flat().map((text) => newSignal(tenant.prompt, `{"trace":"f00","user":${text}}`))
    await service.store.signals.import(inBatches(signals))
    for (const texts of values) {
      assert.equal(await erased(tenant, `{"user":${texts.at(-1)}}`), texts.length, texts[0])
      await service.store.signals.import(
        inBatches(texts.map((text) => newSignal(tenant.prompt, `{"trace":"f00","user":${text}}`))),
      )
      assert.equal(await erased(tenant, `{"\\u0075ser":${texts[0]}}`), texts.length, texts[0])
    }
    assert.deepEqual(await stored(tenant.prompt), [])
  })

  test('an erasure covers any number of signals, also many with the same timestamp', async () => {
    const tenant = await service.tenant('free', 'admin')
    const signals = Array.from({ length: 3_500 }, (_, i) =>
      newSignal(tenant.prompt, `{"user":"u-${i % 3}"}`, { createdAt: service.now - (i % 2) }),
    )
    await service.store.signals.import(inBatches(signals))
    assert.equal(await erased(tenant, '{"user":"u-1"}'), 1_167)
    assert.equal((await stored(tenant.prompt)).length, 2_333)
  })

  test('an erasure during recording and deletion is complete for the signals stored before it started', async (t) => {
    const tenant = await service.tenant('business', 'admin')
    const [erasedUser, otherUser] = ['{"user":"u-1"}', '{"user":"u-2"}']
    const before = Array.from({ length: 4_000 }, (_, i) =>
      newSignal(tenant.prompt, i % 2 === 0 ? erasedUser : otherUser),
    )
    await service.store.signals.import(inBatches(before))
    const ids = await queryRows(service.url, `select id from signals where prompt_id = ${tenant.prompt.id} order by id`)
    let running = true
    // Stops the loops below also if the erasure fails.
    t.after(() => {
      running = false
    })
    const recording: Promise<void>[] = Array.from({ length: 4 }, async (_, i) => {
      while (running) {
        const signal = signalFor(tenant, { metadata: i % 2 === 0 ? erasedUser : otherUser, limit: 100_000 })
        assert.equal((await service.store.signals.record(signal)).kind, 'recorded')
      }
    })
    let deletedCount = 0
    const deleting = (async () => {
      for (const { id } of ids.toReversed()) {
        if (!running) return
        // SQLite runs synchronously: without a yield the other loops would be starved.
        await new Promise((resolve) => setImmediate(resolve))
        if (await service.store.signals.delete(tenant.prompt, Number(id), service.now, operator)) deletedCount++
      }
    })()
    const count = await erased(tenant, erasedUser)
    running = false
    await Promise.all([...recording, deleting])
    const left = await stored(tenant.prompt)
    const used = await tenant.used()
    assert.equal(left.length, used - count - deletedCount)
    const idsBefore = new Set(ids.map(({ id }) => Number(id)))
    const rows = await queryRows(
      service.url,
      `select id from signals where prompt_id = ${tenant.prompt.id} and metadata = '${erasedUser}'`,
    )
    assert.deepEqual(
      rows.filter(({ id }) => idsBefore.has(Number(id))),
      [],
    )
    assert.ok(used > 4_000 && deletedCount > 0, 'nothing was recorded or deleted during the erasure')
    await erased(tenant, erasedUser)
    assert.ok((await stored(tenant.prompt)).every((line) => line.endsWith(otherUser)))
  })

  test('an interrupted erasure leaves whole steps done, is audited, and completes when sent again', async () => {
    const tenant = await service.tenant('free', 'admin')
    const signals = Array.from({ length: 2_500 }, () => newSignal(tenant.prompt, '{"user":"u-1"}'))
    await service.store.signals.import(inBatches(signals))
    const query = metadataQuery('{"user":"u-1"}')
    /** The next batch that erases anything: on a busy machine, the time of one may end before. */
    const eraseSome = async (erasure: Erasure) => {
      let next = erasure
      while (next.erased === erasure.erased) next = await service.store.signals.eraseNextBatch(next, query)
      return next
    }
    const erasure = await eraseSome(startErasure(tenant.organisation.id, operator, service.now))
    const first = erasure.erased
    assert.ok(first < 2_500)
    assert.equal((await stored(tenant.prompt)).length, 2_500 - first)
    const details = async () => {
      const filter = { action: 'signals.erased', actor: null, since: null, until: null } as const
      const { entries } = await service.store.audit.page(tenant.organisation.id, filter, { page: '1', limit: 25 })
      return entries.map((entry) => entry.details?.erased)
    }
    assert.deepEqual(await details(), [first])
    // A batch is one transaction: if part of it fails, nothing is erased.
    for (const table of ['signal_hours', 'audit']) {
      await queryRows(service.url, `alter table ${table} rename to elsewhere`)
      const failing = eraseSome(erasure)
      await assert.rejects(failing.finally(() => queryRows(service.url, `alter table elsewhere rename to ${table}`)))
      assert.equal((await stored(tenant.prompt)).length, 2_500 - first)
    }
    assert.equal(await erased(tenant, '{"user":"u-1"}'), 2_500 - first)
    assert.deepEqual(await stored(tenant.prompt), [])
    const [last, ...earlier] = (await details()) as number[]
    assert.deepEqual([(last as number) <= 1_000, earlier.at(-1)], [true, first])
    assert.equal(
      [last as number, ...earlier].reduce((sum, erased) => sum + erased),
      2_500,
    )
  })

  test('other requests run while an erasure compares large metadata', async () => {
    const tenant = await service.tenant('free', 'admin')
    const metadata = objectOf(1_500)
    const signals = Array.from({ length: 400 }, () => newSignal(tenant.prompt, metadata))
    await service.store.signals.import(inBatches(signals))
    const query = metadataQuery(objectOf(16))
    let erasure = startErasure(tenant.organisation.id, operator, service.now)
    let [comparing, turn, lastTurn] = [true, 0, 0]
    const countTurns = () => {
      turn++
      if (comparing) setImmediate(countTurns)
    }
    setImmediate(countTurns)
    // Comparisons rather than time: one of them takes long if the machine is busy.
    let [sinceTurn, longest] = [0, 0]
    const counted = {
      ...query,
      matches: (text: string) => {
        sinceTurn = turn === lastTurn ? sinceTurn + 1 : 1
        lastTurn = turn
        longest = Math.max(longest, sinceTurn)
        return query.matches(text)
      },
    }
    while (!erasure.done) erasure = await service.store.signals.eraseNextBatch(erasure, counted)
    comparing = false
    assert.equal(erasure.erased, 400)
    assert.ok(longest < 200, `compared ${longest} of 400 signals without a turn of the event loop`)
  })

  test('repeating a request with its idempotency key does not bring back an erased signal', async () => {
    const tenant = await service.tenant('free', 'admin')
    const send = () => tenant.signal({ value: 'positive', metadata: { user: 'u-1' } }, { 'idempotency-key': 'vote-1' })
    const first = await send()
    assert.equal(await erased(tenant, '{"user":"u-1"}'), 1)
    const again = await send()
    assert.deepEqual([again.statusCode, again.json()], [201, first.json()])
    assert.deepEqual(await stored(tenant.prompt), [])
    assert.equal(await tenant.used(), 1)
  })

  test('erased signals are gone from lists, exports and statistics', async () => {
    const tenant = await service.tenant('free', 'admin')
    for (const user of ['u-1', 'u-2']) await tenant.signal({ value: 'negative', metadata: { user } })
    assert.equal(await erased(tenant, '{"user":"u-1"}'), 1)
    const get = async (path: string) => service.app.inject({ url: `${tenant.path}${path}`, headers: tenant.headers })
    const { data, pagination } = (await get('/signals')).json()
    assert.deepEqual([data.length, data[0].metadata, pagination.total_count], [1, { user: 'u-2' }, 1])
    assert.deepEqual((await get('/signals/summary')).json().total, { positive: 0, negative: 1 })
    assert.ok(!(await get('/signals/export')).body.includes('u-1'))
  })

  test('an empty query and a key without the admin role are rejected', async () => {
    const tenant = await service.tenant('free', 'admin')
    await tenant.signal({ value: 'positive', metadata: { user: 'u-1' } })
    const deep = `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`
    const wrong: [string, RegExp][] = [
      ['', /^The body is empty/],
      ['[]', /^The body must be a JSON object/],
      ['{}', /^The body must have exactly one of metadata, voter and subject/],
      ['{"metadata":{"a":1},"voter":"x"}', /^The body must have exactly one of/],
      ['{"voter":""}', /^voter must/],
      ['{"voter":5}', /^voter must be a string/],
      ['{"voter":"a\\u0000"}', /^voter must not contain control/],
      ['{"subject":null}', /^subject must be a string/],
      ['{"metadata":null}', /^metadata must be an object/],
      ['{"metadata":"u-1"}', /^metadata must be an object/],
      ['{"metadata":[]}', /^metadata must be an object/],
      ['{"metadata":{}}', /^metadata must have at least one member/],
      [`{"metadata":${objectOf(17)}}`, /^metadata must have at most 16 members in an erasure/],
      [`{"metadata":${objectOf(1_500)}}`, /^metadata must have at most 16 members in an erasure/],
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

  test('an erasure by voter removes every signal of that person, in all prompts and no other organisation', async () => {
    const [tenant, other] = [await service.tenant('free', 'admin'), await service.tenant('free', 'admin')]
    const second = await service.prompt(tenant.organisation, 'prompts/b.md')
    const vote = (client: Tenant, promptId: string, body: object) =>
      service.app.inject({
        method: 'POST',
        url: `/api/v1/prompts/${promptId}/signals`,
        headers: client.headers,
        payload: { value: 'positive', ...body },
      })
    for (const [client, id] of [
      [tenant, tenant.prompt.publicId],
      [tenant, second.publicId],
      [other, other.prompt.publicId],
    ] as const) {
      for (const body of [{ voter: 'Ada' }, { voter: 'Ada', subject: 'x', version: 'abcdef1' }, { voter: 'ada' }, {}]) {
        assert.equal((await vote(client, id, body)).statusCode, 201)
      }
    }
    const expected = await matching(tenant, '{"voter":"Ada"}')
    const response = await erase(tenant, '{"voter":"Ada"}')
    assert.deepEqual(response.json(), { data: { erased: expected } })
    assert.deepEqual([response.statusCode, response.json()], [200, { data: { erased: 4 } }])
    assert.deepEqual([(await stored(tenant.prompt)).length, (await stored(second)).length], [2, 2])
    assert.equal((await stored(other.prompt)).length, 4)
    await assertSumsAgree(service.url)
    assert.deepEqual((await erase(tenant, '{"voter":"Ada"}')).json(), { data: { erased: 0 } })
    const audited = await queryRows(
      service.url,
      `select details from audit where action = 'signals.erased' and organisation_id = ${tenant.organisation.id} order by id`,
    )
    assert.deepEqual(
      audited.map(({ details }) => details),
      ['{"erased":4}', '{"erased":0}'],
    )
    // The subject is free again, and counts as a new vote.
    assert.equal((await vote(tenant, second.publicId, { subject: 'x' })).statusCode, 201)
  })

  test('an erasure by voter finds more signals than one batch holds', async () => {
    const tenant = await service.tenant('business', 'admin')
    const voter = await service.voters.hash(tenant.organisation.id, 'many')
    const none = { version: null, subject: null, comment: null, occurredAt: null, traceId: null }
    const signals = Array.from({ length: 2_300 }, (_, i) =>
      newSignal(tenant.prompt, null, { createdAt: service.now - i, details: { ...none, voter } }),
    )
    await service.store.signals.import(inBatches(signals, [newSignal(tenant.prompt, '{"stays":1}')]))
    assert.equal(await matching(tenant, '{"voter":"many"}'), 2_300)
    assert.deepEqual((await erase(tenant, '{"voter":"many"}')).json(), { data: { erased: 2_300 } })
    assert.equal((await stored(tenant.prompt)).length, 1)
    await assertSumsAgree(service.url)
  })

  test('an erasure by subject removes the votes on it in all prompts, withdrawn ones included', async () => {
    const tenant = await service.tenant('free', 'admin')
    const second = await service.prompt(tenant.organisation, 'prompts/b.md')
    const vote = async (promptId: string, body: object) =>
      (
        await service.app.inject({
          method: 'POST',
          url: `/api/v1/prompts/${promptId}/signals`,
          headers: tenant.headers,
          payload: body,
        })
      ).statusCode
    const { publicId } = tenant.prompt
    assert.equal(await vote(publicId, { value: 'positive', subject: 'x' }), 201)
    assert.equal(await vote(publicId, { value: 'positive', subject: 'y' }), 201)
    assert.equal(await vote(second.publicId, { value: 'negative', subject: 'x' }), 201)
    assert.equal(await vote(second.publicId, { value: null, subject: 'x' }), 200)
    assert.equal(await matching(tenant, '{"subject":"x"}'), 2)
    assert.deepEqual((await erase(tenant, '{"subject":"x"}')).json(), { data: { erased: 2 } })
    const subjects = `select subject from signal_subjects where organisation_id = ${tenant.organisation.id}`
    assert.deepEqual(
      (await queryRows(service.url, subjects)).map(({ subject }) => subject),
      ['y'],
    )
    assert.equal((await stored(tenant.prompt)).length, 1)
    assert.equal(await tenant.used(), 3)
    await assertSumsAgree(service.url)
  })
})
