import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { LightMyRequestResponse } from 'fastify'
import { assertMatchesSchema } from '../../../testing/assertions.ts'
import { onEachEngine } from '../../../testing/engines.ts'
import { GitRepository } from '../../../testing/git-repository.ts'
import { deliveries } from '../../../testing/payloads.ts'
import { queryRows, type Tenant, useService } from '../../../testing/service.ts'
import { syncOnce } from '../../src/follow/worker.ts'
import {
  connectedSchema,
  deliveryPageSchema,
  oneDeliverySchema,
  oneRepositorySchema,
  repositoryPageSchema,
  rotatedSecretSchema,
} from '../../src/http/repositories/schema.ts'

interface Connected {
  id: number
  webhook_url: string
  webhook_secret: string
  prompts: { id: string; path: string }[]
  entries: number
}

type Method = 'GET' | 'POST' | 'DELETE'

const token = 'ghp_SECRETTOKEN0123456789'
const day = 24 * 3_600_000

/** Two prompts, one of which was changed once more: three entries. */
function remote(): GitRepository {
  const git = new GitRepository()
  git.commit('Start', { 'prompts/p.md': 'Be kind.\n', 'prompts/q.md': 'Be brief.\n', 'README.md': 'x\n' })
  git.commit('Be kinder', { 'prompts/p.md': 'Be very kind.\n' })
  git.push()
  return git
}

/** One that the test may change. */
function ownRemote(): GitRepository {
  const git = remote()
  after(() => git.remove())
  return git
}

