import assert from 'node:assert/strict'
import { test } from 'node:test'
import { timelineSchema } from '../../../contract/impact.ts'
import { assertError, assertMatchesSchema } from '../../../testing/assertions.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { seededRandom } from '../../../testing/random.ts'
import type { Entry } from '../../../testing/scenario.ts'
import { Tenant, useService } from '../../../testing/service.ts'
import { inBatches } from '../../../testing/signals.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { actions, type HistoryEntry, newHistoryEntry } from '../../src/domain/history/entry.ts'
import { hour, isoTime } from '../../src/domain/time.ts'

interface Step {
  entry_id: number
  action: string
  created_at: string
}

interface Row {
  entry: Entry
  pull: { opened: Step | null; outcome: Step | null } | null
  impact: object | null
}

onOneEngine('Pull requests in the timeline', (engine) => {
  const service = useService(engine)

  async function timeline(tenant: Tenant, query: string): Promise<{ data: Row[]; total: number }> {
    const response = await service.app.inject({ url: `${tenant.path}/timeline?${query}`, headers: tenant.headers })
    assert.equal(response.statusCode, 200, response.body)
    assertMatchesSchema(timelineSchema, response)
    return { data: response.json().data, total: response.json().pagination.total_count }
  }

  const pull = (prNumber: number, host = 'example.com') => ({ prNumber, prUrl: `https://${host}/pull/${prNumber}` })

  test('a pull request that was opened and merged is one row, which says when it was opened', async () => {
    const tenant = await service.tenant()
    const at = service.now - 10 * hour
    const opened = await tenant.recordEntry({ createdAt: at, action: 'pr_opened', ...pull(1) })
    const open = await tenant.recordEntry({ createdAt: at + 1, action: 'pr_opened', ...pull(2) })
    const merged = await tenant.recordEntry({ createdAt: at + hour, action: 'pr_merged', ...pull(1) })
    const direct = await tenant.recordEntry({ createdAt: at + 2 * hour })
    const unopened = await tenant.recordEntry({ createdAt: at + 3 * hour, action: 'pr_closed', ...pull(3) })
    const { data, total } = await timeline(tenant, 'pulls=outcome')
    const step = ({ id, action, createdAt }: typeof opened): Step => {
      return { entry_id: id, action, created_at: isoTime(createdAt) }
    }
    assert.deepEqual(
      data.map(({ entry, pull: span }) => [entry.id, span]),
      [
        [unopened.id, { opened: null, outcome: step(unopened) }],
        [direct.id, null],
        [merged.id, { opened: step(opened), outcome: step(merged) }],
        [open.id, { opened: step(open), outcome: null }],
      ],
    )
    assert.equal(total, 4)
    assert.ok(data[2]?.impact)
    const all = await timeline(tenant, '')
    assert.equal(all.total, 5)
    assert.deepEqual((await timeline(tenant, 'pulls=all')).data, all.data)
    assert.deepEqual(
      all.data.find(({ entry }) => entry.id === opened.id)?.pull,
      { opened: step(opened), outcome: step(merged) },
      'the row of the opening leads to the outcome',
    )
    const url = `${tenant.path}/timeline/${merged.id}`
    const one = (await service.app.inject({ url, headers: tenant.headers })).json().data
    assert.deepEqual(one, data[2])
  })

  test('filters, pages and totals are those of the rows that remain, at any time', async () => {
    const random = seededRandom(19)
    const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T
    const tenant = await service.tenant()
    const start = service.now - 100 * hour
    for (let i = 0; i < 120; i++) {
      const action = pick(actions)
      // Few numbers on two hosts, so that they are opened again, merged before they are opened, and at the same time.
      const involved =
        action === 'deployed' ? {} : pull(1 + Math.floor(random() * 9), pick(['example.com', 'other.org']))
      const createdAt = start + Math.floor(random() * 90) * hour
      await tenant.recordEntry({ createdAt, action, ...involved, branchName: `b${i}` })
    }
    const { data: all } = await timeline(tenant, 'limit=100')
    const rest = await timeline(tenant, 'limit=100&page=2')
    const entries = [...all, ...rest.data].map(({ entry }) => entry)
    const times = [20, 45, 70].map((hours) => start + hours * hour)

    for (const asOf of [null, ...times]) {
      const known = entries.filter(({ created_at }) => asOf === null || Date.parse(created_at) <= asOf)
      const samePull = (a: Entry, b: Entry) => a.pr_url === b.pr_url && a.pr_number === b.pr_number
      const isOutcome = ({ action }: Entry) => action === 'pr_merged' || action === 'pr_closed'
      const isFolded = (entry: Entry) =>
        entry.action === 'pr_opened' &&
        known.some((other) => isOutcome(other) && samePull(other, entry) && other.created_at >= entry.created_at)
      for (const action of [null, 'pr_opened', 'pr_merged,pr_closed'])
        for (const since of [null, times[0]])
          for (const until of [null, times[2]]) {
            const expected = known.filter(
              (entry) =>
                !isFolded(entry) &&
                (action === null || action.split(',').includes(entry.action)) &&
                (since == null || Date.parse(entry.created_at) >= since) &&
                (until == null || Date.parse(entry.created_at) < until),
            )
            const query = new URLSearchParams({ pulls: 'outcome', limit: '7' })
            if (action !== null) query.set('action', action)
            if (since != null) query.set('since', isoTime(since))
            if (until != null) query.set('until', isoTime(until))
            if (asOf !== null) query.set('as_of', isoTime(asOf))
            const rows: Row[] = []
            for (let page = 1; page === 1 || rows.length < expected.length; page++) {
              query.set('page', String(page))
              const { data, total } = await timeline(tenant, query.toString())
              assert.equal(total, expected.length, query.toString())
              assert.ok(data.length > 0 || expected.length === 0, query.toString())
              rows.push(...data)
            }
            assert.deepEqual(
              rows.map(({ entry }) => entry),
              expected,
            )
            for (const { entry, pull: span } of rows) {
              const own = known.filter((other) => entry.pr_url !== null && samePull(other, entry))
              assert.equal(span?.opened?.entry_id, own.findLast((other) => other.action === 'pr_opened')?.id)
              assert.equal(span?.outcome?.entry_id, own.find(isOutcome)?.id)
            }
          }
    }
  })

  test('entries of one pull request with a long URL take about as long to read as those with a short one', async () => {
    async function cpuMsWith(prUrl: string): Promise<number> {
      const tenant = await service.tenant()
      const steps = Array.from({ length: 10_000 }, (_, i) =>
        newHistoryEntry({
          action: i % 2 === 0 ? 'pr_opened' : 'pr_merged',
          user: { name: 'Ada', email: 'ada@example.com' },
          commitSha: i.toString(16).padStart(40, '0'),
          ...{ prNumber: 5, prUrl, branchName: 'main', createdAt: service.now - 10_000 + i },
        }),
      )
      await service.store.history.import(tenant.prompt, inBatches(steps), service.now, operator)
      const { history } = service.store
      const [newest] = (await history.page(tenant.prompt, { page: '1', limit: 1 })).entries
      const times: number[] = []
      for (let i = 0; i < 5; i++) {
        const start = process.cpuUsage()
        const [span] = await history.pullSpans(tenant.prompt, [newest as HistoryEntry], null)
        const { user, system } = process.cpuUsage(start)
        times.push((user + system) / 1_000)
        assert.equal(span?.outcome?.entryId, newest?.id)
        assert.equal(span?.opened?.createdAt, service.now - 10_000)
      }
      return Math.min(...times)
    }
    const short = await cpuMsWith('https://example.com/pull/5')
    const long = await cpuMsWith(`https://example.com/${'x'.repeat(1_900)}`)
    assert.ok(long < 5 * Math.max(short, 5), `${long} ms instead of ${short} ms`)
  })

  test('pull requests of other prompts do not count, and an unknown value of pulls is rejected', async () => {
    const tenant = await service.tenant()
    const at = service.now - hour
    const other = new Tenant(
      service,
      tenant.organisation,
      tenant.key,
      await service.prompt(tenant.organisation, 'other'),
    )
    await tenant.recordEntry({ createdAt: at, action: 'pr_opened', ...pull(1) })
    await other.recordEntry({ createdAt: at + 1, action: 'pr_merged', ...pull(1) })
    assert.equal((await timeline(tenant, 'pulls=outcome')).total, 1)
    const response = await service.app.inject({ url: `${tenant.path}/timeline?pulls=merged`, headers: tenant.headers })
    assertError(response, 422, 'validation_error', /^pulls must be one of all, outcome/)
  })
})
