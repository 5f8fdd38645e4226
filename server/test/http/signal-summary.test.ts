import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { summarySchema } from '../../../contract/signals.ts'
import { assertError, assertMatchesSchema } from '../../../testing/assertions.ts'
import { postDeployment } from '../../../testing/deployments.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { type Tenant, useService } from '../../../testing/service.ts'
import { inBatches } from '../../../testing/signals.ts'
import { operator } from '../../src/domain/access/audit.ts'
import type { NewSignal } from '../../src/domain/signals/signal.ts'
import { isoTime } from '../../src/domain/time.ts'

const hour = 3_600_000
const day = 24 * hour

interface Step {
  start: string
  end: string
  positive: number
  negative: number
  changes: number
  versions: number
  entry_id: number | null
}

onOneEngine('Summaries split at changes', (engine) => {
  const service = useService(engine)

  async function importSignals(tenant: Tenant, times: number[], value: 'positive' | 'negative' = 'positive') {
    const signals = times.map((createdAt): NewSignal => {
      const { prompt, organisation } = tenant
      return { organisationId: organisation.id, promptId: prompt.id, value, metadata: null, createdAt }
    })
    await service.store.signals.import(inBatches(signals))
  }

  async function summary(tenant: Tenant, from: number, to: number, more = '') {
    const range = `from=${new Date(from).toISOString()}&to=${new Date(to).toISOString()}`
    const url = `${tenant.path}/signals/summary?${range}&split=changes${more}`
    const response = await service.app.inject({ url, headers: tenant.headers })
    assert.equal(response.statusCode, 200, response.body)
    return response.json() as { data: Step[]; interval: string; split: boolean; total: unknown }
  }

  const dayStart = () => service.now - (service.now % day)

  test('the five largest segments are counted by interval, up to 20,000 signals, and only by a declared key', async () => {
    const tenant = await service.tenant('free', 'admin')
    const start = dayStart() - 4 * day
    const { prompt, organisation, headers } = tenant
    const signals = ['a', 'b', 'c', 'd', 'e', 'f', null].flatMap((model, i) =>
      Array.from({ length: 8 - i }, (_, k): NewSignal => {
        const metadata = model === null ? null : JSON.stringify({ model })
        const value = k === 0 ? 'negative' : 'positive'
        return {
          organisationId: organisation.id,
          promptId: prompt.id,
          value,
          metadata,
          createdAt: start + k * 12 * hour,
        }
      }),
    )
    await service.store.signals.import(inBatches(signals))
    const range = `from=${isoTime(start)}&to=${isoTime(start + 4 * day)}&interval=day`
    const url = `${tenant.path}/signals/summary?${range}&by=metadata.model`
    assertError(await service.app.inject({ url, headers }), 422, 'validation_error', /^by names a key that is not/)
    await service.app.inject({ method: 'PUT', url: '/api/v1/segments', headers, payload: { keys: ['model'] } })
    const response = await service.app.inject({ url, headers })
    assertMatchesSchema(summarySchema, response)
    const { segments, total } = response.json()
    assert.deepEqual(total, { positive: 28, negative: 7 })
    assert.deepEqual(
      segments.data.map(({ value, total }: { value: string; total: object }) => [value, total]),
      [8, 7, 6, 5, 4].map((count, i) => ['abcde'[i], { positive: count - 1, negative: 1 }]),
    )
    assert.deepEqual([segments.key, segments.others, segments.counted_from], ['model', 2, null])
    const at = (days: number) => isoTime(start + days * day)
    assert.deepEqual(segments.data[3].data, [
      { start: at(0), positive: 1, negative: 1 },
      { start: at(1), positive: 2, negative: 0 },
      { start: at(2), positive: 1, negative: 0 },
    ])
    await importSignals(
      tenant,
      Array.from({ length: 20_000 }, (_, i) => start + 2 * day + i),
    )
    const { counted_from: since } = (await service.app.inject({ url, headers })).json().segments
    assert.ok(Date.parse(since) > start + day, since)
  })

  test('no step mixes two versions, except the hour in which one replaced the other', async () => {
    const tenant = await service.tenant()
    const start = dayStart() - 10 * day
    const first = await tenant.recordEntry({ createdAt: start - day, commitSha: 'a1'.repeat(20) })
    const second = await tenant.recordEntry({ createdAt: start + 14.5 * hour, commitSha: 'b2'.repeat(20) })
    await importSignals(tenant, [start, start + 13.9 * hour, start + 14.1 * hour], 'positive')
    await importSignals(tenant, [start + 14.6 * hour, start + 15 * hour, start + 30 * hour], 'negative')
    const { data, split, interval, total } = await summary(tenant, start, start + 2 * day)
    const at = (hours: number) => new Date(start + hours * hour).toISOString()
    assert.deepEqual(data, [
      { start: at(0), end: at(14), positive: 2, negative: 0, changes: 0, versions: 1, entry_id: first.id },
      { start: at(14), end: at(15), positive: 1, negative: 1, changes: 1, versions: 2, entry_id: null },
      { start: at(15), end: at(24), positive: 0, negative: 1, changes: 0, versions: 1, entry_id: second.id },
      { start: at(24), end: at(48), positive: 0, negative: 1, changes: 0, versions: 1, entry_id: second.id },
    ])
    assert.deepEqual({ split, interval, total }, { split: true, interval: 'day', total: { positive: 3, negative: 3 } })
  })

  test('the steps cover the range without gaps, and have every signal and every change once', async () => {
    const offset = fc.integer({ min: 0, max: 9 * day - 1 })
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(offset, { maxLength: 12 }),
        fc.array(offset, { maxLength: 40 }),
        fc.constantFrom('hour', 'day', 'week'),
        async (changes, signals, interval) => {
          const tenant = await service.tenant()
          const start = dayStart() - 20 * day
          for (const [i, at] of changes.entries()) {
            await tenant.recordEntry({ createdAt: start + at, commitSha: i.toString(16).padStart(40, '0') })
          }
          await importSignals(
            tenant,
            signals.map((at) => start + at),
          )
          const { data } = await summary(tenant, start, start + 9 * day, `&interval=${interval}`)
          for (const [i, { end }] of data.entries()) if (i + 1 < data.length) assert.equal(data[i + 1]?.start, end)
          assert.equal(
            data.reduce((sum, { positive }) => sum + positive, 0),
            signals.length,
          )
          assert.equal(
            data.reduce((sum, step) => sum + step.changes, 0),
            changes.length,
          )
          for (const { versions, start: from, end } of data) {
            assert.ok(
              versions <= 1 || Date.parse(end) - Date.parse(from) === hour,
              `${versions} from ${from} to ${end}`,
            )
          }
        },
      ),
      { numRuns: 15 },
    )
  })

  test('a range that is shorter than the interval has its own signals and changes only', async () => {
    const tenant = await service.tenant()
    const start = dayStart() - 10 * day
    for (const [i, hours] of [1, 5, 9].entries()) {
      await tenant.recordEntry({ createdAt: start + hours * hour, commitSha: `${i}`.repeat(40) })
      await importSignals(tenant, [start + hours * hour + 1])
    }
    const { data, total } = await summary(tenant, start + 3.5 * hour, start + 6.5 * hour, '&interval=week')
    assert.equal(data[0]?.start, new Date(start + 3 * hour).toISOString())
    assert.equal(data.at(-1)?.end, new Date(start + 7 * hour).toISOString())
    assert.deepEqual(
      data.map(({ changes }) => changes),
      [0, 1],
    )
    assert.deepEqual(total, { positive: 1, negative: 0 })
  })

  test('a rollback splits the interval, and is no new change', async () => {
    const tenant = await service.tenant('free', 'admin')
    const start = dayStart() - 10 * day
    const [one, two] = ['a1'.repeat(20), 'b2'.repeat(20)]
    const first = await tenant.recordEntry({ createdAt: start - 2 * day, commitSha: one })
    const second = await tenant.recordEntry({ createdAt: start - day, commitSha: two })
    const deployed: [string, number][] = [
      [one, 0],
      [two, 6],
      [one, 12],
    ]
    for (const [sha, hours] of deployed) {
      const at = new Date(start + hours * hour).toISOString()
      const path = `/prompts/${tenant.prompt.publicId}`
      const { statusCode, body } = await postDeployment(service, tenant, path, { commit_sha: sha, at })
      assert.equal(statusCode, 201, body)
    }
    const { data } = await summary(tenant, start, start + day)
    assert.deepEqual(
      data.map(({ entry_id, versions }) => [entry_id, versions]),
      [
        [first.id, 1],
        [second.id, 1],
        [first.id, 1],
      ],
    )
    assert.equal(
      data.reduce((sum, { changes }) => sum + changes, 0),
      0,
      'both went live before',
    )
  })

  test('with more changes than can be told apart, intervals stay whole and say how many changes they have', async () => {
    const tenant = await service.tenant()
    const start = dayStart() - 60 * day
    async function* entries() {
      yield Array.from({ length: 600 }, (_, i) => ({
        action: 'deployed' as const,
        user: { name: 'Ada', email: 'ada@example.com' },
        commitSha: i.toString(16).padStart(40, '0'),
        prNumber: null,
        prUrl: null,
        branchName: 'main',
        createdAt: start + i * 2 * hour,
        dedupeKey: `change ${i}`,
      }))
    }
    await service.store.history.import(tenant.prompt, entries(), service.now, operator)
    const { data, split } = await summary(tenant, start, start + 52 * day)
    assert.equal(split, false)
    assert.equal(data.length, 52)
    assert.deepEqual([data[0]?.changes, data[0]?.versions, data[0]?.entry_id], [12, 12, null])
    assert.deepEqual([data[51]?.changes, data[51]?.versions], [0, 1])
    const zoomed = await summary(tenant, start, start + day)
    assert.equal(zoomed.split, true)
  })

  test('a chosen interval ends with the current one, however far in the future the range ends', async () => {
    const tenant = await service.tenant()
    await importSignals(
      tenant,
      Array.from({ length: 4_000 }, (_, i) => service.now - 60_000 - i * 60_000),
    )
    for (const split of ['', '&split=changes']) {
      for (const years of [2, 5_000]) {
        const until = service.now + years * 365 * day
        const response = await service.app.inject({
          url: `${tenant.path}/signals/summary?from=${isoTime(service.now - 3 * day)}&to=${isoTime(until)}&interval=auto${split}`,
          headers: tenant.headers,
        })
        assert.equal(response.statusCode, 200, response.body)
        const { data, interval } = response.json()
        assert.equal(interval, 'hour')
        assert.ok(data.length >= 72 && data.length <= 74, `${data.length} intervals`)
        assert.ok(Date.parse(data.at(-1).start) <= service.now)
      }
    }
    const later = isoTime(service.now + day)
    const future = await service.app.inject({
      url: `${tenant.path}/signals/summary?from=${later}&to=9999-01-01T00:00:00.000Z&interval=auto`,
      headers: tenant.headers,
    })
    assert.equal(future.statusCode, 200, future.body)
    assert.equal(future.json().data.length, 1)
  })

  test('the interval follows the shown span and the number of signals', async () => {
    const tenant = await service.tenant()
    const interval = async (days: number) =>
      (await summary(tenant, service.now - days * day, service.now, '&interval=auto')).interval
    assert.equal(await interval(365), 'week', 'without signals')
    const spread = (count: number, days: number) =>
      Array.from({ length: count }, (_, i) => service.now - 60_000 - (i * days * day) / count)
    await importSignals(tenant, spread(6, 3))
    assert.equal(await interval(3), 'week', 'six signals are no trend by the hour or day')
    await importSignals(tenant, spread(1_500, 100))
    assert.deepEqual(
      [await interval(90), await interval(30), await interval(7)],
      ['week', 'day', 'day'],
      'with 15 signals a day, a few weeks are shown by the day',
    )
    await importSignals(tenant, spread(2_500, 100))
    // The first signal is 100 days ago, so the chart shows 100 of the 365 days.
    assert.deepEqual([await interval(365), await interval(30), await interval(2)], ['day', 'day', 'day'])
    await importSignals(tenant, spread(4_000, 3))
    assert.deepEqual([await interval(365), await interval(30), await interval(2)], ['day', 'day', 'hour'])
  })
})