onEachEngine('Repositories over HTTP', (engine) => {
  const service = useService(engine)
  let git: GitRepository
  before(() => {
    git = remote()
  })
  after(() => git.remove())
  const admin = () => service.tenant('free', 'admin')

  function ask(tenant: Pick<Tenant, 'headers'>, method: Method, path: string, body?: object) {
    return service.app.inject({
      method,
      url: `/api/v1/repositories${path}`,
      headers: tenant.headers,
      ...(body === undefined ? {} : { payload: body }),
    })
  }

  async function connect(tenant: Tenant, git: GitRepository, more: object = {}): Promise<Connected> {
    const body = { forge: 'github', url: git.remote, path: 'prompts/**', ...more }
    const response = await ask(tenant, 'POST', '', body)
    assert.equal(response.statusCode, 201, response.body)
    return response.json().data
  }

  /** What a forge sends, signed with the secret. */
  async function deliver({ webhook_url }: Connected, { headers, body }: ReturnType<typeof ping>): Promise<number> {
    const url = new URL(webhook_url).pathname
    return (await service.app.inject({ method: 'POST', url, headers, payload: body })).statusCode
  }
  const ping = ({ webhook_secret }: Connected) => deliveries('github', webhook_secret).ping()

  async function historyOf(tenant: Tenant, { prompts }: Connected) {
    const pages = prompts.map(({ id }) =>
      service.app.inject({ url: `/api/v1/prompts/${id}/history`, headers: tenant.headers }),
    )
    return (await Promise.all(pages)).map((page) => page.json().data)
  }

  test('connecting answers with the prompts, the number of entries, the webhook and what to click', async () => {
    const tenant = await admin()
    const body = { forge: 'github', url: git.remote, path: 'prompts/**', token: null, similarity: 60, ignored: true }
    const response = await ask(tenant, 'POST', '', body)
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
      last_delivery_at: null,
      last_sync_at: '2026-11-15T12:00:00.000Z',
      last_error: null,
      created_at: '2026-11-15T12:00:00.000Z',
      entries: 3,
    })
    assert.match(webhook_url, /^https:\/\/ledger\.example\/webhooks\/[0-9A-Za-z]{24}$/)
    assert.equal(set_up.length, 4)
    assert.ok(set_up.join('\n').includes(webhook_url) && set_up.join('\n').includes(webhook_secret))
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
      await deliver({ id, webhook_url, webhook_secret, prompts, entries: 3 }, ping(response.json().data)),
      202,
    )
  })

  test('a repository without a commit can be connected and says that it has no default branch yet', async () => {
    const [tenant, git] = [await admin(), new GitRepository()]
    after(() => git.remove())
    const connected = await connect(tenant, git)
    assert.deepEqual([connected.prompts, connected.entries], [[], 0])
    git.commit('Start', { 'prompts/p.md': 'Be kind.\n' })
    git.push()
    await ask(tenant, 'POST', `/${connected.id}/sync`)
    await syncOnce(service.syncContext, connected.id)
    const { data } = (await ask(tenant, 'GET', `/${connected.id}`)).json()
    assert.deepEqual([data.default_branch, data.state], ['main', 'following'])
  })

  test('lists the repositories of the organisation page by page, and none of others', async () => {
    const [tenant, other] = [await admin(), await admin()]
    const ids: number[] = []
    for (const path of ['prompts/p.md', 'prompts/q.md', '*.md']) ids.push((await connect(tenant, git, { path })).id)
    await connect(other, git)
    const all = await ask(tenant, 'GET', '')
    assert.equal(all.statusCode, 200)
    assertMatchesSchema(repositoryPageSchema, all)
    const idsOf = (response: LightMyRequestResponse) => response.json().data.map(({ id }: { id: number }) => id)
    assert.deepEqual(idsOf(all), ids)
    assert.deepEqual(all.json().pagination, { current_page: 1, total_pages: 1, total_count: 3, per_page: 25 })
    const second = await ask(tenant, 'GET', '?limit=2&page=2')
    assert.deepEqual(idsOf(second), ids.slice(2))
    assert.deepEqual(second.json().pagination, { current_page: 2, total_pages: 2, total_count: 3, per_page: 2 })
    assert.deepEqual(idsOf(await ask(tenant, 'GET', `?page=${'9'.repeat(30)}`)), [])
  })

  test('tells how many prompts have their file in a repository, and how many entries those have', async () => {
    const [tenant, git] = [await admin(), ownRemote()]
    const { id, prompts } = await connect(tenant, git)
    await connect(tenant, git, { path: 'nowhere/*' })
    const sizeOf = (body: { prompt_count: number; entry_count: number }) => [body.prompt_count, body.entry_count]
    const one = async () => sizeOf((await ask(tenant, 'GET', `/${id}`)).json().data)
    const list = await ask(tenant, 'GET', '')
    assert.deepEqual(list.json().data.map(sizeOf), [
      [2, 3],
      [0, 0],
    ])
    assert.deepEqual(await one(), [2, 3])
    git.commit('Be kindest', { 'prompts/p.md': 'Be most kind.\n', 'prompts/r.md': 'Be fair.\n' })
    git.push()
    const asked = await ask(tenant, 'POST', `/${id}/sync`)
    assert.deepEqual(sizeOf(asked.json().data), [2, 3])
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

  test('tells of one repository its last delivery, its last sync and why that failed', async () => {
    const [tenant, git] = [await admin(), ownRemote()]
    const connected = await connect(tenant, git)
    service.now += 1_000
    const push = deliveries('github', connected.webhook_secret).push({ before: null, after: git.head() })
    assert.equal(await deliver(connected, push), 202)
    git.remove()
    await assert.rejects(syncOnce(service.syncContext, connected.id))
    const response = await ask(tenant, 'GET', `/${connected.id}`)
    assert.equal(response.statusCode, 200)
    assertMatchesSchema(oneRepositorySchema, response)
    const { state, last_delivery_at, last_sync_at, last_error } = response.json().data
    assert.equal(state, 'failing')
    assert.equal(Date.parse(last_delivery_at), service.now)
    assert.equal(Date.parse(last_sync_at), service.now - 1_000)
    assert.match(last_error, /^git (fetch|ls-remote): .*does not appear to be a git repository/)
  })

  test('a sync that was asked for is due at once', async () => {
    const tenant = await admin()
    const { id } = await connect(tenant, git)
    assert.ok(!(await service.store.repositories.due(service.now)).includes(id))
    const response = await ask(tenant, 'POST', `/${id}/sync`)
    assert.equal(response.statusCode, 202)
    assertMatchesSchema(oneRepositorySchema, response)
    assert.equal(response.json().data.id, id)
    assert.ok((await service.store.repositories.due(service.now)).includes(id))
  })

  test('rotating gives a new secret once, and says how long the old one counts on', async () => {
    const tenant = await admin()
    const connected = await connect(tenant, git)
    const response = await ask(tenant, 'POST', `/${connected.id}/rotate-secret`)
    assert.equal(response.statusCode, 200)
    assertMatchesSchema(rotatedSecretSchema, response)
    const { webhook_url, webhook_secret, old_secret_until } = response.json().data
    assert.equal(webhook_url, connected.webhook_url)
    assert.notEqual(webhook_secret, connected.webhook_secret)
    assert.equal(Date.parse(old_secret_until), service.now + day)
  })

  test('lists deliveries, newest first and page by page, and has one worked on once more', async () => {
    const tenant = await admin()
    const connected = await connect(tenant, git)
    const path = `/${connected.id}/deliveries`
    const forge = deliveries('github', connected.webhook_secret)
    assert.deepEqual((await ask(tenant, 'GET', path)).json().data, [])
    for (const sent of [forge.ping(), forge.push({ before: null, after: git.head() }), forge.ping()]) {
      assert.equal(await deliver(connected, sent), 202)
    }
    const pending = await ask(tenant, 'GET', path)
    assert.equal(pending.statusCode, 200)
    assertMatchesSchema(deliveryPageSchema, pending)
    const statesOf = (response: LightMyRequestResponse) =>
      response.json().data.map(({ event, state }: { event: string; state: string }) => `${event} ${state}`)
    assert.deepEqual(statesOf(pending), ['ping pending', 'push pending', 'ping pending'])
    await syncOnce(service.syncContext, connected.id)
    const worked = await ask(tenant, 'GET', path)
    assert.deepEqual(statesOf(worked), ['ping ignored', 'push done', 'ping ignored'])
    const now = new Date(service.now).toISOString()
    const [, push] = worked.json().data
    const { id, ...facts } = push
    const once = { event: 'push', attempts: 1, error: null, received_at: now, next_attempt_at: null, finished_at: now }
    assert.deepEqual(facts, { ...once, state: 'done' })

    const page = (await ask(tenant, 'GET', `${path}?limit=1&page=2`)).json()
    assert.deepEqual(page.data, [push])
    assert.deepEqual(page.pagination, { current_page: 2, total_pages: 3, total_count: 3, per_page: 1 })

    service.now += 1_000
    const again = await ask(tenant, 'POST', `${path}/${id}/redeliver`)
    assert.equal(again.statusCode, 202)
    assertMatchesSchema(oneDeliverySchema, again)
    assert.partialDeepStrictEqual(again.json().data, { id, state: 'pending', attempts: 0, finished_at: null })
    assert.ok((await service.store.repositories.due(service.now)).includes(connected.id))
    await syncOnce(service.syncContext, connected.id)
    assert.deepEqual(statesOf(await ask(tenant, 'GET', path)), ['ping ignored', 'push done', 'ping ignored'])
  })

  test('every route is for admin keys of the organisation alone', async () => {
    const [tenant, other] = [await admin(), await admin()]
    const connected = await connect(tenant, git)
    assert.equal(await deliver(connected, ping(connected)), 202)
    const [delivery] = (await ask(tenant, 'GET', `/${connected.id}/deliveries`)).json().data
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
      const refused = await ask({ headers: {} }, method, path, payload)
      assert.deepEqual([refused.statusCode, refused.json().error.code], [401, 'unauthorized'], where)
      for (const key of keys) {
        const response = await ask({ headers: { authorization: `Bearer ${key}` } }, method, path, payload)
        assert.deepEqual([response.statusCode, response.json().error.code], [403, 'forbidden'], where)
      }
    }
    for (const id of [999_999, 'x', '0', '-1', '1.0', '01', '9'.repeat(30), '%00']) {
      for (const [method, path] of below(id)) assert.equal((await ask(tenant, method, path)).statusCode, 404, path)
    }
    for (const [method, path] of below(connected.id)) {
      const response = await ask(other, method, path)
      assert.deepEqual([response.statusCode, response.json().error.code], [404, 'not_found'], path)
    }
    const theirs = await connect(other, git)
    for (const id of [delivery.id, 'x', '0']) {
      const response = await ask(other, 'POST', `/${theirs.id}/deliveries/${id}/redeliver`)
      assert.equal(response.statusCode, 404, 'a delivery of another repository')
    }
    const { data } = (await ask(tenant, 'GET', `/${connected.id}`)).json()
    assert.equal(data.state, 'following', 'somebody else disconnected it')
  })

  test('the same repository with the same path can be connected once, and with another path beside it', async () => {
    const [tenant, other] = [await admin(), await admin()]
    await connect(tenant, git)
    const again = await ask(tenant, 'POST', '', { forge: 'github', url: git.remote, path: 'prompts/**' })
    assert.deepEqual([again.statusCode, again.json().error.code], [409, 'conflict'])
    await connect(tenant, git, { path: '*.md' })
    await connect(other, git)
  })

  test('a body that makes no sense is refused with the name of what is wrong, and connects nothing', async () => {
    const tenant = await admin()
    const right = { forge: 'github', url: git.remote, path: 'prompts/**' }
    const wrong: [object, RegExp][] = [
      [{}, /^forge must be given/],
      [{ ...right, forge: undefined }, /^forge must be given/],
      [{ ...right, forge: 'svn' }, /^forge must be "github", "gitlab", "gitea", "forgejo" or "bitbucket"/],
      [{ ...right, url: undefined }, /^url must be given/],
      [{ ...right, url: 5 }, /^url must be a string/],
      [{ ...right, url: '' }, /^url must not be empty/],
      [{ ...right, url: 'ext::sh -c id' }, /^url must be an https/],
      [{ ...right, url: 'https://me:pass@h/r.git' }, /^url must not contain a user or password/],
      [{ ...right, url: `${git.folder}/nothing` }, /^url cannot be read: /],
      [{ ...right, url: 'https://127.0.0.1:1/r.git', token }, /^url cannot be read: /],
      [{ ...right, path: undefined }, /^path must be given/],
      [{ ...right, path: '' }, /^path must not be empty/],
      [{ ...right, path: '/prompts/*' }, /^path must be a path from the top/],
      [{ ...right, path: 'prompts/../*' }, /^path must be a path from the top/],
      [{ ...right, path: 'a\nb' }, /^path must not contain control characters/],
      [{ ...right, token: 5 }, /^token must be a string or null/],
      [{ ...right, similarity: 0 }, /^similarity must be/],
      [{ ...right, similarity: 101 }, /^similarity must be/],
      [{ ...right, similarity: 1.5 }, /^similarity must be/],
      [[right], /^The body must be a JSON object/],
    ]
    for (const [body, message] of wrong) {
      const response = await ask(tenant, 'POST', '', body)
      assert.deepEqual([response.statusCode, response.json().error?.code], [422, 'validation_error'], response.body)
      assert.match(response.json().error.message, message)
      assert.ok(!response.body.includes(token))
    }
    assert.equal((await ask(tenant, 'GET', '')).json().pagination.total_count, 0)
    assert.ok(!service.log.join('').includes(token))
  })

  test('a folder of this machine is refused where the settings do not allow it', async () => {
    const tenant = await admin()
    service.syncContext.allowLocal = false
    after(() => {
      service.syncContext.allowLocal = true
    })
    for (const url of [git.remote, `file://${git.remote}`, `./${git.remote}`, '~/r.git']) {
      const response = await ask(tenant, 'POST', '', { forge: 'github', url, path: 'prompts/**' })
      assert.equal(response.statusCode, 422, url)
      assert.match(response.json().error.message, /^url must /)
    }
  })

  test('disconnecting keeps prompts and history, closes the hook and ends all work', async () => {
    const tenant = await admin()
    const connected = await connect(tenant, git)
    assert.equal(await deliver(connected, ping(connected)), 202)
    const [delivery] = (await ask(tenant, 'GET', `/${connected.id}/deliveries`)).json().data
    const before = await historyOf(tenant, connected)
    const response = await ask(tenant, 'DELETE', `/${connected.id}`)
    assert.deepEqual([response.statusCode, response.body], [204, ''])
    assert.deepEqual(await historyOf(tenant, connected), before)
    assert.equal(await deliver(connected, ping(connected)), 404)
    assert.equal((await ask(tenant, 'GET', `/${connected.id}`)).json().data.state, 'disconnected')
    for (const path of ['sync', `deliveries/${delivery.id}/redeliver`]) {
      const refused = await ask(tenant, 'POST', `/${connected.id}/${path}`)
      assert.deepEqual([refused.statusCode, refused.json().error?.code], [409, 'conflict'], path)
    }
    assert.equal((await ask(tenant, 'DELETE', `/${connected.id}`)).statusCode, 204)
    assert.ok(!(await service.store.repositories.due(service.now + 365 * day)).includes(connected.id))
    assert.equal(await syncOnce(service.syncContext, connected.id), null)
  })

  test('connecting again brings back the same prompts and entries, with what happened meanwhile', async () => {
    const [tenant, git] = [await admin(), ownRemote()]
    const first = await connect(tenant, git, { token })
    const before = await historyOf(tenant, first)
    await ask(tenant, 'DELETE', `/${first.id}`)
    const missed = git.commit('Be kindest', { 'prompts/p.md': 'Be most kind.\n' })
    git.push()
    const second = await connect(tenant, git)
    assert.deepEqual([second.id, second.prompts, second.entries], [first.id, first.prompts, 4])
    const [p, q] = await historyOf(tenant, second)
    assert.deepEqual([p.slice(1), q], before, 'entries were recorded once more')
    assert.equal(p[0].commit_sha, missed)
    assert.notEqual(second.webhook_url, first.webhook_url)
    assert.equal(await deliver(first, ping(first)), 404)
    assert.equal(await deliver(second, ping(first)), 401)
    assert.equal(await deliver(second, ping(second)), 202)
  })

  test('tokens and secrets are in no answer but the one that shows them, no log line, no column and no file', async () => {
    const [tenant, git] = [await admin(), ownRemote()]
    const connected = await connect(tenant, git, { token })
    const rotated = await ask(tenant, 'POST', `/${connected.id}/rotate-secret`)
    const secrets = [token, connected.webhook_secret, rotated.json().data.webhook_secret]
    assert.equal(await deliver(connected, ping(connected)), 202)
    assert.equal(await deliver(connected, ping(rotated.json().data)), 202)
    assert.equal(await deliver(connected, deliveries('github', 'wrong').ping()), 401)
    await syncOnce(service.syncContext, connected.id)
    const answers = await Promise.all(
      ['', `/${connected.id}`, `/${connected.id}/deliveries`].map((path) => ask(tenant, 'GET', path)),
    )
    git.remove()
    answers.push(await ask(tenant, 'POST', `/${connected.id}/sync`))
    await assert.rejects(syncOnce(service.syncContext, connected.id))
    answers.push(await ask(tenant, 'GET', `/${connected.id}`))

    const places = {
      answers: answers.map(({ body }) => body).join('\n'),
      log: service.log.join('\n'),
      database: await everyColumn(service.url),
      files: await everyFile(service.syncContext.dataDir),
    }
    for (const [place, text] of Object.entries(places)) {
      assert.notEqual(text, '', place)
      for (const part of secrets.map((secret) => secret.slice(0, 18))) {
        for (const form of ['utf8', 'base64', 'hex'] as const) {
          assert.ok(!text.includes(Buffer.from(part).toString(form)), `${place}: a secret is there, as ${form}`)
        }
      }
    }
    // The check itself looks where secrets would be.
    assert.ok(places.database.includes(git.remote))
  })
})

async function everyColumn(url: string): Promise<string> {
  const tables = url.startsWith('sqlite:')
    ? "select name from sqlite_master where type = 'table'"
    : "select table_name as name from information_schema.tables where table_schema = 'public'"
  const rows = await Promise.all(
    (await queryRows(url, tables)).map(({ name }) => queryRows(url, `select * from ${name}`)),
  )
  return JSON.stringify(rows, (_, value) => (typeof value === 'bigint' ? String(value) : value))
}

async function everyFile(folder: string): Promise<string> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = found.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  return (await Promise.all(files.map((file) => readFile(file, 'latin1')))).join('\n')
}
