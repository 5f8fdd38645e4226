import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertMatchesSchema } from '../../../testing/assertions.ts'
import { onEachEngine } from '../../../testing/engines.ts'
import { inPortions, signalOf } from '../../../testing/recording.ts'
import { connected, type Entry } from '../../../testing/scenario.ts'
import { type Tenant, useService } from '../../../testing/service.ts'
import type { SignalValue } from '../../src/domain/signals/signal.ts'
import { forgeOf } from '../../src/forges/index.ts'
import { timelineSchema } from '../../src/http/impact/schema.ts'

interface Item {
  entry: Entry
  message: string | null
  commit_url: string | null
  path: string | null
  impact: { verdict: string; before: { positive: number }; after: { positive: number } } | null
}

const hour = 3_600_000
const pull = { prNumber: 7, prUrl: 'https://example.com/7' }

onEachEngine('The timeline', (engine) => {
  const service = useService(engine)

  function ask(tenant: Pick<Tenant, 'headers'>, path: string) {
    return service.app.inject({ url: path, headers: tenant.headers })
  }

  async function timeline(tenant: Tenant, query = '', path = tenant.path): Promise<Item[]> {
    const response = await ask(tenant, `${path}/timeline${query}`)
    assert.equal(response.statusCode, 200, response.body)
    assertMatchesSchema(timelineSchema, response)
    return response.json().data
  }

  async function vote(tenant: Tenant, at: number, positive: number, negative: number): Promise<void> {
    const told = (value: SignalValue, count: number) =>
      Array.from({ length: count }, (_, i) => signalOf(tenant, { createdAt: at + i, value }))
    await service.store.signals.import(inPortions([...told('positive', positive), ...told('negative', negative)]))
  }

  test('is the history, and says of what went live what the impact says, whatever is chosen', async () => {
    const tenant = await service.tenant()
    for (let i = 0; i < 9; i++) {
      const at = service.now - (9 - i) * hour + i * 1_001
      const merged = i % 2 === 1 ? ({ action: 'pr_merged', ...pull } as const) : {}
      await tenant.record({ createdAt: at, branchName: `b${i}`, ...merged })
      if (i % 3 === 0) await tenant.record({ createdAt: at + 60_000, action: 'pr_opened', ...pull })
      await vote(tenant, at, 10 * i, 5)
    }
    const impacts = (await ask(tenant, `${tenant.path}/impact?limit=100`)).json().data
    const all = await timeline(tenant, '?limit=100')
    assert.deepEqual(
      all.map(({ entry }) => entry),
      (await ask(tenant, `${tenant.path}/history?limit=100`)).json().data,
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
    const edge = all[4]?.entry.created_at as string
    assert.deepEqual(await timeline(tenant, `?since=${edge}`), all.slice(0, 5))
    assert.deepEqual(await timeline(tenant, `?until=${edge}`), all.slice(5))
    const counted = await ask(tenant, `${tenant.path}/timeline?action=pr_opened&limit=1`)
    assert.deepEqual(counted.json().pagination, { current_page: 1, total_pages: 3, total_count: 3, per_page: 1 })
  })

  test('knows the message, the path and the page of each commit of a repository', async () => {
    const scenario = await connected(service, {
      prepare(git) {
        git.commit('Start\n\nWith more words', { 'prompts/p.md': 'Be kind.\n' })
        git.push()
      },
    })
    const prompts = (await ask(scenario.tenant, '/api/v1/prompts')).json().data
    const { id } = prompts.find(({ path }: { path: string | null }) => path === 'prompts/p.md')
    const [item] = await timeline(scenario.tenant, '', `/api/v1/prompts/${id}`)
    assert.deepEqual([item?.message, item?.path], ['Start\n\nWith more words', 'prompts/p.md'])
    assert.ok(item?.commit_url?.endsWith(`/commit/${item.entry.commit_sha}`), item?.commit_url ?? '')
  })

  test('knows nothing more of what was told', async () => {
    const tenant = await service.tenant()
    await tenant.record({ createdAt: service.now - hour })
    const [item] = await timeline(tenant)
    assert.deepEqual([item?.message, item?.path, item?.commit_url], [null, null, null])
  })

  test('refuses what makes no sense, naming it, and shows nothing of others', async () => {
    const [tenant, other] = [await service.tenant(), await service.tenant()]
    for (const [query, reason] of [
      ['action=pushed', /^action must be one or several of/],
      ['action=', /^action must be/],
      ['action=deployed,', /^action must be/],
      ['since=yesterday', /^since must be/],
      ['since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z', /^until must be later than since/],
    ] as const) {
      const response = await ask(tenant, `${tenant.path}/timeline?${query}`)
      assert.deepEqual([response.statusCode, response.json().error.code], [422, 'validation_error'], query)
      assert.match(response.json().error.message, reason)
    }
    assert.equal((await ask(tenant, `${other.path}/timeline`)).statusCode, 404)
    const ingest = await service.tenant('free', 'ingest')
    assert.equal((await ask(ingest, `${ingest.path}/timeline`)).statusCode, 403)
  })
})

test('Each forge has the page of a commit at a place of its own', () => {
  const paths = (['github', 'gitlab', 'gitea', 'forgejo', 'bitbucket'] as const).map((name) =>
    forgeOf(name).commitPath('a'),
  )
  assert.deepEqual(paths, ['/commit/a', '/-/commit/a', '/commit/a', '/commit/a', '/commits/a'])
})
