import assert from 'node:assert/strict'
import { test } from 'node:test'
import { timelineSchema } from '../../../contract/impact.ts'
import { assertMatchesSchema } from '../../../testing/assertions.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { connectedScenario, type Entry } from '../../../testing/scenario.ts'
import { type Tenant, useService } from '../../../testing/service.ts'
import { inBatches, signalFor } from '../../../testing/signals.ts'
import type { SignalValue } from '../../src/domain/signals/signal.ts'
import { forgeOf } from '../../src/forges/index.ts'

interface TimelineItem {
  entry: Entry
  message: string | null
  commit_url: string | null
  path: string | null
  impact: { verdict: string; before: { positive: number }; after: { positive: number } } | null
}

const hour = 3_600_000
const pull = { prNumber: 7, prUrl: 'https://example.com/7' }

onOneEngine('The timeline', (engine) => {
  const service = useService(engine)

  function request(tenant: Pick<Tenant, 'headers'>, path: string) {
    return service.app.inject({ url: path, headers: tenant.headers })
  }

  async function timeline(tenant: Tenant, query = '', path = tenant.path): Promise<TimelineItem[]> {
    const response = await request(tenant, `${path}/timeline${query}`)
    assert.equal(response.statusCode, 200, response.body)
    assertMatchesSchema(timelineSchema, response)
    return response.json().data
  }

  async function vote(tenant: Tenant, at: number, positive: number, negative: number): Promise<void> {
    const signals = (value: SignalValue, count: number) =>
      Array.from({ length: count }, (_, i) => signalFor(tenant, { createdAt: at + i, value }))
    await service.store.signals.import(inBatches([...signals('positive', positive), ...signals('negative', negative)]))
  }

  test('the timeline is the history with the impact of each change, under any filter', async () => {
    const tenant = await service.tenant()
    for (let i = 0; i < 9; i++) {
      const at = service.now - (9 - i) * hour + i * 1_001
      const merged = i % 2 === 1 ? ({ action: 'pr_merged', ...pull } as const) : {}
      await tenant.recordEntry({ createdAt: at, branchName: `b${i}`, ...merged })
      if (i % 3 === 0) await tenant.recordEntry({ createdAt: at + 60_000, action: 'pr_opened', ...pull })
      await vote(tenant, at, 10 * i, 5)
    }
    const impacts = (await request(tenant, `${tenant.path}/impact?limit=100`)).json().data
    const all = await timeline(tenant, '?limit=100')
    assert.deepEqual(
      all.map(({ entry }) => entry),
      (await request(tenant, `${tenant.path}/history?limit=100`)).json().data,
    )
    const live = all.filter(({ impact }) => impact !== null)
    assert.deepEqual(
      live.map(({ entry, impact }) => ({ entry, ...impact })),
      impacts,
    )
    assert.deepEqual(await timeline(tenant, '?limit=100&action=deployed,pr_merged'), live)
    assert.deepEqual(await timeline(tenant, '?limit=2&page=2&action=deployed,pr_merged'), live.slice(2, 4))
    const [opened] = await timeline(tenant, '?action=pr_opened')
    assert.equal(opened?.impact, null)
    const boundary = all[4]?.entry.created_at as string
    assert.deepEqual(await timeline(tenant, `?since=${boundary}`), all.slice(0, 5))
    assert.deepEqual(await timeline(tenant, `?until=${boundary}`), all.slice(5))
    const filtered = await request(tenant, `${tenant.path}/timeline?action=pr_opened&limit=1`)
    assert.deepEqual(filtered.json().pagination, { current_page: 1, total_pages: 3, total_count: 3, per_page: 1 })
  })

  test('the timeline has the message, path and URL of each commit of a repository', async () => {
    const scenario = await connectedScenario(service, {
      prepare(git) {
        git.commit('Start\n\nWith more words', { 'prompts/p.md': 'Be kind.\n' })
        git.push()
      },
    })
    const prompts = (await request(scenario.tenant, '/api/v1/prompts')).json().data
    const { id } = prompts.find(({ path }: { path: string | null }) => path === 'prompts/p.md')
    const [item] = await timeline(scenario.tenant, '', `/api/v1/prompts/${id}`)
    assert.deepEqual([item?.message, item?.path], ['Start\n\nWith more words', 'prompts/p.md'])
    assert.ok(item?.commit_url?.endsWith(`/commit/${item.entry.commit_sha}`), item?.commit_url ?? '')
  })

  test('entries recorded over the API have null details in the timeline', async () => {
    const tenant = await service.tenant()
    await tenant.recordEntry({ createdAt: service.now - hour })
    const [item] = await timeline(tenant)
    assert.deepEqual([item?.message, item?.path, item?.commit_url], [null, null, null])
  })

  test('an invalid timeline parameter is rejected by name, and other organisations see nothing', async () => {
    const [tenant, other] = [await service.tenant(), await service.tenant()]
    for (const [query, message] of [
      ['action=pushed', /^action must be one or more of/],
      ['action=', /^action must be/],
      ['action=deployed,', /^action must be/],
      ['since=yesterday', /^since must be/],
      ['since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z', /^until must be later than since/],
    ] as const) {
      const response = await request(tenant, `${tenant.path}/timeline?${query}`)
      assert.deepEqual([response.statusCode, response.json().error.code], [422, 'validation_error'], query)
      assert.match(response.json().error.message, message)
    }
    assert.equal((await request(tenant, `${other.path}/timeline`)).statusCode, 404)
    const ingest = await service.tenant('free', 'ingest')
    assert.equal((await request(ingest, `${ingest.path}/timeline`)).statusCode, 403)
  })
})

test('each forge has its own path to the page of a commit', () => {
  const paths = (['github', 'gitlab', 'gitea', 'forgejo', 'bitbucket'] as const).map((name) =>
    forgeOf(name).commitPath('a'),
  )
  assert.deepEqual(paths, ['/commit/a', '/-/commit/a', '/commit/a', '/commit/a', '/commits/a'])
})
