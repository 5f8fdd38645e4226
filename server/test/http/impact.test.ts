import assert from 'node:assert/strict'
import { test } from 'node:test'
import { databaseWorkOf, sqlitePlans } from '../../../testing/database-work.ts'
import { onEachEngine, onOneEngine } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { deployedEntry, openTestStore, type Tenant, useService } from '../../../testing/service.ts'
import { inBatches } from '../../../testing/signals.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { newHistoryEntry } from '../../src/domain/history/entry.ts'
import type { NewSignal, SignalValue } from '../../src/domain/signals/signal.ts'

const hour = 3_600_000

onOneEngine('The impact of a change', (engine) => {
  const service = useService(engine)

  type Votes = [at: number, positive: number, negative: number]

  function signalsOf({ organisation, prompt }: Tenant, [at, positive, negative]: Votes): NewSignal[] {
    const signal = (value: SignalValue, i: number): NewSignal => ({
      organisationId: organisation.id,
      promptId: prompt.id,
      value,
      metadata: null,
      createdAt: at + i,
    })
    const count = positive + negative
    const positivesUntil = (i: number) => Math.floor((i * positive) / count)
    return Array.from({ length: count }, (_, i) =>
      signal(positivesUntil(i + 1) > positivesUntil(i) ? 'positive' : 'negative', i),
    )
  }

  /** In one import, which takes longer than storing thousands of votes. */
  async function voteEach(tenant: Tenant, votes: Votes[]): Promise<void> {
    await service.store.signals.import(inBatches(votes.flatMap((some) => signalsOf(tenant, some))))
  }

  const vote = (tenant: Tenant, ...votes: Votes) => voteEach(tenant, [votes])

  async function impact(tenant: Tenant, query = '') {
    const response = await service.app.inject({ url: `${tenant.path}/impact${query}`, headers: tenant.headers })
    assert.equal(response.statusCode, 200, response.body)
    return response.json()
  }

  test('the impact compares the signals of a change with those of the previous change', async () => {
    const tenant = await service.tenant()
    const [first, second, third] = [30, 20, 10].map((hours) => service.now - hours * hour + 1_234) as [
      number,
      number,
      number,
    ]
    await tenant.recordEntry({ createdAt: first, branchName: 'one' })
    await tenant.recordEntry({
      createdAt: second,
      branchName: 'two',
      action: 'pr_merged',
      prNumber: 1,
      prUrl: 'https://x.org/1',
    })
    await tenant.recordEntry({
      createdAt: second + 5 * hour,
      action: 'pr_opened',
      prNumber: 2,
      prUrl: 'https://x.org/2',
    })
    await tenant.recordEntry({ createdAt: third, branchName: 'three' })
    await vote(tenant, first - 5_000, 7, 7)
    await vote(tenant, first, 850, 150)
    await vote(tenant, second, 750, 250)
    await vote(tenant, third, 3, 0)
    const { data, pagination } = await impact(tenant)
    assert.deepEqual(
      data.map(({ entry, verdict }: { entry: { branch_name: string }; verdict: string }) => [
        entry.branch_name,
        verdict,
      ]),
      [
        ['three', 'too_little_data'],
        ['two', 'worse'],
        ['one', 'too_little_data'],
      ],
    )
    const [newest, middle, oldest] = data
    assert.deepEqual(middle.before, { positive: 850, negative: 150, rate: 0.85 })
    assert.deepEqual(middle.after, { positive: 750, negative: 250, rate: 0.75 })
    assert.ok(Math.abs(middle.difference + 0.1) < 1e-12)
    assert.ok(middle.interval[0] < -0.1 && middle.interval[1] > -0.1 && middle.interval[1] < 0)
    assert.deepEqual(
      [middle.live_from, middle.live_until],
      [new Date(second).toISOString(), new Date(third).toISOString()],
    )
    assert.deepEqual([newest.live_until, newest.after], [null, { positive: 3, negative: 0, rate: 1 }])
    assert.deepEqual(
      [oldest.before, oldest.difference, oldest.interval],
      [{ positive: 0, negative: 0, rate: null }, null, null],
    )
    assert.deepEqual(pagination, { current_page: 1, total_pages: 1, total_count: 3, per_page: 25 })
  })

  test('the first version says that nothing can be compared with it, however many votes it has', async () => {
    const tenant = await service.tenant()
    await tenant.recordEntry({ createdAt: service.now - 5 * hour })
    await vote(tenant, service.now - 4 * hour, 4_000, 1_001)
    const prompt = async () =>
      (await service.app.inject({ url: tenant.path, headers: tenant.headers })).json().data.first_version
    const [first] = (await impact(tenant)).data
    assert.partialDeepStrictEqual(first, {
      verdict: 'too_little_data',
      first_version: true,
      explanation: 'First version, nothing to compare with.',
    })
    assert.equal(await prompt(), true)
    await tenant.recordEntry({ createdAt: service.now - hour, commitSha: 'b'.repeat(40) })
    assert.deepEqual(
      (await impact(tenant)).data.map(({ first_version }: { first_version: boolean }) => first_version),
      [false, true],
    )
    assert.equal(await prompt(), false)
  })

  test('the impact of a change does not depend on the page or its size', async () => {
    const tenant = await service.tenant()
    for (let i = 0; i < 12; i++) {
      const at = service.now - (12 - i) * hour
      await tenant.recordEntry({ createdAt: at, branchName: `b${i}` })
      await vote(tenant, at + 60_000, 30 + i, 10)
    }
    const { data: all } = await impact(tenant, '?limit=100')
    assert.equal(all.length, 12)
    for (const limit of [1, 5, 12]) {
      const pages = []
      for (let page = 1; page <= Math.ceil(12 / limit); page++) {
        pages.push(...(await impact(tenant, `?limit=${limit}&page=${page}`)).data)
      }
      assert.deepEqual(pages, all)
    }
    assert.deepEqual((await impact(tenant, '?page=99')).data, [])
  })

  test('a change that another process records is part of the impact', async () => {
    const tenant = await service.tenant()
    await tenant.recordEntry({ createdAt: service.now - hour })
    assert.equal((await impact(tenant)).data.length, 1)
    const other = await openTestStore(service.url)
    const entry = newHistoryEntry({ ...deployedEntry(service.now - hour / 2), branchName: 'other' })
    await other.history.record(tenant.prompt, entry, service.now, operator)
    await eventually(async () => {
      const { data } = await impact(tenant)
      assert.deepEqual(
        data.map(({ entry }: { entry: { branch_name: string } }) => entry.branch_name),
        ['other', 'main'],
      )
      assert.equal(data[1].live_until, data[0].live_from)
    })
  })

  test('a version that a late vote names for the first time counts in the next response', async () => {
    const tenant = await service.tenant()
    const [first, second] = ['c'.repeat(40), 'd'.repeat(40)]
    const at = (days: number) => service.now - days * 24 * hour
    await tenant.recordEntry({ createdAt: at(60), commitSha: first })
    await tenant.recordEntry({ createdAt: at(20), commitSha: second })
    const send = async (version: string, days: number) => {
      const occurred_at = new Date(at(days)).toISOString()
      const response = await tenant.signal({ value: 'positive', version, occurred_at })
      assert.equal(response.statusCode, 201, response.body)
    }
    const counts = async () => {
      const { data, unknown_versions } = await impact(tenant)
      return [data[0].before.positive, data[0].after.positive, unknown_versions.positive]
    }
    await send(second, 10)
    for (let i = 0; i < 2; i++) assert.deepEqual(await counts(), [0, 1, 0])
    await send(first, 29)
    await send('e'.repeat(40), 1)
    assert.deepEqual(await counts(), [1, 1, 1])
    await send(first, 15)
    assert.deepEqual(await counts(), [2, 1, 1])
  })

  test('votes of long ago count by day, and each counts once', async () => {
    const tenant = await service.tenant()
    const start = Date.UTC(2001, 0, 1)
    await tenant.recordEntry({ createdAt: start })
    await tenant.recordEntry({ createdAt: start + 5 * 24 * hour, branchName: 'second' })
    await voteEach(
      tenant,
      Array.from({ length: 10 }, (_, i): Votes => [start + i * 24 * hour + 3 * hour, 8, 2]),
    )
    await vote(tenant, service.now - hour, 6, 4)
    const { data } = await impact(tenant)
    assert.deepEqual(data[0].before, { positive: 40, negative: 10, rate: 0.8 })
    assert.deepEqual(data[0].after, { positive: 46, negative: 14, rate: 46 / 60 })
  })

  test('a fall is found although the rate falls as far every weekend', async () => {
    const tenant = await service.tenant()
    const days = 56
    const start = service.now - days * 24 * hour
    const change = days - 6
    await tenant.recordEntry({ createdAt: start })
    await tenant.recordEntry({ createdAt: start + change * 24 * hour, branchName: 'second' })
    const votes = Array.from({ length: 3 * days }, (_, i): Votes => {
      const [day, part] = [Math.floor(i / 3), i % 3]
      const at = start + (day * 24 + part * 8) * hour
      const isWeekend = [0, 6].includes(new Date(at).getUTCDay())
      const positive = 54 - (isWeekend ? 8 : 0) - (day >= change ? 8 : 0) - ((day + part) % 3)
      return [at, positive, 60 - positive]
    })
    await voteEach(tenant, votes)
    const { data } = await impact(tenant)
    assert.equal(data[0].verdict, 'worse', data[0].explanation)
  })

  test('a prompt that never changed has no impact entries', async () => {
    const tenant = await service.tenant()
    await vote(tenant, service.now - hour, 3, 3)
    const { data, pagination } = await impact(tenant)
    assert.deepEqual([data, pagination.total_count, pagination.total_pages], [[], 0, 0])
  })

  test('a deleted signal no longer counts in the impact', async () => {
    const tenant = await service.tenant()
    await tenant.recordEntry({ createdAt: service.now - hour })
    const { data: signal } = (await tenant.signal({ value: 'negative' })).json()
    assert.equal((await impact(tenant)).data[0].after.negative, 1)
    await service.store.signals.delete(tenant.prompt, signal.id, service.now, operator)
    assert.equal((await impact(tenant)).data[0].after.negative, 0)
  })
})

