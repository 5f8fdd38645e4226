import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { signalPageSchema } from '../../../contract/signals.ts'
import { assertError, assertMatchesSchema } from '../../../testing/assertions.ts'
import { postDeployment } from '../../../testing/deployments.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { type Tenant, useService } from '../../../testing/service.ts'
import { inBatches, noDetails, signalFor } from '../../../testing/signals.ts'
import { removeOldSignals } from '../../src/domain/signals/retention.ts'
import type { SignalDetails, SignalValue } from '../../src/domain/signals/signal.ts'
import { day, hour, isoTime, minute } from '../../src/domain/time.ts'

const sides = ['before', 'after'] as const
const start = Date.parse('2026-10-28T00:00:00.000Z')
const shas = ['a1', 'b2', 'c3', 'd4'].map((part) => part.repeat(20))

interface SignalBody {
  id: number
  value: SignalValue
  version: string | number | null
  comment: string | null
  occurred_at: string
}

interface PageBody {
  data: SignalBody[]
  pagination: { total_count: number | null; total_pages: number | null }
  search?: { cursor: string | null; examined: number }
  change?: { entry_id: number; side: string; counted: number; removed: number }
}

interface EffectBody {
  entry: { id: number }
  before: { positive: number; negative: number }
  after: { positive: number; negative: number }
}

