import assert from 'node:assert/strict'
import { test } from 'node:test'
import { liveSchema } from '../../../contract/history.ts'
import { assertError, assertMatchesSchema } from '../../../testing/assertions.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { connectedScenario, type Entry, type Scenario } from '../../../testing/scenario.ts'
import { useService } from '../../../testing/service.ts'

interface Live {
  entry: Entry
  path: string | null
  content: string | null
  content_state: string
  incomplete: boolean
}

onOneEngine('The live version of a prompt', (engine) => {
  const service = useService(engine)

  const getLive = ({ tenant }: Pick<Scenario, 'tenant'>, promptId: string, query: string) =>
    service.app.inject({ url: `/api/v1/prompts/${promptId}/live${query}`, headers: tenant.headers })

  async function liveAt(scenario: Pick<Scenario, 'tenant'>, promptId: string, at: string): Promise<Live> {
    const response = await getLive(scenario, promptId, `?at=${encodeURIComponent(at)}`)
    assert.equal(response.statusCode, 200, response.body)
    return response.json().data
  }

  test("the change that was live at a given time is returned with the prompt's text at that time", async () => {
    const scenario = await connectedScenario(service, {
      prepare(git) {
        git.commit('One', { 'prompts/p.md': 'one\n' }, { at: '2026-11-01T10:00:00Z' })
        git.commit('Two', { 'prompts/p.md': 'two\n' }, { at: '2026-11-02T10:00:00Z' })
        git.git('mv', 'prompts/p.md', 'prompts/q.md')
        git.commit('Three', {}, { at: '2026-11-03T10:00:00Z' })
        git.commit('Four', { 'prompts/q.md': null }, { at: '2026-11-04T10:00:00Z' })
        git.push()
      },
    })
    const [prompt] = await service.store.facts.prompts(scenario.repository)
    const id = prompt?.publicId as string
    const entries = await scenario.historyOf(id)
    const beforeFirst = await getLive(scenario, id, '?at=2026-11-01T09:59:59.999Z')
    assertError(beforeFirst, 404, 'not_found')
    const times: [string, number, string, string | null][] = [
      ['2026-11-01T10:00:00Z', 0, 'prompts/p.md', 'one\n'],
      ['2026-11-02T09:59:59.999Z', 0, 'prompts/p.md', 'one\n'],
      ['2026-11-02T12:00:00+02:00', 1, 'prompts/p.md', 'two\n'],
      ['2026-11-03T23:00:00Z', 2, 'prompts/q.md', 'two\n'],
      ['2026-11-04T10:00:00Z', 3, 'prompts/q.md', null],
      ['9999-12-31T23:59:59Z', 3, 'prompts/q.md', null],
    ]
    for (const [at, i, path, content] of times) {
      assert.deepEqual(
        await liveAt(scenario, id, at),
        {
          entry: entries[i],
          path,
          content,
          content_state: content === null ? 'absent' : 'available',
          incomplete: false,
          live_source: 'merge',
          environment: null,
          share: 1,
          also_live: [],
          environments: [],
        },
        at,
      )
    }
    const now = await getLive(scenario, id, '')
    assertMatchesSchema(liveSchema, now)
    assert.deepEqual(now.json().data, await liveAt(scenario, id, new Date(service.now).toISOString()))
    const repeated = await getLive(scenario, id, '?at=2026-11-01T00:00:00Z&at=2026-11-02T10:00:00Z')
    assert.equal(repeated.json().data.content, 'two\n')
  })

  test('after a reset of the default branch the earlier change is live again, and the past stays as it was', async () => {
    const scenario = await connectedScenario(service)
    const { git } = scenario
    const id = await scenario.promptId('prompts/p.md')
    git.commit('Lost', { 'prompts/p.md': 'Lost.\n' }, { at: new Date(service.now).toISOString() })
    await scenario.push()
    const contentNow = async () => (await liveAt(scenario, id, new Date(service.now).toISOString())).content
    assert.equal(await contentNow(), 'Lost.\n')
    service.now += 60_000
    const resetAt = service.now
    git.git('reset', '--quiet', '--hard', 'HEAD~1')
    await scenario.push()
    assert.equal(await contentNow(), 'Be kind.\n')
    assert.equal((await liveAt(scenario, id, new Date(resetAt - 1).toISOString())).content, 'Lost.\n')
    assert.equal((await liveAt(scenario, id, new Date(resetAt).toISOString())).content, 'Be kind.\n')
  })

  test('commits with dates out of order go live in the order of the default branch, none before the one it follows', async () => {
    const scenario = await connectedScenario(service, {
      prepare(git) {
        git.commit('One', { 'prompts/p.md': 'one\n' }, { at: '2026-11-01T10:00:00Z' })
        git.commit('Two', { 'prompts/p.md': 'two\n' }, { at: '2026-11-04T10:00:00Z' })
        git.commit('Three', { 'prompts/p.md': 'three\n' }, { at: '2026-11-02T10:00:00Z' })
        git.commit('Four', { 'prompts/p.md': 'four\n' }, { at: '2026-11-06T10:00:00Z' })
        git.push()
      },
    })
    const id = await scenario.promptId('prompts/p.md')
    const times = [
      ['2026-11-01T10:00:00Z', 'one\n'],
      ['2026-11-03T00:00:00Z', 'one\n'],
      ['2026-11-04T10:00:00Z', 'three\n'],
      ['2026-11-06T09:59:59Z', 'three\n'],
      ['2026-11-06T10:00:00Z', 'four\n'],
    ] as const
    for (const [at, content] of times) assert.equal((await liveAt(scenario, id, at)).content, content, at)
    const entries = await scenario.historyOf(id)
    assert.equal(
      entries.find(({ created_at }) => created_at.startsWith('2026-11-02'))?.created_at,
      '2026-11-02T10:00:00.000Z',
    )
    const windows = [
      ['2026-11-06T10:00:00.000Z', null],
      ['2026-11-04T10:00:00.000Z', '2026-11-06T10:00:00.000Z'],
      ['2026-11-04T10:00:00.000Z', '2026-11-04T10:00:00.000Z'],
      ['2026-11-01T10:00:00.000Z', '2026-11-04T10:00:00.000Z'],
    ]
    const get = async (path: string) =>
      (await service.app.inject({ url: `/api/v1/prompts/${id}/${path}`, headers: scenario.tenant.headers })).json().data
    type Window = { live_from: string; live_until: string | null }
    const windowOf = ({ live_from, live_until }: Window) => [live_from, live_until]
    assert.deepEqual((await get('impact')).map(windowOf), windows)
    assert.deepEqual((await get('impact?limit=1&page=3')).map(windowOf), [windows[2]])
    const timeline: { impact: Window }[] = await get('timeline')
    assert.deepEqual(timeline.map(({ impact }) => windowOf(impact)).sort(), windows.toSorted())
  })

  test('a commit with a date in the future does not keep those after it from going live', async () => {
    const scenario = await connectedScenario(service, {
      prepare(git) {
        git.commit('One', { 'prompts/p.md': 'one\n' }, { at: '2026-11-01T10:00:00Z' })
        git.commit('Two', { 'prompts/p.md': 'two\n' }, { at: '2099-01-01T00:00:00Z' })
        git.commit('Three', { 'prompts/p.md': 'three\n' }, { at: '2026-11-03T10:00:00Z' })
        git.push()
      },
    })
    const id = await scenario.promptId('prompts/p.md')
    assert.equal((await liveAt(scenario, id, '2026-11-02T00:00:00Z')).content, 'two\n')
    assert.equal((await liveAt(scenario, id, '2026-11-04T00:00:00Z')).content, 'three\n')
    assert.equal((await getLive(scenario, id, '?at=2026-10-31T00:00:00Z')).statusCode, 404)
  })

  test('only changes that reached the default branch go live, including entries recorded over the API', async () => {
    const tenant = await service.tenant()
    const id = tenant.prompt.publicId
    const pull = { prNumber: 7, prUrl: 'https://example.com/7' }
    const at = (minute: number) => Date.parse('2026-11-01T10:00:00Z') + minute * 60_000
    await tenant.recordEntry({ createdAt: at(0), action: 'pr_opened', ...pull })
    assert.equal((await getLive({ tenant }, id, '')).statusCode, 404)
    const merged = await tenant.recordEntry({ createdAt: at(1), action: 'pr_merged', ...pull })
    await tenant.recordEntry({ createdAt: at(2), action: 'pr_closed', ...pull })
    const { data } = (await getLive({ tenant }, id, '')).json()
    assert.deepEqual([data.entry.id, data.path, data.content], [merged.id, null, null])
  })

  test('an invalid time gets 422 and an unknown prompt 404', async () => {
    const tenant = await service.tenant()
    await tenant.recordEntry()
    for (const at of ['', 'now', '2026-11-15', '2026-11-15T12:00:00', '2026-02-30T00:00:00Z', '1700000000', '%00']) {
      const response = await getLive({ tenant }, tenant.prompt.publicId, `?at=${at}`)
      assertError(response, 422, 'validation_error', /^at must be an ISO 8601 time/)
    }
    assert.equal((await getLive({ tenant }, 'pmt_unknown', '')).statusCode, 404)
    assert.equal((await getLive({ tenant: await service.tenant() }, tenant.prompt.publicId, '')).statusCode, 404)
  })
})