onEachEngine('What a read of impact costs', (engine) => {
  const service = useService(engine)

  test('a page of a prompt with thousands of changes and votes is read without reading all of them again', async () => {
    const tenant = await service.tenant('business')
    const { prompt } = tenant
    const changes = 3_000
    const start = service.now - changes * hour
    const entries = Array.from({ length: changes }, (_, i) =>
      newHistoryEntry({ ...deployedEntry(start + i * hour + 1_234), commitSha: i.toString(16).padStart(40, '0') }),
    )
    await service.store.history.import(prompt, inBatches(entries), service.now, operator)
    const votes = Array.from({ length: changes }, (_, i) => ({
      organisationId: prompt.organisationId,
      promptId: prompt.id,
      value: i % 3 === 0 ? ('negative' as const) : ('positive' as const),
      metadata: null,
      createdAt: start + i * hour + 5_000,
    }))
    await service.store.signals.import(inBatches(votes))
    const read = async (path: string) => {
      const response = await service.app.inject({ url: `${tenant.path}${path}`, headers: tenant.headers })
      assert.equal(response.statusCode, 200, response.body)
    }
    const paths = ['/impact', '/impact?page=60', '/timeline']
    const first = await databaseWorkOf(() => read('/impact'))
    assert.ok(first.characters > 100_000, `The first read returned ${first.characters} characters`)
    for (const path of paths) {
      await read(path)
      const { statements, rows, characters } = await databaseWorkOf(() => read(path))
      assert.ok(statements.length <= 10, `${path} took ${statements.length} statements`)
      assert.ok(rows <= 60, `${path} read ${rows} rows`)
      assert.ok(characters <= 5_000, `${path} read ${characters} characters`)
      if (engine.name !== 'SQLite') continue
      // What does not depend on the votes is asked for with them: on PostgreSQL, each wait takes a millisecond.
      const placeOf = (sql: RegExp) => statements.findIndex((each) => sql.test(each))
      const [votes, ...others] = [/count\(\*\) filter/, /exposure_hours/, /voter is not null/].map(placeOf)
      assert.ok(
        others.every((place) => place >= 0 && place < (votes as number)),
        statements.join('\n'),
      )
      // By prompt or by ID, or the first voter of the organisation.
      const growing = /^(SCAN|SEARCH) (history_entries|newest|signals|signal_hours|version_hours)\b/
      const found = sqlitePlans(service.url, statements).filter((line) => growing.test(line))
      assert.ok(found.length > 0)
      for (const line of found) assert.match(line, /prompt_id=\?|rowid=\?|voter>\?/, path)
    }
  })
})
