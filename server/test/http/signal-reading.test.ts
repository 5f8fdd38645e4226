import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { onEachEngine } from '../../../testing/engines.ts'
import { queryRows } from '../../../testing/rows.ts'
import { type Tenant, useService } from '../../../testing/service.ts'
import { inBatches } from '../../../testing/signals.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { intervalLength, intervalStart, intervals } from '../../src/domain/signals/interval.ts'
import type { NewSignal, SignalValue } from '../../src/domain/signals/signal.ts'
import { csvLine } from '../../src/http/export-stream.ts'

const hour = 3_600_000
const day = 24 * hour

interface SignalBody {
  id: number
  value: SignalValue
  metadata: unknown
  created_at: string
}

onEachEngine('Reading signals', (engine) => {
  const service = useService(engine)

  async function importSignals(
    tenant: Tenant,
    signals: { at: number; value: SignalValue; metadata?: string }[],
  ): Promise<void> {
    const stored = signals.map(
      ({ at, value, metadata = null }): NewSignal => ({
        organisationId: tenant.organisation.id,
        promptId: tenant.prompt.id,
        value,
        metadata,
        createdAt: at,
      }),
    )
    await service.store.signals.import(inBatches(stored))
  }

  async function get(tenant: Tenant, path: string) {
    return service.app.inject({ url: `${tenant.path}${path}`, headers: tenant.headers })
  }

  async function exportSignals(tenant: Tenant, query = ''): Promise<SignalBody[]> {
    const { body } = await get(tenant, `/signals/export${query}`)
    return body
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  }

  const someSignals = fc.array(
    fc.record({
      // A few hours, so that many signals share one, and some exactly on the boundary.
      at: fc
        .tuple(fc.integer({ min: 0, max: 6 }), fc.constantFrom(0, 1, 1_000, hour / 2, hour - 1))
        .map(([hours, rest]) => service.now - 10 * hour - (service.now % hour) + hours * hour + rest),
      value: fc.constantFrom<SignalValue>('positive', 'negative'),
    }),
    { maxLength: 60 },
  )

  test('signals are listed newest first with metadata exactly as sent', async () => {
    const tenant = await service.tenant()
    const metadata = '{"__proto__":{"a":1},"big":12345678901234567890,"text":"=1+1"}'
    await tenant.signal(`{"value":"negative","metadata":${metadata}}`)
    service.now += 1
    await tenant.signal({ value: 'positive' })
    const response = await get(tenant, '/signals')
    assert.equal(response.statusCode, 200)
    assert.ok(response.body.includes(`"metadata":${metadata}`))
    const { data, pagination } = response.json()
    assert.deepEqual(
      data.map(({ value }: SignalBody) => value),
      ['positive', 'negative'],
    )
    const { id, value, metadata: _, created_at, ...details } = data[0]
    assert.equal(id, Math.max(...data.map(({ id }: SignalBody) => id)))
    assert.deepEqual(details, {
      version: null,
      subject: null,
      voter: null,
      comment: null,
      occurred_at: created_at,
      trace_id: null,
    })
    assert.deepEqual(pagination, { current_page: 1, total_pages: 1, total_count: 2, per_page: 25 })
  })

  test('lists, filters and exports return exactly the stored signals', async () => {
    const bound = fc.option(
      fc
        .integer({ min: -1, max: 8 * 4 })
        .map((quarters) => service.now - 10 * hour - (service.now % hour) + (quarters * hour) / 4),
      { nil: null },
    )
    const filter = fc.record({
      value: fc.constantFrom<SignalValue | null>(null, 'positive', 'negative'),
      since: bound,
      until: bound,
    })
    await fc.assert(
      fc.asyncProperty(
        someSignals,
        filter,
        fc.integer({ min: 1, max: 20 }),
        async (signals, { value, since, until }, limit) => {
          fc.pre(since === null || until === null || until > since)
          const tenant = await service.tenant()
          await importSignals(tenant, signals)
          const all = await exportSignals(tenant)
          assert.equal(all.length, signals.length)
          const expected = all
            .filter((signal) => value === null || signal.value === value)
            .filter(({ created_at }) => since === null || Date.parse(created_at) >= since)
            .filter(({ created_at }) => until === null || Date.parse(created_at) < until)
          const parts = [
            value && `value=${value}`,
            since !== null && `since=${new Date(since).toISOString()}`,
            until !== null && `until=${new Date(until).toISOString()}`,
          ].filter(Boolean)
          assert.deepEqual(await exportSignals(tenant, `?${parts.join('&')}`), expected)
          const seen: SignalBody[] = []
          for (let page = 1; page <= Math.ceil(expected.length / limit) + 1; page++) {
            const { data, pagination } = (
              await get(tenant, `/signals?${[...parts, `page=${page}`, `limit=${limit}`].join('&')}`)
            ).json()
            assert.equal(pagination.total_count, expected.length)
            seen.push(...data)
          }
          assert.deepEqual(seen, expected.toReversed())
        },
      ),
      { numRuns: 25 },
    )
  })

  test('a summary has every interval that overlaps the range, and matches the stored signals', async () => {
    await fc.assert(
      fc.asyncProperty(someSignals, fc.constantFrom(...intervals), async (signals, interval) => {
        const tenant = await service.tenant()
        await importSignals(tenant, signals)
        const [from, to] = [service.now - 2 * day, service.now]
        const query = `from=${new Date(from).toISOString()}&to=${new Date(to).toISOString()}&interval=${interval}`
        const { data, total } = (await get(tenant, `/signals/summary?${query}`)).json()
        const count = (start: number, value: SignalValue) =>
          signals.filter((signal) => signal.value === value && intervalStart(interval, signal.at) === start).length
        const expected = []
        for (let start = intervalStart(interval, from); start < to; start += intervalLength(interval)) {
          const at = new Date(start).toISOString()
          expected.push({ start: at, positive: count(start, 'positive'), negative: count(start, 'negative') })
        }
        assert.deepEqual(data, expected)
        assert.equal(total.positive + total.negative, signals.length)
      }),
      { numRuns: 20 },
    )
  })

  test('weeks start on Monday and days at midnight, UTC', async () => {
    const tenant = await service.tenant()
    const query = 'from=2026-11-12T15:00:00Z&to=2026-11-17T00:00:00Z'
    const starts = async (interval: string) =>
      (await get(tenant, `/signals/summary?${query}&interval=${interval}`))
        .json()
        .data.map(({ start }: { start: string }) => start)
    assert.deepEqual(await starts('week'), ['2026-11-09T00:00:00.000Z', '2026-11-16T00:00:00.000Z'])
    assert.equal((await starts('day'))[0], '2026-11-12T00:00:00.000Z')
    assert.equal((await starts('day')).length, 5)
    assert.equal((await starts('hour')).length, 4 * 24 + 9)
  })

  test('signals of any span are counted to the millisecond', async () => {
    await fc.assert(
      fc.asyncProperty(
        someSignals,
        fc.array(fc.integer({ min: 0, max: 9 * hour }), { minLength: 2, maxLength: 8 }),
        async (signals, offsets) => {
          const tenant = await service.tenant()
          await importSignals(tenant, signals)
          const base = service.now - 11 * hour
          const bounds = offsets.map((offset) => base + offset).sort((a, b) => a - b)
          const spans = bounds.slice(1).map((until, i) => ({ from: bounds[i] as number, until }))
          const expected = spans.map(({ from, until }) => {
            const inside = signals.filter(({ at }) => at >= from && at < until)
            const positive = inside.filter(({ value }) => value === 'positive').length
            return { positive, negative: inside.length - positive }
          })
          assert.deepEqual(
            await service.store.signals.tallies(
              tenant.prompt.organisationId,
              spans.map((span) => ({ promptId: tenant.prompt.id, ...span })),
            ),
            expected,
          )
        },
      ),
      { numRuns: 25 },
    )
  })

  test('a deleted signal leaves all statistics and still counts towards the monthly limit', async () => {
    const tenant = await service.tenant()
    const { data: remaining } = (await tenant.signal({ value: 'positive' })).json()
    const { data: deleted } = (await tenant.signal({ value: 'negative' })).json()
    const remove = (id: unknown) =>
      service.app.inject({ method: 'DELETE', url: `${tenant.path}/signals/${id}`, headers: tenant.headers })
    // Of several concurrent requests, one succeeds.
    const statuses = (await Promise.all([1, 2, 3].map(() => remove(deleted.id)))).map(({ statusCode }) => statusCode)
    assert.deepEqual(statuses.sort(), [204, 404, 404])
    assert.deepEqual(
      (await exportSignals(tenant)).map(({ id }) => id),
      [remaining.id],
    )
    const { total } = (await get(tenant, '/signals/summary')).json()
    assert.deepEqual(total, { positive: 1, negative: 0 })
    assert.equal(await tenant.used(), 2)
    for (const id of [deleted.id, 'x', '0', '99999999']) assert.equal((await remove(id)).statusCode, 404)
    const other = await service.tenant()
    const foreign = await service.app.inject({
      method: 'DELETE',
      url: `${other.path}/signals/${remaining.id}`,
      headers: other.headers,
    })
    assert.equal(foreign.statusCode, 404)
  })

  test('sums match the stored signals after any mix of recording, importing and deleting', async () => {
    await fc.assert(
      fc.asyncProperty(someSignals, fc.array(fc.nat(), { maxLength: 20 }), async (signals, deletions) => {
        const tenant = await service.tenant()
        await importSignals(tenant, signals)
        for (let i = 0; i < 3; i++) await tenant.signal({ value: i % 2 === 0 ? 'positive' : 'negative' })
        const ids = (await exportSignals(tenant)).map(({ id }) => id)
        for (const index of deletions)
          await service.store.signals.delete(tenant.prompt, ids[index % ids.length] as number, service.now, operator)
        const [hours] = await queryRows(
          service.url,
          `select coalesce(sum(positive), 0) as positive, coalesce(sum(negative), 0) as negative from hour_sums
           where prompt_id = ${tenant.prompt.id}`,
        )
        const rows = await exportSignals(tenant)
        const positive = rows.filter(({ value }) => value === 'positive').length
        assert.deepEqual([Number(hours?.positive), Number(hours?.negative)], [positive, rows.length - positive])
      }),
      { numRuns: 15 },
    )
  })

  test('no cell of a CSV export is run as a formula by a spreadsheet', async () => {
    const tenant = await service.tenant()
    await importSignals(tenant, [{ at: service.now, value: 'negative', metadata: '{"a":"say \\"hi\\", =1+1\\n"}' }])
    const response = await get(tenant, '/signals/export?format=csv')
    assert.match(response.headers['content-type'] as string, /^text\/csv/)
    assert.match(response.headers['content-disposition'] as string, /^attachment; filename="pmt_\w+-signals\.csv"$/)
    const [head, line] = response.body.split('\r\n')
    assert.equal(head, 'id,value,created_at,metadata,version,subject,voter,comment,occurred_at,trace_id')
    assert.match(line as string, /^\d+,negative,2026-[^,]+,"\{""a"":""say \\""hi\\"", =1\+1\\n""\}",,,,,2026-[^,]+,$/)
    const cells = ['=1', '+1', '-1', '@x', '\tx', 'a"b', 'plain']
    assert.equal(csvLine(cells), `'=1,'+1,'-1,'@x,'\tx,"a""b",plain\r\n`)
  })

  test('an invalid query parameter of a signal list, export or summary is rejected by name', async () => {
    const tenant = await service.tenant()
    const invalid = {
      '/signals?value=good': 'value',
      '/signals?since=yesterday': 'since',
      '/signals?since=2026-11-02T00:00:00Z&until=2026-11-01T00:00:00Z': 'until',
      '/signals/export?format=xml': 'format',
      '/signals/export?until=2026-13-01T00:00:00Z': 'until',
      '/signals/summary?interval=year': 'interval',
      '/signals/summary?from=2026-11-02T00:00:00Z&to=2026-11-02T00:00:00Z': 'to',
      '/signals/summary?from=1990-01-01T00:00:00Z&to=2026-11-02T00:00:00Z&interval=hour': 'The time range',
      '/signals/summary?to=1': 'to',
    }
    for (const [path, name] of Object.entries(invalid)) {
      const response = await get(tenant, path)
      assert.equal(response.statusCode, 422, path)
      assert.match(response.json().error.message, new RegExp(`^${name} `), path)
    }
  })

  test('only standard and admin keys of the organisation can read signals', async () => {
    const [tenant, other] = [await service.tenant(), await service.tenant()]
    const ingest = await service.key(tenant.organisation, 'ingest')
    for (const path of ['/signals', '/signals/export', '/signals/summary', '/impact']) {
      const url = `${tenant.path}${path}`
      const statuses = [ingest, other.key, 'plk_wrong'].map(
        async (key) => (await service.app.inject({ url, headers: { authorization: `Bearer ${key}` } })).statusCode,
      )
      assert.deepEqual(await Promise.all(statuses), [403, 404, 401], path)
    }
  })
})
