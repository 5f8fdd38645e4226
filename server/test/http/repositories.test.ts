import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { LightMyRequestResponse } from 'fastify'
import { connectedSchema, oneRepositorySchema, repositoryPageSchema } from '../../../contract/repositories.ts'
import { assertError, assertMatchesSchema } from '../../../testing/assertions.ts'
import { onTestEnd } from '../../../testing/cleanup.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { GitRepository } from '../../../testing/git-repository.ts'
import { deliveriesFrom } from '../../../testing/payloads/deliveries.ts'
import { useService } from '../../../testing/service.ts'
import type { Repository } from '../../src/domain/repositories/repository.ts'
import { syncOnce } from '../../src/follow/worker.ts'
import { toConnectedBody } from '../../src/http/repositories/body.ts'
import { createRemote, type Method, repositoryClient } from './repository-client.ts'

const token = 'ghp_SECRETTOKEN0123456789'

onOneEngine('Repositories', (engine) => {
  const service = useService(engine)
  const { admin, connect, deliver, ping, request } = repositoryClient(service)
  let git: GitRepository
  before(() => {
    git = createRemote()
  })

  test('connecting returns the prompts, the number of entries, the webhook and the set-up steps', async () => {
    const tenant = await admin()
    const body = { forge: 'github', url: git.remote, path: 'prompts/**', token: null, similarity: 60, ignored: true }
    const response = await request(tenant, 'POST', '', body)
    assert.equal(response.statusCode, 201)
    assert.equal(response.headers['content-type'], 'application/json; charset=utf-8')
    assertMatchesSchema(connectedSchema, response)
    const { id, webhook_url, webhook_secret, set_up, prompts, ...rest } = response.json().data
    assert.deepEqual(rest, {
      forge: 'github',
      url: git.remote,
      path: 'prompts/**',
      default_branch: 'main',
      state: 'following',
      incomplete: false,
      unread_pulls_below: null,
      last_delivery_at: null,
      rejected_deliveries: 0,
      last_rejected_at: null,
      last_rejection: null,
      last_sync_at: '2026-11-15T12:00:00.000Z',
      sync_age_seconds: 0,
      stale: false,
      last_error: null,
      ssh_public_key: null,
      ssh_host_key: null,
      production_environments: null,
      reports_on_pulls: false,
      report_error: null,
      delivery_error: null,
      proposes_reverts: false,
      opens_issues: false,
      briefs_pulls: false,
      created_at: '2026-11-15T12:00:00.000Z',
      entries: 3,
      warnings: [],
    })
    assert.match(webhook_url, /^https:\/\/ledger\.example\/webhooks\/[0-9A-Za-z]{24}$/)
    assert.deepEqual(set_up, [], 'a folder needs no webhook')
    const [repository] = await service.store.repositories.list(tenant.organisation.id)
    const onForge = { ...(repository as Repository), url: 'https://github.com/acme/prompts.git' }
    const connected = { repository: onForge, secret: webhook_secret, prompts: [], entryCount: 0 }
    const steps = toConnectedBody(
      { ...connected, backfillError: null, warnings: [] },
      'https://ledger.example',
      service.now,
    ).set_up
    assert.equal(steps.length, 4)
    assert.ok(steps.join('\n').includes(webhook_url) && steps.join('\n').includes(webhook_secret))
    assert.deepEqual(
      prompts.map(({ path }: { path: string }) => path),
      ['prompts/p.md', 'prompts/q.md'],
    )
    const { data } = (
      await service.app.inject({ url: `/api/v1/prompts/${prompts[0].id}/history`, headers: tenant.headers })
    ).json()
    assert.deepEqual(
      data.map(({ commit_sha }: { commit_sha: string }) => commit_sha),
      [git.head(), git.head('HEAD~1')],
    )
    assert.equal(
      await deliver({ id, webhook_url, webhook_secret, prompts, entries: 3, warnings: [] }, ping(response.json().data)),
      202,
    )
  })

  test('a file that is moved and edited keeps its prompt if half of it stays the same, unless another share is given', async () => {
    const [tenant, git] = [await admin(), new GitRepository()]
    const lines = Array.from({ length: 20 }, (_, i) => `Line ${i}\n`)
    git.commit('Start', { 'prompts/p.md': lines.join('') })
    git.commit('Move and edit', { 'prompts/p.md': null, 'prompts/q.md': lines.with(3, 'Other\n').join('') })
    git.push()
    assert.equal((await connect(tenant, git)).prompts.length, 1)
    assert.equal((await connect(await admin(), git, { similarity: 100 })).prompts.length, 2)
  })

  test('a repository without commits can be connected, and is read after its first push', async () => {
    const [tenant, git] = [await admin(), new GitRepository()]
    const connected = await connect(tenant, git)
    assert.deepEqual([connected.prompts, connected.entries], [[], 0])
    git.commit('Start', { 'prompts/p.md': 'Be kind.\n' })
    git.push()
    await request(tenant, 'POST', `/${connected.id}/sync`)
    await syncOnce(service.syncContext, connected.id)
    const { data } = (await request(tenant, 'GET', `/${connected.id}`)).json()
    assert.deepEqual([data.default_branch, data.state], ['main', 'following'])
  })

  test('repositories are listed page by page, without those of other organisations', async () => {
    const [tenant, other] = [await admin(), await admin()]
    const ids: number[] = []
    for (const path of ['prompts/p.md', 'prompts/q.md', '*.md']) ids.push((await connect(tenant, git, { path })).id)
    await connect(other, git)
    const all = await request(tenant, 'GET', '')
    assert.equal(all.statusCode, 200)
    assertMatchesSchema(repositoryPageSchema, all)
    const idsOf = (response: LightMyRequestResponse) => response.json().data.map(({ id }: { id: number }) => id)
    assert.deepEqual(idsOf(all), ids)
    assert.deepEqual(all.json().pagination, { current_page: 1, total_pages: 1, total_count: 3, per_page: 25 })
    const second = await request(tenant, 'GET', '?limit=2&page=2')
    assert.deepEqual(idsOf(second), ids.slice(2))
    assert.deepEqual(second.json().pagination, { current_page: 2, total_pages: 2, total_count: 3, per_page: 2 })
    assert.deepEqual(idsOf(await request(tenant, 'GET', `?page=${'9'.repeat(30)}`)), [])
  })

  test('a repository shows the number of its prompts and of their entries', async () => {
    const [tenant, git] = [await admin(), createRemote()]
    const { id, prompts } = await connect(tenant, git)
    await connect(tenant, git, { path: 'nowhere/*' })
    const sizeOf = (body: { prompt_count: number; entry_count: number }) => [body.prompt_count, body.entry_count]
    const one = async () => sizeOf((await request(tenant, 'GET', `/${id}`)).json().data)
    const list = await request(tenant, 'GET', '')
    assert.deepEqual(list.json().data.map(sizeOf), [
      [2, 3],
      [0, 0],
    ])
    assert.deepEqual(await one(), [2, 3])
    git.commit('Be kindest', { 'prompts/p.md': 'Be most kind.\n', 'prompts/r.md': 'Be fair.\n' })
    git.push()
    const requested = await request(tenant, 'POST', `/${id}/sync`)
    assert.deepEqual(sizeOf(requested.json().data), [2, 3])
    await syncOnce(service.syncContext, id)
    assert.deepEqual(await one(), [3, 5])
    const deleted = await service.app.inject({
      method: 'DELETE',
      url: `/api/v1/prompts/${prompts[0]?.id}`,
      headers: tenant.headers,
    })
    assert.equal(deleted.statusCode, 204)
    assert.deepEqual(await one(), [2, 2])
  })

  test('a repository shows its last delivery, its last sync and why that failed', async () => {
    const [tenant, git] = [await admin(), createRemote()]
    const connected = await connect(tenant, git)
    service.now += 1_000
    const push = deliveriesFrom('github', connected.webhook_secret).push({ before: null, after: git.head() })
    assert.equal(await deliver(connected, push), 202)
    git.remove()
    await assert.rejects(syncOnce(service.syncContext, connected.id))
    const response = await request(tenant, 'GET', `/${connected.id}`)
    assert.equal(response.statusCode, 200)
    assertMatchesSchema(oneRepositorySchema, response)
    const { state, last_delivery_at, last_sync_at, last_error } = response.json().data
    assert.equal(state, 'failing')
    assert.equal(Date.parse(last_delivery_at), service.now)
    assert.equal(Date.parse(last_sync_at), service.now - 1_000)
    assert.match(last_error, /^git (fetch|ls-remote): the repository does not exist, or the server requires/)
  })

  test('a requested sync is due immediately', async () => {
    const tenant = await admin()
    const { id } = await connect(tenant, git)
    assert.ok(!(await service.store.repositories.due(service.now)).some((due) => due.id === id))
    const response = await request(tenant, 'POST', `/${id}/sync`)
    assert.equal(response.statusCode, 202)
    assertMatchesSchema(oneRepositorySchema, response)
    assert.equal(response.json().data.id, id)
    assert.ok((await service.store.repositories.due(service.now)).some((due) => due.id === id))
  })

  test("every repository route requires an admin key of the repository's organisation", async () => {
    const [tenant, other] = [await admin(), await admin()]
    const connected = await connect(tenant, git)
    assert.equal(await deliver(connected, ping(connected)), 202)
    const [delivery] = (await request(tenant, 'GET', `/${connected.id}/deliveries`)).json().data
    const body = { forge: 'github', url: git.remote, path: '*' }
    const below = (id: string | number): [Method, string][] => [
      ['GET', `/${id}`],
      ['DELETE', `/${id}`],
      ['POST', `/${id}/sync`],
      ['POST', `/${id}/rotate-secret`],
      ['GET', `/${id}/deliveries`],
      ['POST', `/${id}/deliveries/${delivery.id}/redeliver`],
    ]
    const routes: [Method, string, object?][] = [['GET', ''], ['POST', '', body], ...below(connected.id)]
    const keys = await Promise.all(
      (['standard', 'ingest'] as const).map((role) => service.key(tenant.organisation, role)),
    )
    for (const [method, path, payload] of routes) {
      const where = `${method} ${path}`
      const rejected = await request({ headers: {} }, method, path, payload)
      assert.deepEqual([rejected.statusCode, rejected.json().error.code], [401, 'unauthorized'], where)
      for (const key of keys) {
        const response = await request({ headers: { authorization: `Bearer ${key}` } }, method, path, payload)
        assert.deepEqual([response.statusCode, response.json().error.code], [403, 'forbidden'], where)
      }
    }
    for (const id of [999_999, 'x', '0', '-1', '1.0', '01', '9'.repeat(30), '%00']) {
      for (const [method, path] of below(id)) assert.equal((await request(tenant, method, path)).statusCode, 404, path)
    }
    for (const [method, path] of below(connected.id)) {
      const response = await request(other, method, path)
      assert.deepEqual([response.statusCode, response.json().error.code], [404, 'not_found'], path)
    }
    const theirs = await connect(other, git)
    for (const id of [delivery.id, 'x', '0']) {
      const response = await request(other, 'POST', `/${theirs.id}/deliveries/${id}/redeliver`)
      assert.equal(response.statusCode, 404, 'a delivery of another repository')
    }
    const { data } = (await request(tenant, 'GET', `/${connected.id}`)).json()
    assert.equal(data.state, 'following', 'a key of another organisation disconnected it')
  })

  test('a repository can be connected once per path and organisation', async () => {
    const [tenant, other] = [await admin(), await admin()]
    await connect(tenant, git)
    const again = await request(tenant, 'POST', '', { forge: 'github', url: git.remote, path: 'prompts/**' })
    assertError(again, 409, 'conflict')
    await connect(tenant, git, { path: '*.md' })
    await connect(other, git)
  })

  test('an invalid body is rejected with the name of the field, and connects nothing', async () => {
    const tenant = await admin()
    const valid = { forge: 'github', url: git.remote, path: 'prompts/**' }
    const invalid: [object, RegExp][] = [
      [{}, /^forge is required/],
      [{ ...valid, forge: undefined }, /^forge is required/],
      [{ ...valid, forge: 'svn' }, /^forge must be "github", "gitlab", "gitea", "forgejo" or "bitbucket"/],
      [{ ...valid, url: undefined }, /^url is required/],
      [{ ...valid, url: 5 }, /^url must be a string/],
      [{ ...valid, url: '' }, /^url must not be empty/],
      [{ ...valid, url: 'ext::sh -c id' }, /^url must be an https/],
      [{ ...valid, url: 'https://me:pass@h/r.git' }, /^url must not contain a user name or password/],
      [{ ...valid, url: `${git.folder}/nothing` }, /^url cannot be read: /],
      [{ ...valid, url: 'https://127.0.0.1:1/r.git', token }, /^url cannot be read: /],
      [{ ...valid, path: undefined }, /^path is required/],
      [{ ...valid, path: '' }, /^path must not be empty/],
      [{ ...valid, path: '/prompts/*' }, /^path must be relative to the root/],
      [{ ...valid, path: 'prompts/../*' }, /^path must be relative to the root/],
      [{ ...valid, path: 'a\nb' }, /^path must not contain control characters/],
      [{ ...valid, token: 5 }, /^token must be a string or null/],
      [{ ...valid, similarity: 0 }, /^similarity must be/],
      [{ ...valid, similarity: 101 }, /^similarity must be/],
      [{ ...valid, similarity: 1.5 }, /^similarity must be/],
      [[valid], /^The body must be a JSON object/],
    ]
    for (const [body, message] of invalid) {
      const response = await request(tenant, 'POST', '', body)
      assertError(response, 422, 'validation_error', message)
      assert.ok(!response.body.includes(token))
    }
    assert.equal((await request(tenant, 'GET', '')).json().pagination.total_count, 0)
    assert.ok(!service.log.join('').includes(token))
  })

  test('a folder on this machine is rejected unless the settings allow it', async () => {
    const tenant = await admin()
    service.syncContext.allowLocal = false
    onTestEnd(() => {
      service.syncContext.allowLocal = true
    })
    for (const url of [git.remote, `file://${git.remote}`, `./${git.remote}`, '~/r.git']) {
      const response = await request(tenant, 'POST', '', { forge: 'github', url, path: 'prompts/**' })
      assertError(response, 422, 'validation_error', /^url must /)
    }
  })
})
