import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deploymentPageSchema, promptDeploymentPageSchema } from '../../../contract/deployments.ts'
import { assertError, assertMatchesSchema } from '../../../testing/assertions.ts'
import { type NewDeploymentBody, postDeployment } from '../../../testing/deployments.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { queryRows } from '../../../testing/rows.ts'
import { connectedScenario } from '../../../testing/scenario.ts'
import { type Tenant, useService } from '../../../testing/service.ts'
import { generateSecret, newApiKey } from '../../src/domain/access/api-key.ts'
import { operator } from '../../src/domain/access/audit.ts'

const [first, second] = ['a1'.repeat(20), 'b2'.repeat(20)] as const

onOneEngine('Deployments', (engine) => {
  const service = useService(engine)

  const get = ({ headers }: Pick<Tenant, 'headers'>, path: string) =>
    service.app.inject({ url: `/api/v1${path}`, headers })

  /** A prompt without a repository, with a change on each of the first two days of November. */
  async function submitted() {
    const tenant = await service.tenant('free', 'admin')
    const days = ['2026-11-01T00:00:00Z', '2026-11-02T00:00:00Z'].map(Date.parse) as [number, number]
    const one = await tenant.recordEntry({ commitSha: first, createdAt: days[0] })
    const two = await tenant.recordEntry({ commitSha: second, createdAt: days[1] })
    const path = `/prompts/${tenant.prompt.publicId}`
    const post = (body: NewDeploymentBody) => postDeployment(service, tenant, path, body)
    return { tenant, path, post, one, two }
  }

  test('a prompt without a repository is deployed by the commits of its entries', async () => {
    const { tenant, path, post, one, two } = await submitted()
    const live = async (at: string) => (await get(tenant, `${path}/live?at=${at}`)).json().data
    assert.equal((await live('2026-11-05T00:00:00Z')).entry.id, two.id)
    const response = await post({ commit_sha: first.toUpperCase(), at: '2026-11-04T00:00:00Z' })
    assert.equal(response.statusCode, 201, response.body)
    const { id, ...deployment } = response.json().data
    assert.deepEqual(deployment, {
      scope: 'prompt',
      environment: 'production',
      production: true,
      commit_sha: first,
      commit_state: 'located',
      state: 'success',
      share: 1,
      at: '2026-11-04T00:00:00.000Z',
      received_at: new Date(service.now).toISOString(),
      source: 'api',
      model: null,
      entry_id: one.id,
    })
    const now = await live('2026-11-05T00:00:00Z')
    assert.deepEqual([now.entry.id, now.live_source, now.environment], [one.id, 'deployment', 'production'])
    assert.equal((await live('2026-11-03T00:00:00Z')).live_source, 'merge')
    const early = await post({ commit_sha: 'c3'.repeat(20), at: '2026-11-06T00:00:00Z' })
    assert.deepEqual([early.json().data.commit_state, early.json().data.entry_id], ['pending', null])
    assert.equal((await live('2026-11-07T00:00:00Z')).entry.id, one.id)
    await tenant.recordEntry({ commitSha: 'c3'.repeat(20), createdAt: service.now - 1_000 })
    assert.equal((await live('2026-11-07T00:00:00Z')).entry.commit_sha, 'c3'.repeat(20))
    const listed = await get(tenant, `${path}/deployments`)
    assertMatchesSchema(promptDeploymentPageSchema, listed)
    assert.deepEqual(listed.json().data.at(-1), { id, ...deployment })
  })

  test('the same deployment reported twice is one', async () => {
    const { tenant, path, post } = await submitted()
    const at = '2026-11-04T00:00:00Z'
    const ids = new Set<number>()
    for (const body of [{ at }, { at: '2026-11-04T01:00:00+01:00' }, { at, share: 1 }]) {
      ids.add((await post({ commit_sha: first, ...body })).json().data.id)
    }
    assert.equal(ids.size, 1)
    const concurrent = await Promise.all(
      Array.from({ length: 5 }, () => post({ commit_sha: second, state: 'queued', environment: 'x' })),
    )
    assert.deepEqual(new Set(concurrent.map(({ statusCode }) => statusCode)), new Set([201]))
    assert.equal(new Set(concurrent.map((response) => response.json().data.id)).size, 1)
    service.now += 1_000
    const again = await post({ commit_sha: second, state: 'queued', environment: 'x' })
    assert.equal(again.json().data.id, concurrent[0]?.json().data.id, 'a retry without a time is the same deployment')
    await post({ commit_sha: second, state: 'success', environment: 'x' })
    service.now += 1_000
    const later = await post({ commit_sha: second, state: 'queued', environment: 'x' })
    assert.notEqual(later.json().data.id, again.json().data.id, 'something else came between')
    assert.equal((await get(tenant, `${path}/deployments`)).json().pagination.total_count, 4)
    const withModel = async (model: string) =>
      (await post({ commit_sha: second, state: 'queued', environment: 'x', model })).json().data.id
    const [one, other] = [await withModel('large-1'), await withModel('large-2')]
    assert.equal(new Set([later.json().data.id, one, other]).size, 3, 'another model is another deployment')
    assert.equal(await withModel('large-2'), other)
  })

  test('every field is validated, and a rejected deployment is not recorded', async () => {
    const { tenant, path, post } = await submitted()
    const future = new Date(service.now + 1).toISOString()
    const wrong: [NewDeploymentBody, RegExp][] = [
      [{ environment: undefined }, /^environment is required$/],
      [{ environment: '' }, /^environment must NOT have fewer than 1 characters$/],
      [{ environment: ' ' }, /^environment must not be empty$/],
      [{ environment: 'x'.repeat(256) }, /^environment must NOT have more than 255 characters$/],
      [{ environment: 'a\nb' }, /^environment must not contain control characters$/],
      [{ environment: 'prod\u200b' }, /^environment must not contain hidden characters/],
      [{ environment: 7 }, /^environment must be a string$/],
      [{ commit_sha: undefined }, /^commit_sha is required$/],
      [{ commit_sha: 'main' }, /^commit_sha must be the full commit hash/],
      [{ commit_sha: first.slice(0, 12) }, /^commit_sha must be the full commit hash/],
      [{ state: 'done' }, /^state must be "queued", "in_progress", "success", "failure" or "inactive"$/],
      [{ share: 0 }, /^share must be > 0$/],
      [{ share: 1.01 }, /^share must be <= 1$/],
      [{ share: 1e-9 }, /^share must be greater than 0 and at most 1$/],
      [{ share: '0.5' }, /^share must be a number$/],
      [{ share: null }, /^share must be a number$/],
      [{ model: '' }, /^model must NOT have fewer than 1 characters$/],
      [{ model: 'x'.repeat(201) }, /^model must NOT have more than 200 characters$/],
      [{ model: 'a\u001b[2J' }, /^model must not contain control characters$/],
      [{ model: 'a\u202e' }, /^model must not contain hidden characters/],
      [{ model: 7 }, /^model must be a string or null$/],
      [{ at: future }, /^at must not be in the future$/],
      [{ at: 'yesterday' }, /^at must be an ISO 8601 time/],
      [{ at: 1_762_000_000 }, /^at must be a string$/],
    ]
    for (const [body, message] of wrong) {
      const response = await post({ commit_sha: first, ...body })
      assertError(response, 422, 'validation_error')
      assert.match(response.json().error.message, message)
    }
    assert.equal((await get(tenant, `${path}/deployments`)).json().pagination.total_count, 0)
  })

  test('the deployments of a repository and of one of its prompts are listed in pages, newest first', async () => {
    const { tenant, repository, git, ...scenario } = await connectedScenario(service)
    const of = `/repositories/${repository.id}`
    const { publicId } = (await service.store.facts.prompts(repository))[0] as { publicId: string }
    const at = (hour: number) => `2026-11-04T${String(hour).padStart(2, '0')}:00:00.000Z`
    const body = (hour: number) => ({ commit_sha: git.head(), at: at(hour) })
    for (const hour of [3, 1, 5]) await postDeployment(service, tenant, of, body(hour))
    await postDeployment(service, tenant, `/prompts/${publicId}`, body(4))
    const page = await get(tenant, `${of}/deployments?limit=2`)
    assertMatchesSchema(deploymentPageSchema, page)
    const times = (response: { json(): { data: { at: string }[] } }) => response.json().data.map((each) => each.at)
    assert.deepEqual(times(page), [at(5), at(3)])
    assert.deepEqual(page.json().pagination, { current_page: 1, total_pages: 2, total_count: 3, per_page: 2 })
    assert.deepEqual(times(await get(tenant, `${of}/deployments?limit=2&page=2`)), [at(1)])
    const ofPrompt = await get(tenant, `/prompts/${publicId}/deployments?limit=3`)
    assert.deepEqual(times(ofPrompt), [at(5), at(4), at(3)])
    assert.equal(ofPrompt.json().pagination.total_count, 4)
    const scopes = ofPrompt.json().data.map(({ scope }: { scope: string }) => scope)
    assert.deepEqual(scopes, ['repository', 'prompt', 'repository'])
    void scenario
  })

  test('a key that is limited to prompts reports deployments of those only', async () => {
    const scenario = await connectedScenario(service)
    const { tenant, repository, git } = scenario
    const secret = generateSecret()
    const terms = { organisationId: tenant.organisation.id, name: 'ci', createdAt: service.now, expiresAt: null }
    await service.store.keys.create(newApiKey(secret, { ...terms, role: 'recorder', prompts: '**/p.md' }), operator)
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
    const payload = JSON.stringify({ environment: 'production', state: 'success', commit_sha: git.head() })
    const post = (path: string) =>
      service.app.inject({ method: 'POST', url: `/api/v1${path}/deployments`, headers, payload })
    assertError(await post(`/repositories/${repository.id}`), 403, 'forbidden')
    assert.equal((await post(`/prompts/${await scenario.promptId('prompts/p.md')}`)).statusCode, 201)
    assertError(await post(`/prompts/${await scenario.promptId('prompts/q.md')}`), 404, 'not_found')
  })

  test('beyond the newest 10,000 that decide what is live and 1,000 others, the oldest are deleted', async () => {
    const { tenant, path, post } = await submitted()
    const fill = (state: string, count: number) =>
      queryRows(
        service.url,
        `insert into deployments (organisation_id, prompt_id, dedupe_key, environment, production, commit_sha, state, share, at,
           received_at, source)
         with recursive numbers(i) as (select 1 union all select i + 1 from numbers where i < ${count})
         select ${tenant.organisation.id}, ${tenant.prompt.id}, '${state} ' || i, 'production', 1, '${first}', '${state}',
           1000000, 1000 + i, 1, 'api' from numbers`,
      )
    await fill('success', 10_000)
    await fill('queued', 1_000)
    await post({ commit_sha: second })
    await post({ commit_sha: second, state: 'in_progress' })
    assert.equal((await get(tenant, `${path}/deployments`)).json().pagination.total_count, 11_000)
    const rows = await queryRows(
      service.url,
      `select state, min(at) as oldest from deployments where prompt_id = ${tenant.prompt.id} group by state order by state`,
    )
    const oldest = new Map(rows.map((row) => [row.state, Number(row.oldest)]))
    assert.deepEqual([oldest.get('success'), oldest.get('queued')], [1_002, 1_002])
  })

  test('a deployment is audited with the key that reported it', async () => {
    const { tenant, post } = await submitted()
    const { id } = (await post({ commit_sha: first })).json().data
    await post({ commit_sha: first })
    const { data } = (await get(tenant, '/audit?action=deployment.recorded')).json()
    assert.equal(data.length, 1)
    assert.deepEqual(
      [data[0].subject, data[0].details],
      [
        { id: String(id), name: 'production' },
        { prompt: tenant.prompt.publicId, commit_sha: first, state: 'success' },
      ],
    )
  })

  test('a disconnected repository takes no deployments', async () => {
    const { tenant, repository, git } = await connectedScenario(service)
    await service.store.repositories.disconnect(repository, service.now, operator)
    const response = await postDeployment(service, tenant, `/repositories/${repository.id}`, { commit_sha: git.head() })
    assertError(response, 409, 'conflict')
  })

  test('a deployment whose commit is unknown requests a sync', async () => {
    const { tenant, repository } = await connectedScenario(service)
    const dueAt = async () => (await service.store.repositories.find(repository.id))?.dueAt as number
    await service.store.repositories.wake(repository, service.now + 1_000_000)
    const path = `/repositories/${repository.id}`
    await postDeployment(service, tenant, path, { commit_sha: first, environment: 'staging' })
    assert.ok((await dueAt()) > service.now)
    await postDeployment(service, tenant, path, { commit_sha: first })
    assert.ok((await dueAt()) <= service.now)
  })
})
