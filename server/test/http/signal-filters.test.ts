import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { signalPageSchema } from '../../../contract/signals.ts'
import { assertError, assertMatchesSchema } from '../../../testing/assertions.ts'
import { onEachEngine } from '../../../testing/engines.ts'
import { queryRows } from '../../../testing/rows.ts'
import { type Tenant, useService } from '../../../testing/service.ts'
import { inBatches, noDetails, signalFor } from '../../../testing/signals.ts'
import type { NewSignal, SignalDetails, SignalValue } from '../../src/domain/signals/signal.ts'

const hour = 3_600_000
const sha = '8f3a1c5'

interface SignalBody {
  id: number
  value: SignalValue
  version: string | number | null
  comment: string | null
  metadata: Record<string, unknown> | null
  occurred_at: string
  created_at: string
}

interface Search {
  complete: boolean
  examined: number
  searched_back_to: string | null
  cursor: string | null
}

onEachEngine('Filters on signals', (engine) => {
  const service = useService(engine)

  type Changes = Partial<SignalDetails> & { value?: SignalValue; metadata?: string | null; createdAt?: number }

  function detailed(
    tenant: Tenant,
    { value = 'positive', metadata = null, createdAt, ...details }: Changes,
  ): NewSignal {
    const at = createdAt ?? service.now
    return signalFor(tenant, { value, metadata, createdAt: at, details: { ...noDetails, ...details } })
  }

  async function store(tenant: Tenant, signals: Changes[]): Promise<void> {
    await service.store.signals.import(inBatches(signals.map((signal) => detailed(tenant, signal))))
  }

  const get = (tenant: Tenant, query: string) =>
    service.app.inject({ url: `${tenant.path}/signals${query}`, headers: tenant.headers })

  async function page(tenant: Tenant, query: string) {
    const response = await get(tenant, query)
    assert.equal(response.statusCode, 200, response.body)
    assertMatchesSchema(signalPageSchema, response)
    return response.json() as {
      data: SignalBody[]
      pagination: { total_count: number | null; total_pages: number | null; current_page: number; per_page: number }
      search?: Search
    }
  }

  /** All matches, however many requests that takes. */
  async function search(tenant: Tenant, query: string): Promise<{ found: SignalBody[]; requests: number }> {
    const found: SignalBody[] = []
    for (let cursor = '', requests = 1; ; requests++) {
      const { data, search } = await page(tenant, `?${query}${cursor}`)
      found.push(...data)
      assert.ok(search)
      if (search.cursor === null) return { found, requests }
      cursor = `&cursor=${search.cursor}`
    }
  }

  test('a signal is listed and exported with everything that was sent with it', async () => {
    const tenant = await service.tenant()
    const occurredAt = service.now - 5 * hour
    await store(tenant, [
      { version: sha, voter: 'f'.repeat(64), comment: '=1+1 "quoted"\nline', occurredAt, traceId: 'ab'.repeat(16) },
      { version: '#7' },
      { version: ':v2' },
      {},
    ])
    const { data } = await page(tenant, '')
    assert.deepEqual(
      data.map(({ version }) => version),
      [null, 'v2', 7, sha],
    )
    const { id, ...first } = data.at(-1) as SignalBody
    assert.deepEqual(first, {
      value: 'positive',
      metadata: null,
      created_at: new Date(service.now).toISOString(),
      version: sha,
      subject: null,
      voter: 'f'.repeat(64),
      comment: '=1+1 "quoted"\nline',
      occurred_at: new Date(occurredAt).toISOString(),
      trace_id: 'ab'.repeat(16),
    })
    const lines = (await get(tenant, '/export')).body.split('\n').filter(Boolean)
    assert.deepEqual(
      lines.map((line) => JSON.parse(line)),
      data.toReversed(),
    )
    const csv = (await get(tenant, '/export?format=csv')).body
    assert.ok(
      csv.startsWith('id,value,created_at,metadata,version,subject,voter,comment,occurred_at,trace_id\r\n'),
      csv,
    )
    assert.ok(csv.includes(`,"'=1+1 ""quoted""\nline",`), csv)
    assert.equal(id, data.at(-1)?.id)
  })

  test('pages of a version have exact totals and contain each of its signals once, with every range and value', async () => {
    // The first two name the same commit.
    const versions = [sha, sha.padEnd(40, '0'), 'aaaaaaa', '#12', null]
    const start = service.now - (service.now % hour) - 6 * hour
    const signals = fc.array(
      fc.record({
        version: fc.constantFrom(...versions),
        value: fc.constantFrom<SignalValue>('positive', 'negative'),
        occurredAt: fc
          .tuple(fc.integer({ min: 0, max: 5 }), fc.constantFrom(0, 1, hour / 2, hour - 1))
          .map(([hours, rest]) => start + hours * hour + rest),
      }),
      { maxLength: 40 },
    )
    const bound = fc.option(fc.integer({ min: 0, max: 12 }).map((half) => start + (half * hour) / 2 + 1))
    await fc.assert(
      fc.asyncProperty(
        signals,
        bound,
        bound,
        fc.option(fc.constantFrom<SignalValue>('positive', 'negative')),
        async (recorded, a, b, value) => {
          const [since, until] = a !== null && b !== null && a > b ? [b, a] : [a, b === a ? null : b]
          const tenant = await service.tenant()
          await store(tenant, recorded)
          for (const version of [sha, '12']) {
            const stored = version === '12' ? ['#12'] : versions.slice(0, 2)
            const expected = recorded.filter(
              (signal) =>
                stored.includes(signal.version) &&
                (value === null || signal.value === value) &&
                (since === null || signal.occurredAt >= since) &&
                (until === null || signal.occurredAt < until),
            ).length
            const query = new URLSearchParams({
              version,
              limit: '3',
              ...(value && { value }),
              ...(since !== null && { since: new Date(since).toISOString() }),
              ...(until !== null && { until: new Date(until).toISOString() }),
            })
            const seen: SignalBody[] = []
            for (let number = 1; number === 1 || seen.length < expected; number++) {
              const { data, pagination } = await page(tenant, `?${query}&page=${number}`)
              assert.equal(pagination.total_count, expected)
              if (expected > 0) assert.ok(data.length > 0, `page ${number} is empty`)
              seen.push(...data)
            }
            assert.equal(new Set(seen.map(({ id }) => id)).size, expected)
            const order = seen.map(({ occurred_at, id }) => [occurred_at, id] as const)
            assert.deepEqual(
              order,
              order.toSorted(([a, i], [b, j]) => (a === b ? j - i : a < b ? 1 : -1)),
            )
            query.delete('limit')
            const exported = (await get(tenant, `/export?${query}`)).body.split('\n').filter(Boolean)
            assert.equal(exported.length, expected)
          }
        },
      ),
      { numRuns: 25 },
    )
  })

  test('commits, entries and labels can be told apart', async () => {
    const tenant = await service.tenant()
    await store(tenant, [{ version: '1234567' }, { version: '#1234567' }, { version: ':5' }, { version: '#5' }])
    const found = async (version: string) =>
      (await page(tenant, `?version=${encodeURIComponent(version)}`)).data.map(({ version }) => version)
    assert.deepEqual(await found('1234567'), ['1234567'])
    assert.deepEqual(await found('#1234567'), [1_234_567])
    assert.deepEqual([await found('5'), await found(':5'), await found('#5')], [[5], ['5'], [5]])
    assert.deepEqual([await found('12345678'), await found('no such')], [[], []])
    assertError(await get(tenant, `?version=${'x'.repeat(300)}`), 422, 'validation_error', /^version must be/)
    assertError(await get(tenant, '?version=a%00b'), 422, 'validation_error', /^version must be/)
  })

  const full = (start: string) => start.padEnd(40, '0')

  test('a commit is found by its full and its abbreviated SHA, however it was recorded', async () => {
    const tenant = await service.tenant()
    const [a, b, c] = [full('8f3a1c5'), full('77777771'), full('77777772')]
    const versions = [a, a.slice(0, 7), a.slice(0, 12), b, c, b.slice(0, 7), b.slice(0, 8), '#8', ':8f3a1c5x']
    await store(
      tenant,
      versions.map((version, i) => ({ version, createdAt: service.now - i * hour, comment: `c${i}` })),
    )
    const found = async (version: string) => {
      const { data, pagination } = await page(tenant, `?version=${version}`)
      assert.equal(pagination.total_count, data.length)
      const exported = (await get(tenant, `/export?version=${version}`)).body.split('\n').filter(Boolean)
      assert.equal(exported.length, data.length)
      const searched = await search(tenant, `version=${version}&q=c`)
      assert.deepEqual(searched.found, data)
      return data.map(({ version }) => version)
    }
    const namesOfA = [a, a.slice(0, 7), a.slice(0, 12)]
    for (const name of [...namesOfA, a.slice(0, 20), a.toUpperCase()]) assert.deepEqual(await found(name), namesOfA)
    // Two commits start with this, so it names neither.
    assert.deepEqual(await found('7777777'), ['7777777'])
    assert.deepEqual(await found(b), [b, b.slice(0, 8)])
    assert.deepEqual(await found(b.slice(0, 8)), [b, b.slice(0, 8)])
    assert.deepEqual(await found(c.slice(0, 8)), [c])
  })

  test('commits of the history make an abbreviation unique or ambiguous', async () => {
    const tenant = await service.tenant()
    const [a, b] = [full('8f3a1c51'), full('8f3a1c52')]
    await store(tenant, [{ version: '8f3a1c5' }, { version: '8f3a1c51' }])
    const found = async (version: string) =>
      (await page(tenant, `?version=${version}`)).data.map(({ version }) => version).sort()
    // Without a known commit, the two may be different ones.
    assert.deepEqual(await found('8f3a1c5'), ['8f3a1c5'])
    await tenant.recordEntry({ commitSha: a })
    assert.deepEqual(await found('8f3a1c5'), ['8f3a1c5', '8f3a1c51'])
    assert.deepEqual(await found(a), ['8f3a1c5', '8f3a1c51'])
    await tenant.recordEntry({ commitSha: b, createdAt: service.now - 1 })
    assert.deepEqual([await found('8f3a1c5'), await found(a)], [['8f3a1c5'], ['8f3a1c51']])
  })

  test('a filter on a version stays exact if very many versions start alike', async () => {
    const tenant = await service.tenant()
    const versions = Array.from({ length: 60 }, (_, i) => full(`8f3a1c5${String(i).padStart(3, '0')}`))
    await store(
      tenant,
      versions.map((version) => ({ version })),
    )
    assert.equal((await page(tenant, `?version=${versions[7]}`)).data.length, 1)
    assert.equal((await page(tenant, '?version=8f3a1c5')).data.length, 0)
  })

  test('filters on comments and metadata find exactly the signals that match, in order', async () => {
    const tenant = await service.tenant()
    const comments = [null, 'Too SLOW', 'cafe\u0301', '', 'slow and wrong 100%']
    const metadata = [
      null,
      '{"model":"small-3","n":5}',
      '{"model":"SMALL-3"}',
      '{"n":"5"}',
      '{"a.b":true,"model":"small-3"}',
    ]
    await store(
      tenant,
      comments.flatMap((comment) => metadata.map((text) => ({ comment, metadata: text, version: sha }))),
    )
    const count = async (query: string) => (await search(tenant, query)).found.length
    assert.deepEqual(
      [
        await count('comment=any'),
        await count('q=slow'),
        await count(`q=${encodeURIComponent('CAF\u00c9')}`),
        await count('q=100%25'),
        await count('q=zzz'),
        await count('metadata.model=small-3'),
        await count('metadata.n=5'),
        await count('metadata.a.b=true'),
        await count('metadata.model=small-3&metadata.n=5'),
        await count('metadata.model=small-3&q=slow'),
        await count(`metadata.model=small-3&q=slow&version=${sha}`),
        await count('metadata.model=small-3&q=slow&value=negative'),
        await count('metadata.missing=1'),
      ],
      [20, 10, 5, 5, 0, 10, 10, 5, 5, 4, 4, 0, 0],
    )
    const { found } = await search(tenant, 'comment=any&limit=3')
    const ids = found.map(({ id }) => id)
    assert.deepEqual(
      ids,
      [...new Set(ids)].toSorted((a, b) => b - a),
    )
    const exported = (await get(tenant, '/export?q=slow&metadata.model=small-3')).body.split('\n').filter(Boolean)
    assert.equal(exported.length, 4)
  })

  test('a number with zeros in front, such as a postal code, is found as a text', async () => {
    const tenant = await service.tenant()
    await store(tenant, [{ metadata: '{"code":"01"}' }, { metadata: '{"code":1}' }])
    for (const [text, expected] of [
      ['01', 1],
      ['-01', 0],
      ['1', 1],
      ['1.0', 1],
    ] as const) {
      assert.equal((await search(tenant, `metadata.code=${text}`)).found.length, expected, text)
    }
  })

  test('a search says how far it got, continues where it stopped, and claims a total only if it knows it', async () => {
    const tenant = await service.tenant()
    const noise = Array.from({ length: 10_500 }, (_, i) => ({
      metadata: `{"user":"u${i}"}`,
      createdAt: service.now - 10_500 + i,
    }))
    await store(tenant, [{ metadata: '{"user":"wanted"}', createdAt: service.now - 20_000 }, ...noise])
    const first = await page(tenant, '?metadata.user=wanted')
    assert.deepEqual([first.data, first.pagination.total_count, first.pagination.total_pages], [[], null, null])
    assert.equal(first.search?.complete, false)
    // Less if the machine is slow: a search has a time limit, too.
    assert.ok((first.search?.examined ?? 0) <= 10_000)
    assert.ok(Date.parse(first.search?.searched_back_to ?? '') >= service.now - 10_500)
    const { found, requests } = await search(tenant, 'metadata.user=wanted')
    assert.deepEqual([found.length, requests > 1], [1, true])
    const recent = new Date(service.now - 100).toISOString()
    const complete = await page(tenant, `?metadata.user=u10499&since=${recent}`)
    assert.deepEqual(
      [complete.data.length, complete.pagination.total_count, complete.search?.complete, complete.search?.cursor],
      [1, 1, true, null],
    )
    const [one, all] = [
      await page(tenant, `?metadata.user=u10499&limit=1`),
      await search(tenant, 'metadata.user=u10499'),
    ]
    assert.deepEqual([one.data.length, one.pagination.total_count, all.found.length], [1, null, 1])
  })

  test('a search on comments examines only signals with a comment', async () => {
    const tenant = await service.tenant()
    await store(
      tenant,
      Array.from({ length: 1_000 }, (_, i) => ({ comment: i % 100 === 0 ? `comment ${i}` : null })),
    )
    const { search, data } = await page(tenant, '?q=comment%20500')
    assert.deepEqual([search?.examined, search?.complete, data.length], [10, true, 1])
    const [table] =
      engine.name === 'SQLite' ? await queryRows(service.url, explain(tenant)) : [{ detail: 'signals_with_comment' }]
    assert.match(String(table?.detail), /signals_with_comment/)
  })

  test('signals that retention is about to remove are not searched', async () => {
    const tenant = await service.tenant()
    await store(tenant, [{ comment: 'old', createdAt: service.now - 40 * 24 * hour }, { comment: 'new' }])
    await queryRows(service.url, `update signal_retention set kept_since = ${service.now - 30 * 24 * hour}`)
    const { found } = await search(tenant, 'comment=any')
    assert.deepEqual(
      found.map(({ comment }) => comment),
      ['new'],
    )
    await queryRows(service.url, 'update signal_retention set kept_since = 0')
  })

  test('an invalid filter gets 422 and says which one', async () => {
    const tenant = await service.tenant()
    const members = Array.from({ length: 17 }, (_, i) => `metadata.m${i}=1`).join('&')
    const invalid: [string, RegExp][] = [
      ['?comment=some', /^comment must be one of any/],
      [`?q=${'x'.repeat(201)}`, /^q must be at most 200/],
      [`?${members}`, /^metadata must have at most 16/],
      ['?comment=any&cursor=nonsense', /^cursor must be/],
      ['?comment=any&cursor=1-2-3', /^cursor must be/],
    ]
    for (const [query, message] of invalid) assertError(await get(tenant, query), 422, 'validation_error', message)
    const nul = await search(tenant, 'metadata.a%00b=c%00d&q=%00')
    assert.deepEqual(nul.found, [])
  })

  function explain({ organisation, prompt }: Tenant): string {
    return `explain query plan select id from signals where organisation_id = ${organisation.id} and prompt_id = ${prompt.id}
      and created_at >= 0 and created_at < 9e15 and created_at <= 9e15 and (created_at, id) < (9e15, 9e15)
      and comment is not null order by created_at desc, id desc limit 200`
  }
})
