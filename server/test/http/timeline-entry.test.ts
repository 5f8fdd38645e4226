import assert from 'node:assert/strict'
import { test } from 'node:test'
import { timelineEntryResponseSchema } from '../../../contract/impact.ts'
import { assertError, assertMatchesSchema } from '../../../testing/assertions.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { connectedScenario } from '../../../testing/scenario.ts'
import { type Tenant, useService } from '../../../testing/service.ts'
import { inBatches, signalFor } from '../../../testing/signals.ts'
import { day, isoTime } from '../../src/domain/time.ts'

const pull = { prNumber: 7, prUrl: 'https://example.com/7' }

onOneEngine('An entry of the timeline', (engine) => {
  const service = useService(engine)

  function get({ headers }: Pick<Tenant, 'headers'>, url: string) {
    return service.app.inject({ url, headers })
  }

  async function entry(tenant: Tenant, id: number, query = '', path = tenant.path) {
    const response = await get(tenant, `${path}/timeline/${id}${query}`)
    assert.equal(response.statusCode, 200, response.body)
    assertMatchesSchema(timelineEntryResponseSchema, response)
    return response.json().data
  }

  /** A prompt with a change a day, and votes on each: fewer and fewer are positive. */
  async function promptWithVotes(changes: number, role: 'standard' | 'admin' = 'standard'): Promise<Tenant> {
    const tenant = await service.tenant('business', role)
    const start = service.now - changes * day
    for (let i = 0; i < changes; i++) {
      const at = start + i * day
      await tenant.recordEntry({ createdAt: at, branchName: `b${i}` })
      await tenant.recordEntry({ createdAt: at + 1, action: 'pr_opened', ...pull, prNumber: i + 1 })
      const votes = Array.from({ length: 40 }, (_, vote) =>
        signalFor(tenant, { createdAt: at + 60_000 * vote, value: vote < 36 - 4 * i ? 'positive' : 'negative' }),
      )
      await service.store.signals.import(inBatches(votes))
    }
    return tenant
  }

  test('an entry of any age is the same as in the list, with its impact', async () => {
    const tenant = await promptWithVotes(6)
    const { data } = (await get(tenant, `${tenant.path}/timeline?limit=100`)).json()
    assert.equal(data.length, 12)
    for (const item of data) assert.deepEqual(await entry(tenant, item.entry.id), item)
    assert.ok(data.some(({ impact }: { impact: { after: { positive: number } } | null }) => impact?.after.positive))
    const as_of = isoTime(service.now - 3 * day + day / 2)
    const { data: past } = (await get(tenant, `${tenant.path}/timeline?limit=100&as_of=${as_of}`)).json()
    assert.equal(past.length, 8)
    for (const item of past) assert.deepEqual(await entry(tenant, item.entry.id, `?as_of=${as_of}`), item)
    const later = await get(tenant, `${tenant.path}/timeline/${data[0].entry.id}?as_of=${as_of}`)
    assertError(later, 404, 'not_found', /./)
  })

  test('by adds the same segments as the impact has, and null where there are none', async () => {
    const tenant = await promptWithVotes(3, 'admin')
    const { headers } = tenant
    const payload = { keys: ['model'] }
    await service.app.inject({ method: 'PUT', url: '/api/v1/segments', headers, payload })
    const by = '?by=metadata.model'
    const { data } = (await get(tenant, `${tenant.path}/impact${by}`)).json()
    assert.equal(data[0].segments.key, 'model')
    assert.equal(data.at(-1).segments, null)
    for (const { entry: each, segments } of data) {
      assert.deepEqual((await entry(tenant, each.id, by)).segments, segments)
      assert.equal('segments' in (await entry(tenant, each.id)), false)
    }
    const opened = (await get(tenant, `${tenant.path}/timeline?action=pr_opened&limit=1`)).json().data[0]
    assert.deepEqual(await entry(tenant, opened.entry.id, by), { ...opened, segments: null })
  })

  test('an entry from git has its message and the URL of its commit', async () => {
    const scenario = await connectedScenario(service, {
      prepare(git) {
        git.commit('Start', { 'prompts/p.md': 'Be kind.\n' })
        git.push()
      },
    })
    const path = `/api/v1/prompts/${await scenario.promptId('prompts/p.md')}`
    const [listed] = (await get(scenario.tenant, `${path}/timeline`)).json().data
    assert.ok(listed.commit_url.endsWith(`/commit/${listed.entry.commit_sha}`))
    assert.deepEqual(await entry(scenario.tenant, listed.entry.id, '', path), listed)
  })

  test('an entry of another prompt, an unknown one and a malformed ID are not found, and invalid parameters are named', async () => {
    const [tenant, other] = [await service.tenant(), await service.tenant()]
    const [own, theirs] = [await tenant.recordEntry(), await other.recordEntry()]
    for (const id of [theirs.id, 987654321, 0, -1, '1e3', 'x', '9'.repeat(30)]) {
      assertError(await get(tenant, `${tenant.path}/timeline/${id}`), 404, 'not_found', /./)
    }
    assertError(await get(tenant, `${other.path}/timeline/${theirs.id}`), 404, 'not_found', /./)
    const url = `${tenant.path}/timeline/${own.id}`
    assertError(await get(tenant, `${url}?by=model`), 422, 'validation_error', /^by must be metadata\./)
    assertError(await get(tenant, `${url}?by=metadata.model`), 422, 'validation_error', /not declared/)
    assertError(await get(tenant, `${url}?as_of=soon`), 422, 'validation_error', /^as_of must be/)
  })
})