onOneEngine('The signals of a change', (engine) => {
  const service = useService(engine)

  const get = (tenant: Tenant, path: string) =>
    service.app.inject({ url: `${tenant.path}${path}`, headers: tenant.headers })

  async function page(tenant: Tenant, query: string): Promise<PageBody> {
    const response = await get(tenant, `/signals?${query}`)
    assert.equal(response.statusCode, 200, response.body)
    assertMatchesSchema(signalPageSchema, response)
    return response.json()
  }

  async function impact(tenant: Tenant): Promise<EffectBody[]> {
    const response = await get(tenant, '/impact?limit=100')
    assert.equal(response.statusCode, 200, response.body)
    return response.json().data
  }

  async function allPages(tenant: Tenant, query: string, limit: number): Promise<SignalBody[]> {
    const found: SignalBody[] = []
    for (let number = 1; ; number++) {
      const { data, pagination } = await page(tenant, `${query}&limit=${limit}&page=${number}`)
      found.push(...data)
      if (number >= (pagination.total_pages as number)) return found
    }
  }

  async function search(tenant: Tenant, query: string): Promise<SignalBody[]> {
    const found: SignalBody[] = []
    for (let cursor = ''; ; ) {
      const { data, search } = await page(tenant, `${query}${cursor}`)
      found.push(...data)
      assert.ok(search)
      if (search.cursor === null) return found
      cursor = `&cursor=${search.cursor}`
    }
  }

  async function exported(tenant: Tenant, query: string): Promise<SignalBody[]> {
    const response = await get(tenant, `/signals/export?${query}`)
    assert.equal(response.statusCode, 200, response.body)
    return response.body
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  }

  type Sent = Partial<SignalDetails> & { at: number; value?: SignalValue }

  async function store(tenant: Tenant, sent: Sent[]): Promise<void> {
    const signals = sent.map(({ at, value = 'positive', ...details }) =>
      signalFor(tenant, { value, createdAt: at, details: { ...noDetails, ...details } }),
    )
    await service.store.signals.import(inBatches(signals))
  }

  async function deploy(tenant: Tenant, sha: string, at: number, share = 1): Promise<void> {
    const path = `/prompts/${tenant.prompt.publicId}`
    const response = await postDeployment(service, tenant, path, { commit_sha: sha, at: isoTime(at), share })
    assert.equal(response.statusCode, 201, response.body)
  }

  /** Records a change of each commit at these times. Returns the IDs of the entries. */
  async function changesAt(tenant: Tenant, times: number[]): Promise<number[]> {
    const ids: number[] = []
    for (const [i, createdAt] of times.entries()) {
      ids.push((await tenant.recordEntry({ commitSha: shas[i] as string, createdAt })).id)
    }
    return ids
  }

  const ids = (signals: SignalBody[]) => signals.map(({ id }) => id)
  const newestFirst = (a: SignalBody, b: SignalBody) =>
    Date.parse(b.occurred_at) - Date.parse(a.occurred_at) || b.id - a.id

  test('the list, its totals and the export are what the impact counts, in any history of versions, canaries and rollbacks', async () => {
    // Whole hours, their ends, and times in between. Few hours, so that most changes come in the middle of an hour with signals,
    // some of them days apart and on both sides of the end of a month, which are two partitions on PostgreSQL.
    const moment = fc
      .tuple(fc.constantFrom(0, 1, 2, 3, 50, 51, 95, 96, 97), fc.constantFrom(0, 1, 20 * minute, hour - 1))
      .map(([hours, rest]) => start + hours * hour + rest)
    const history = fc.record({
      changes: fc.uniqueArray(moment, { minLength: 1, maxLength: 4, size: 'max' }),
      deployments: fc.array(fc.record({ at: moment, commit: fc.nat(3), share: fc.constantFrom(1, 1, 0.9, 0.5, 0.1) }), {
        maxLength: 6,
      }),
      signals: fc.array(
        fc.record({
          at: moment,
          value: fc.constantFrom<SignalValue>('positive', 'negative'),
          commit: fc.nat(3),
          name: fc.constantFrom('none', 'none', 'entry', 'full', 'short', 'unknown'),
          comment: fc.constantFrom(null, 'Too long', 'Good'),
        }),
        // Without the size, most lists have fewer than ten.
        { maxLength: 60, size: 'max' },
      ),
      limit: fc.integer({ min: 1, max: 12 }),
    })
    await fc.assert(
      fc.asyncProperty(history, async ({ changes, deployments, signals, limit }) => {
        const tenant = await service.tenant('business', 'admin')
        const entries = await changesAt(tenant, changes)
        for (const { at, commit, share } of deployments) {
          await deploy(tenant, shas[commit % entries.length] as string, at, share)
        }
        await store(
          tenant,
          signals.map(({ name, commit, ...signal }) => {
            const sha = shas[commit % entries.length] as string
            const names = { entry: `#${entries[commit % entries.length]}`, full: sha, short: sha.slice(0, 9) }
            return { ...signal, version: name === 'none' ? null : name === 'unknown' ? 'eeeeeee' : names[name] }
          }),
        )
        const claimed = new Map<number, number>()
        for (const effect of await impact(tenant)) {
          for (const side of sides) {
            const query = `change=${effect.entry.id}&side=${side}`
            const listed = await allPages(tenant, query, limit)
            const { positive, negative } = effect[side]
            const { pagination, change } = await page(tenant, query)
            assert.equal(pagination.total_count, positive + negative)
            assert.deepEqual(change, { entry_id: effect.entry.id, side, counted: positive + negative, removed: 0 })
            assert.equal(new Set(ids(listed)).size, positive + negative)
            assert.deepEqual(ids(listed), ids(listed.toSorted(newestFirst)))
            for (const value of ['positive', 'negative'] as const) {
              const ofValue = await allPages(tenant, `${query}&value=${value}`, limit)
              assert.equal(ofValue.length, effect[side][value])
              assert.deepEqual(ids(ofValue), ids(listed.filter((signal) => signal.value === value)))
            }
            const complaints = listed.filter(({ comment, value }) => comment === 'Too long' && value === 'negative')
            const found = await search(tenant, `${query}&q=LONG&comment=any&value=negative&limit=${limit}`)
            assert.deepEqual(ids(found), ids(complaints))
            const lines = await exported(tenant, query)
            assert.deepEqual(ids(lines), ids(listed.toReversed()))
            if (side === 'after') for (const { id } of listed) claimed.set(id, (claimed.get(id) ?? 0) + 1)
          }
        }
        // No signal counts for two changes.
        assert.deepEqual(
          [...claimed.values()].filter((times) => times > 1),
          [],
        )
      }),
      { numRuns: 25 },
    )
  })

  test('during a canary, signals with its version are listed for it, and those without one for the larger share', async () => {
    const tenant = await service.tenant('business', 'admin')
    const [one, two] = await changesAt(tenant, [start, start + day])
    await deploy(tenant, shas[0] as string, start)
    await deploy(tenant, shas[1] as string, start + 2 * day, 0.1)
    await store(tenant, [
      { at: start + day, comment: 'before the canary' },
      { at: start + 3 * day, version: shas[1] as string, comment: 'of the canary' },
      { at: start + 3 * day, comment: 'of someone' },
      { at: start + 3 * day, version: `#${one}`, comment: 'of the old version' },
    ])
    const comments = async (side: string) =>
      (await page(tenant, `change=${two}&side=${side}`)).data.map(({ comment }) => comment).toSorted()
    assert.deepEqual(await comments('after'), ['of the canary'])
    assert.deepEqual(await comments('before'), ['before the canary', 'of someone', 'of the old version'])
    assert.equal((await page(tenant, `change=${one}&side=before`)).pagination.total_count, 0)
  })

  test('other filters combine with a change, and a search says that it does not know the total', async () => {
    const tenant = await service.tenant()
    const [, two] = await changesAt(tenant, [start, start + day])
    const at = (hours: number) => start + hours * hour
    await store(tenant, [
      { at: at(1), comment: 'slow' },
      { at: at(30), comment: 'slow', value: 'negative' },
      { at: at(40), comment: 'Slow again', value: 'negative' },
      { at: at(50), value: 'negative' },
    ])
    const of = async (query: string) =>
      (await page(tenant, `change=${two}&side=after&${query}`)).data.map((s) => s.occurred_at)
    assert.deepEqual(await of('q=slow'), [at(40), at(30)].map(isoTime))
    assert.deepEqual(await of(`since=${isoTime(at(35))}`), [at(50), at(40)].map(isoTime))
    assert.deepEqual(await of(`until=${isoTime(at(40))}&value=negative`), [isoTime(at(30))])
    assert.deepEqual(await of('version=abcdef0'), [])
    const first = await page(tenant, `change=${two}&side=after&comment=any&limit=1`)
    assert.equal(first.pagination.total_count, null)
    assert.equal(first.change?.counted, 3)
    const csv = await get(tenant, `/signals/export?format=csv&change=${two}&side=after&q=again`)
    assert.equal(csv.body.trim().split('\r\n').length, 2)
  })

  test('signals that retention removed still count, and the response says how many cannot be listed', async () => {
    const tenant = await service.tenant('business')
    const [one] = await changesAt(tenant, [service.now - 400 * day])
    await store(tenant, [
      { at: service.now - 300 * day },
      { at: service.now - 299 * day, value: 'negative' },
      { at: service.now - hour },
    ])
    await removeOldSignals(service.store.signals, 90, service.now)
    const [effect] = await impact(tenant)
    assert.deepEqual([effect?.after.positive, effect?.after.negative], [2, 1])
    const { data, pagination, change } = await page(tenant, `change=${one}&side=after`)
    assert.deepEqual([data.length, pagination.total_count], [1, 1])
    assert.deepEqual(change, { entry_id: one, side: 'after', counted: 3, removed: 2 })
  })

  test('a version that was live thousands of times takes about as long to list as one that was live once', async () => {
    const tenant = await service.tenant()
    const at = (i: number) => start + i * 1_000
    const count = 3_000
    const signals = Array.from({ length: count }, (_, i) => signalFor(tenant, { createdAt: at(i), value: 'positive' }))
    await service.store.signals.import(inBatches(signals))
    const span = { from: start, until: at(count) }
    const rest = { versions: [], unversionedOnly: false, until: at(count) }
    async function read(spans: { from: number; until: number }[], skip: number) {
      const cpu = process.cpuUsage()
      const wanted = { value: 'positive', skip, limit: 100 } as const
      const found = await service.store.signals.windowSignals(tenant.prompt, { ...rest, spans }, span, wanted)
      const { user, system } = process.cpuUsage(cpu)
      return { times: found.map(({ occurredAt }) => occurredAt), cpuMs: (user + system) / 1_000 }
    }
    // Every third second, so that two thirds of the signals do not count.
    const often = Array.from({ length: count / 3 }, (_, i) => ({ from: at(3 * i), until: at(3 * i + 1) }))
    const once = await read([span], 0)
    assert.equal(once.times[0], at(count - 1))
    const last = await read(often, 950)
    assert.deepEqual(
      last.times,
      Array.from({ length: 50 }, (_, i) => at(3 * (49 - i))),
    )
    const first = await read(often, 0)
    assert.equal(first.times.length, 100)
    assert.equal(first.times[0], at(count - 3))
    assert.ok(last.cpuMs < 10 * Math.max(once.cpuMs, 20), `${last.cpuMs} ms instead of ${once.cpuMs} ms`)
  })

  test('a page of a change examines only the signals of the hours that it covers', async () => {
    const tenant = await service.tenant('business')
    const [, two] = await changesAt(tenant, [start, start + 10 * day])
    // Every hour has one signal of the change among many of an unknown version.
    const sent: Sent[] = []
    for (let i = 0; i < 60; i++) {
      for (let other = 0; other < 20; other++) sent.push({ at: start + (i + 260) * hour + other, version: 'eeeeeee' })
      sent.push({ at: start + (i + 260) * hour + 7 })
    }
    await store(tenant, sent)
    const { windowSignals } = service.store.signals
    const spans: number[] = []
    service.store.signals.windowSignals = (prompt, window, span, slice) => {
      spans.push((span.until - span.from) / hour)
      return windowSignals(prompt, window, span, slice)
    }
    try {
      const { data, pagination } = await page(tenant, `change=${two}&side=after&limit=10&page=3`)
      assert.deepEqual([data.length, pagination.total_count], [10, 60])
      assert.equal(data[0]?.occurred_at, isoTime(start + (260 + 39) * hour + 7))
      assert.deepEqual(spans, [10])
    } finally {
      service.store.signals.windowSignals = windowSignals
    }
  })

  test('a change that never went live, of another prompt, or without a side is rejected with an explanation', async () => {
    const tenant = await service.tenant()
    const other = await service.tenant()
    const [one] = await changesAt(tenant, [start])
    const opened = await tenant.recordEntry({
      action: 'pr_opened',
      commitSha: shas[1] as string,
      createdAt: start,
      prNumber: 7,
      prUrl: 'https://github.com/acme/prompts/pull/7',
    })
    const [foreign] = await changesAt(other, [start])
    for (const [query, message] of [
      [`change=${opened.id}&side=after`, /change must be the ID of a change of this prompt that went live/],
      [`change=${foreign}&side=after`, /change must be the ID of a change of this prompt that went live/],
      ['change=999999999&side=before', /change must be the ID of a change of this prompt that went live/],
      ['change=1e3&side=before', /change must be the ID of a history entry/],
      [`change=${one}`, /change needs side/],
      ['side=after', /side needs change/],
      [`change=${one}&side=during`, /side must be one of before, after/],
    ] as const) {
      for (const path of ['/signals', '/signals/export']) {
        const response = await get(tenant, `${path}?${query}`)
        assertError(response, 422, 'validation_error')
        assert.match(response.json().error.message, message)
      }
    }
  })
})
