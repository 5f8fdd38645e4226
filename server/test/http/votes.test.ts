import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertError } from '../../../testing/assertions.ts'
import { onEachEngine } from '../../../testing/engines.ts'
import { allRows, queryRows } from '../../../testing/rows.ts'
import { type Tenant, useService } from '../../../testing/service.ts'
import { DomainError } from '../../src/domain/errors.ts'
import { createVoters } from '../../src/domain/signals/voter.ts'
import { day, isoTime, minute } from '../../src/domain/time.ts'

onEachEngine('A signal with details', (engine) => {
  const service = useService(engine)

  async function stored({ prompt }: Tenant) {
    const filter = { value: null, since: null, until: null }
    return (await Array.fromAsync(service.store.signals.stream(prompt, filter))).flat()
  }

  test('everything that was sent is stored, and the response has the same three fields', async () => {
    const tenant = await service.tenant()
    const occurredAt = service.now - 3 * day
    const response = await tenant.signal(
      {
        value: 'negative',
        version: 'ABCDEF1234',
        subject: 'answer-1 😀',
        voter: 'mia@example.com',
        comment: 'Too long.\nReally.',
        occurred_at: isoTime(occurredAt),
        metadata: { a: 1 },
        unknown: 'ignored',
      },
      { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' },
    )
    assert.equal(response.statusCode, 201)
    const { data } = response.json()
    assert.deepEqual(Object.keys(data), ['id', 'value', 'created_at'])
    assert.equal(data.created_at, isoTime(service.now))
    const [signal] = await stored(tenant)
    assert.match(signal?.voter ?? '', /^[\w-]{43}$/)
    assert.deepEqual(
      { ...signal, voter: null },
      {
        id: data.id,
        value: 'negative',
        metadata: '{"a":1}',
        createdAt: service.now,
        occurredAt,
        version: 'abcdef1234',
        subject: 'answer-1 😀',
        voter: null,
        comment: 'Too long.\nReally.',
        traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
      },
    )
    assert.equal(response.headers['ratelimit-remaining'], '999')
  })

  test('fields that are null or empty count as not sent', async () => {
    const tenant = await service.tenant()
    const nothing = { version: null, subject: null, voter: null, comment: '', occurred_at: null, metadata: null }
    assert.equal((await tenant.signal({ value: 'positive', ...nothing })).statusCode, 201)
    const [row] = await queryRows(
      service.url,
      `select version, subject, voter, comment, received_at, trace_id from signals where organisation_id = ${tenant.organisation.id}`,
    )
    assert.deepEqual(Object.values(row ?? {}), Array(6).fill(null))
  })

  const longest = '😀'.repeat(255)
  const accepted: Record<string, unknown[]> = {
    version: ['abcdef1', 'A'.repeat(40), 1, Number.MAX_SAFE_INTEGER],
    subject: ['x', longest, ' ', "';--", '__proto__', '\u202e'],
    voter: ['x', longest],
    comment: ['x', '😀'.repeat(2_000), 'tab\tand\nline'],
    occurred_at: ['now', -30 * day, 59_000].map((at) => (at === 'now' ? 0 : at)),
  }
  const rejected: Record<string, unknown[]> = {
    version: ['abcdef', 'a'.repeat(41), 'latest', '123', '', 0, -1, 1.5, 2 ** 53, true, {}, []],
    subject: ['', `${longest}x`, 'a\0b', 'a\nb', '\ud83d', 1, {}, []],
    voter: ['', `${longest}x`, 'a\0b', '\udc00', 1],
    comment: ['x'.repeat(2_001), 'a\0b', '\ud83d', 1],
    occurred_at: [-30 * day - 1, 61_000, 'yesterday', '2026-11-15', '2026-02-30T00:00:00Z', 1],
  }
  const sentAs = (field: string, value: unknown) =>
    field === 'occurred_at' && typeof value === 'number' && value !== 1 ? isoTime(service.now + value) : value

  for (const field of Object.keys(accepted)) {
    test(`${field} is validated`, async () => {
      const tenant = await service.tenant()
      for (const value of accepted[field] as unknown[]) {
        const response = await tenant.signal({ value: 'positive', [field]: sentAs(field, value) })
        assert.ok(response.statusCode <= 201, `${field} ${JSON.stringify(value)}: ${response.body}`)
      }
      const used = await tenant.used()
      for (const value of rejected[field] as unknown[]) {
        const response = await tenant.signal({ value: 'positive', [field]: sentAs(field, value) })
        assertError(response, 422, 'validation_error')
        assert.match(response.json().error.message, new RegExp(`^${field} `), `${JSON.stringify(value)}`)
      }
      assert.equal(await tenant.used(), used)
    })
  }

  test('a time slightly ahead of the clock counts as now', async () => {
    const tenant = await service.tenant()
    await tenant.signal({ value: 'positive', occurred_at: isoTime(service.now + minute) })
    assert.equal((await stored(tenant))[0]?.occurredAt, service.now)
  })

  test('a malformed traceparent is ignored', async () => {
    const tenant = await service.tenant()
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
    const parent = '00f067aa0ba902b7'
    const kept = [`00-${trace}-${parent}-01`, `01-${trace}-${parent}-01-more`]
    const ignored = [
      '',
      'x',
      `ff-${trace}-${parent}-01`,
      `00-${trace}-${parent}-01-more`,
      `00-${'0'.repeat(32)}-${parent}-01`,
      `00-${trace}-${'0'.repeat(16)}-01`,
      `00-${trace.toUpperCase()}-${parent}-01`,
    ]
    for (const traceparent of [...kept, ...ignored]) {
      assert.equal((await tenant.signal({ value: 'positive' }, { traceparent })).statusCode, 201)
    }
    const ids = (await stored(tenant)).map(({ traceId }) => traceId)
    assert.deepEqual(ids, [trace, trace, ...ignored.map(() => null)])
  })

  test('the version in metadata counts if the field is missing, as a commit or a label of its own', async () => {
    const tenant = await service.tenant()
    const send = (version: unknown, own?: string) =>
      tenant.signal({ value: 'positive', metadata: { 'gen_ai.prompt.version': version }, ...(own && { version: own }) })
    const expected: [unknown, string | null][] = [
      ['ABCDEF12', 'abcdef12'],
      ['v2', ':v2'],
      ['#7', ':#7'],
      [7, ':7'],
      ['', null],
      ['x'.repeat(256), null],
      ['a\nb', null],
      ['\ud83d', null],
      [1.5, null],
      [true, null],
      [{ v: 1 }, null],
      [null, null],
    ]
    for (const [version] of expected) assert.equal((await send(version)).statusCode, 201)
    await send('v2', 'abcdef1')
    assert.deepEqual(
      (await stored(tenant)).map(({ version }) => version),
      [...expected.map(([, stored]) => stored), 'abcdef1'],
    )
    const versions = await service.store.signals.versionsOf(tenant.prompt)
    assert.deepEqual(
      versions.map(({ version, positive }) => [version, positive]).sort(),
      [':#7', ':7', ':v2', 'abcdef1', 'abcdef12'].map((version) => [version, 1]),
    )
  })

  test('a changed vote gets 200 with the same id, and a withdrawn one the value null', async () => {
    const tenant = await service.tenant()
    const first = (await tenant.signal({ value: 'positive', subject: 's' })).json().data
    service.now += 1_000
    const second = await tenant.signal({ value: 'negative', subject: 's' })
    assert.equal(second.statusCode, 200)
    assert.deepEqual(second.json(), { data: { ...first, value: 'negative' } })
    assert.equal(second.headers['ratelimit-remaining'], '999')
    const withdrawn = await tenant.signal({ value: null, subject: 's' })
    assert.equal(withdrawn.statusCode, 200)
    assert.deepEqual(withdrawn.json(), { data: { ...first, value: null } })
    const unknown = await tenant.signal({ value: null, subject: 'other' })
    assertError(unknown, 404, 'not_found')
    assert.match(unknown.json().error.message, /no vote on this subject/)
    for (const body of [{ value: null }, { value: null, voter: 'v' }, { value: null, subject: null }]) {
      assertError(await tenant.signal(body), 422, 'validation_error')
    }
  })

  test('a repeated request with an idempotency key gets the status of the first one', async () => {
    const tenant = await service.tenant()
    const send = (value: string | null, key: string) =>
      tenant.signal({ value, subject: 's', voter: 'v' }, { 'idempotency-key': key })
    const all = [await send('positive', '1'), await send('negative', '2'), await send(null, '3')]
    const again = [await send('positive', '1'), await send('negative', '2'), await send(null, '3')]
    assert.deepEqual(
      all.map(({ statusCode, body }) => [statusCode, body]),
      again.map(({ statusCode, body }) => [statusCode, body]),
    )
    assert.deepEqual(
      all.map(({ statusCode }) => statusCode),
      [201, 200, 200],
    )
    assertError(await send('negative', '1'), 422, 'validation_error')
  })

  test('at the limit a vote can change, and a new one is rejected', async () => {
    const tenant = await service.tenant()
    await tenant.fillMonth(999)
    assert.equal((await tenant.signal({ value: 'positive', subject: 's' })).statusCode, 201)
    assertError(await tenant.signal({ value: 'positive', subject: 'other' }), 429, 'rate_limited')
    assert.equal((await tenant.signal({ value: 'negative', subject: 's' })).statusCode, 200)
    assert.equal((await tenant.signal({ value: null, subject: 's' })).statusCode, 200)
    assert.equal((await tenant.signal({ value: 'positive', subject: 's' })).statusCode, 200)
  })

  test('the same voter has one hash within an organisation and another elsewhere, and never appears in clear', async () => {
    const [one, other] = [await service.tenant(), await service.tenant()]
    const voter = 'mia.unmistakable@example.com'
    for (const [tenant, subject] of [
      [one, 'a'],
      [one, 'b'],
      [other, 'a'],
    ] as const) {
      await tenant.signal({ value: 'positive', subject, voter }, { 'idempotency-key': `key-${subject}` })
    }
    await one.signal({ value: 'positive', subject: 'a\0', voter })
    const [first, second] = (await stored(one)).map((signal) => signal.voter)
    assert.equal(first, second)
    assert.notEqual(first, (await stored(other))[0]?.voter)
    assert.doesNotMatch(JSON.stringify(await allRows(service.url)), /unmistakable/)
    assert.doesNotMatch(service.log.join(''), /unmistakable/)
  })

  test('processes that see the first voter of an organisation at once agree on its key', async () => {
    const { organisation } = await service.tenant()
    const processes = Array.from({ length: 5 }, () =>
      createVoters(service.store.organisations, service.syncContext.vault),
    )
    const hashes = await Promise.all(processes.map((voters) => voters.hash(organisation.id, 'v')))
    assert.equal(new Set(hashes).size, 1)
  })

  test('a service without a secret key rejects a voter and says what to set', async () => {
    const missing = (): never => {
      throw new DomainError('conflict', 'no key')
    }
    const vault = { encrypt: missing, decrypt: missing, isCurrent: missing, hasKeyOf: missing }
    const { organisation } = await service.tenant()
    await assert.rejects(createVoters(service.store.organisations, vault).hash(organisation.id, 'v'), {
      code: 'validation_error',
      message: /^voter .*PROMPTLEDGER_SECRET_KEY/,
    })
  })
})
