import assert from 'node:assert/strict'
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { updatedRepositorySchema } from '../../../contract/repositories.ts'
import { assertError, assertMatchesSchema } from '../../../testing/assertions.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { GitHttpServer } from '../../../testing/git-http.ts'
import { GitRepository } from '../../../testing/git-repository.ts'
import { type Tenant, useService } from '../../../testing/service.ts'
import { createSshKey, noSsh, noSshd, Sshd } from '../../../testing/sshd.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { mirrorOf } from '../../src/follow/sync-context.ts'
import { syncOnce } from '../../src/follow/worker.ts'
import { createRemote, repositoryClient } from '../http/repository-client.ts'

const token = 'ghp_SECRETTOKEN0123456789'
const path = 'prompts/**'

onOneEngine('Changing a repository', (engine) => {
  const service = useService(engine)
  const { admin, connect, deliver, historyOf, ping, request } = repositoryClient(service)
  before(() => {
    Object.assign(service.syncContext, { allowPrivateAddresses: true, allowHttp: true })
  })

  const rowOf = async (id: number) => (await service.store.repositories.find(id)) as NonNullable<unknown> as Row
  type Row = NonNullable<Awaited<ReturnType<typeof service.store.repositories.find>>>
  const patch = (tenant: Tenant, id: number, body: object) => request(tenant, 'PATCH', `/${id}`, body)

  /** Connects as the operator does with the CLI. */
  async function connectAsOperator(tenant: Tenant, url: string): Promise<number> {
    const { id: organisationId } = tenant.organisation
    const facts = { organisationId, forge: 'github', url, path, similarity: 100, token: null, secret: null } as const
    return (await service.repositories.connect(facts, operator, {})).repository.id
  }

  async function serverOf(git: GitRepository, serverPath = '/acme/prompts.git'): Promise<GitHttpServer> {
    const server = await new GitHttpServer().start()
    server.folders.set(serverPath, git.remote)
    return server
  }

  test('a repository that was renamed keeps its prompts, history, webhook and secret under the new URL', async () => {
    const [tenant, git] = [await admin(), createRemote()]
    const connected = await connect(tenant, git)
    const entries = await historyOf(tenant, connected)
    const newUrl = `${git.folder}/renamed.git`
    renameSync(git.remote, newUrl)
    const added = git.commit('Be kindest', { 'prompts/p.md': 'Be most kind.\n' })
    git.git('push', '--quiet', newUrl, 'HEAD')
    await request(tenant, 'POST', `/${connected.id}/sync`)
    await assert.rejects(syncOnce(service.syncContext, connected.id))
    assert.equal((await request(tenant, 'GET', `/${connected.id}`)).json().data.state, 'failing')
    const before = mirrorOf(service.syncContext, await rowOf(connected.id)).path
    const response = await patch(tenant, connected.id, { url: newUrl })
    assert.equal(response.statusCode, 200, response.body)
    assertMatchesSchema(updatedRepositorySchema, response)
    const { data } = response.json()
    assert.partialDeepStrictEqual(data, { id: connected.id, url: newUrl, state: 'following', last_error: null })
    assert.deepEqual([data.webhook_url, data.entry_count, data.warnings], [connected.webhook_url, 3, []])
    assert.ok((await service.store.repositories.due(service.now)).some(({ id }) => id === connected.id))
    const after = mirrorOf(service.syncContext, await rowOf(connected.id)).path
    assert.deepEqual([existsSync(before), existsSync(after)], [false, true], 'the mirror was not moved')
    await syncOnce(service.syncContext, connected.id)
    const [p, q] = await historyOf(tenant, connected)
    assert.deepEqual([p.slice(1), q], entries)
    assert.equal(p[0].commit_sha, added)
    assert.equal(await deliver(connected, ping(connected)), 202)
    const audit = await service.app.inject({ url: '/api/v1/audit?action=repository.updated', headers: tenant.headers })
    const [entry] = audit.json().data
    assert.deepEqual(entry.details, { url: newUrl })
    assert.deepEqual(entry.subject, { id: String(connected.id), name: git.remote })
  })

  test('a URL of another repository is rejected, and nothing changes', async () => {
    const [tenant, git, other] = [await admin(), createRemote(), new GitRepository()]
    other.commit('Another root', { 'prompts/p.md': 'Something else.\n' })
    other.push()
    const connected = await connect(tenant, git)
    const before = await rowOf(connected.id)
    const isOther =
      /^url must lead to the same repository: the default branch there has no commit in common with [0-9a-f]{12}/
    const body = { url: other.remote }
    assertError(await patch(tenant, connected.id, body), 422, 'validation_error', isOther)
    rmSync(mirrorOf(service.syncContext, before).path, { recursive: true })
    assertError(await patch(tenant, connected.id, body), 422, 'validation_error', isOther)
    assert.deepEqual(await rowOf(connected.id), before)
    const mirrors = readdirSync(join(service.syncContext.dataDir, 'mirrors'))
    assert.ok(!mirrors.some((name) => name.includes('compared')), mirrors.join())
  })

  test('a fork that is ahead, behind or rewritten is the same repository, with or without the mirror', async () => {
    const [tenant, git] = [await admin(), createRemote()]
    const connected = await connect(tenant, git)
    const change = async (name: string, prepare: () => void, removeMirror: boolean) => {
      const url = `${git.folder}/${name}.git`
      git.git('clone', '--quiet', '--bare', git.remote, url)
      prepare()
      git.git('push', '--quiet', '--force', url, 'HEAD')
      const mirror = mirrorOf(service.syncContext, await rowOf(connected.id)).path
      if (removeMirror) rmSync(mirror, { recursive: true, force: true })
      const response = await patch(tenant, connected.id, { url })
      assert.equal(response.statusCode, 200, `${name}: ${response.body}`)
    }
    await change('ahead', () => git.commit('New', { 'prompts/n.md': 'New.\n' }), false)
    await change('ahead-without-mirror', () => git.commit('Newer', { 'prompts/n.md': 'Newer.\n' }), true)
    await syncOnce(service.syncContext, connected.id)
    await change('behind', () => git.git('reset', '--quiet', '--hard', 'HEAD~1'), false)
    await syncOnce(service.syncContext, connected.id)
    const rewrite = () => {
      git.git('reset', '--quiet', '--hard', 'HEAD~1')
      git.commit('Instead', { 'prompts/p.md': 'Instead.\n' })
    }
    await change('rewritten', rewrite, false)
  })

  test('a stored token is not sent to another server: it must be given again or removed', async () => {
    const [tenant, git] = [await admin(), createRemote()]
    const [first, second] = [await serverOf(git), await serverOf(git, '/moved/prompts.git')]
    first.requireToken(token)
    second.requireToken('new-token')
    const { id, warnings } = await connect(tenant, git, { url: first.url('/acme/prompts.git'), token })
    assert.deepEqual(warnings, ['The token is sent over plain http: anyone on the way to the server can read it.'])
    const url = second.url('/moved/prompts.git')
    const required = new RegExp(
      `^token is required: the stored one is only sent to http://127\\.0\\.0\\.1:${first.port}, not`,
    )
    for (const candidate of [url, second.url('/acme/prompts.git'), first.url('/acme/prompts.git', 'localhost')]) {
      assertError(await patch(tenant, id, { url: candidate }), 422, 'validation_error', required)
    }
    const unreadable = /^url cannot be read: the repository does not exist, or the server requires a token/
    for (const wrong of [null, 'wrong']) {
      assertError(await patch(tenant, id, { url, token: wrong }), 422, 'validation_error', unreadable)
    }
    const changed = await patch(tenant, id, { url, token: 'new-token' })
    assert.equal(changed.statusCode, 200, changed.body)
    await syncOnce(service.syncContext, id)
    const old = Buffer.from(`x-access-token:${token}`).toString('base64')
    assert.ok(second.received.length > 0 && !second.received.some((header) => header?.includes(old)))
    assert.ok(!changed.body.includes('new-token'))
    const audit = await service.app.inject({ url: '/api/v1/audit?action=repository.updated', headers: tenant.headers })
    assert.deepEqual(audit.json().data[0].details, { url, token: 'changed' })
  })

  test('a token is replaced or removed only if git can read the repository without the old one', async () => {
    const [tenant, git] = [await admin(), createRemote()]
    const server = await serverOf(git)
    server.requireToken(token)
    const url = server.url('/acme/prompts.git')
    const { id } = await connect(tenant, git, { url, token })
    server.requireToken('renewed')
    await request(tenant, 'POST', `/${id}/sync`)
    await assert.rejects(syncOnce(service.syncContext, id))
    const { last_error: error } = (await request(tenant, 'GET', `/${id}`)).json().data
    assert.match(error, /with read access\. Check its URL and its token \('repo update'\)$/)
    assertError(
      await patch(tenant, id, { token: 'wrong' }),
      422,
      'validation_error',
      /^token does not give read access: /,
    )
    assertError(
      await patch(tenant, id, { token: null }),
      422,
      'validation_error',
      /^token cannot be removed: the repository/,
    )
    assert.equal((await patch(tenant, id, { token: 'renewed' })).json().data.state, 'following')
    await syncOnce(service.syncContext, id)
    server.authorization = null
    assert.equal((await patch(tenant, id, { token: null })).statusCode, 200)
    assert.equal((await rowOf(id)).sealedToken, null)
    // The same server under another path needs no token again, also if there is one.
    assert.equal((await patch(tenant, id, { token: 'any' })).statusCode, 200)
    server.folders.set('/acme/renamed.git', git.remote)
    assert.equal((await patch(tenant, id, { url: server.url('/acme/renamed.git') })).statusCode, 200)
    assert.notEqual((await rowOf(id)).sealedToken, null)
  })

  test('a redirect is told as a move, with the command that sets the new URL', async () => {
    const [tenant, git] = [await admin(), createRemote()]
    const server = await serverOf(git)
    const { id } = await connect(tenant, git, { url: server.url('/acme/prompts.git') })
    server.folders.set('/acme/renamed.git', git.remote)
    server.folders.delete('/acme/prompts.git')
    server.redirects.set('/acme/prompts.git', '/acme/renamed.git')
    await request(tenant, 'POST', `/${id}/sync`)
    await assert.rejects(syncOnce(service.syncContext, id))
    const { last_error: error } = (await request(tenant, 'GET', `/${id}`)).json().data
    assert.match(
      error,
      /^git \S+: the repository moved\. Use its new URL\. Set it with 'repo update --url', or with Edit in the/,
    )
    const response = await patch(tenant, id, { url: server.url('/acme/renamed.git') })
    assert.partialDeepStrictEqual(response.json().data, { state: 'following', last_error: null })
  })

  test("an admin cannot reach through an operator's repository what only the operator may read", {
    skip: noSsh,
  }, async () => {
    const [tenant, git] = [await admin(), createRemote()]
    const server = await serverOf(git)
    server.folders.set('/secret/of/another.git', git.remote)
    Object.assign(service.syncContext, { allowPrivateAddresses: false, allowHttp: false, allowLocal: true })
    const id = await connectAsOperator(tenant, git.remote)
    try {
      Object.assign(service.syncContext, { allowLocal: false })
      const received = server.received.length
      const attempts: [object, RegExp][] = [
        [{ url: `${git.remote}/` }, /^url must not be a folder on this machine/],
        [{ url: server.url('/secret/of/another.git') }, /^url must not be plain http:/],
        [
          { url: `https://127.0.0.1:${server.port}/secret/of/another.git` },
          /^url cannot be read: the host cannot be resolved, or has no public/,
        ],
        [
          { url: 'https://169.254.169.254/r' },
          /^url cannot be read: the host cannot be resolved, or has no public address/,
        ],
        [
          { url: 'https://localhost/r', token },
          /^url cannot be read: the host cannot be resolved, or has no public address/,
        ],
        [
          { url: `ssh://git@127.0.0.1:${server.port}/r` },
          /^ssh_key is missing: a repository fetched over ssh needs a depl/,
        ],
        [
          { url: 'git@localhost:r', ssh_key: createSshKey().privateKey },
          /^url cannot be read: the host cannot be resolved, or has no public addr/,
        ],
        [{ token }, /^token needs a URL of the form https:/],
      ]
      for (const [body, message] of attempts)
        assertError(await patch(tenant, id, body), 422, 'validation_error', message)
      assert.equal(server.received.length, received, 'a rejected URL was contacted')
      assert.equal((await rowOf(id)).url, git.remote)
      Object.assign(service.syncContext, { allowLocal: true })
      assert.equal((await patch(tenant, id, { url: `${git.remote}/` })).statusCode, 200)
      assert.equal(
        (await rowOf(id)).connectedByOperator,
        false,
        "the URL that an admin chose has the operator's rights",
      )
    } finally {
      Object.assign(service.syncContext, { allowPrivateAddresses: true, allowHttp: true, allowLocal: true })
    }
  })

  test('a change that was checked against an older URL or connection is rejected instead of undoing the newer one', async () => {
    const [tenant, git] = [await admin(), createRemote()]
    const { id } = await connect(tenant, git)
    const old = await rowOf(id)
    const newUrl = `${git.remote}/`
    assert.equal((await patch(tenant, id, { url: newUrl })).statusCode, 200)
    const stale = service.repositories.update(old, { url: `file://${git.remote}` }, operator)
    await assert.rejects(stale, { code: 'conflict', message: /^This repository was changed or disconnected meanwhile/ })
    assert.equal((await rowOf(id)).url, newUrl)
    assert.deepEqual((await service.store.repositories.due(service.now)).filter((due) => due.id === id).length, 1)
  })

  test('a repository does not move to a host that certainly belongs to another forge', async () => {
    const [tenant, git] = [await admin(), createRemote()]
    const { id } = await connect(tenant, git)
    const message = /^url is on gitlab, but the repository is connected as github\. Connect it as a new repository$/
    assertError(
      await patch(tenant, id, { url: 'https://gitlab.com/acme/prompts.git' }),
      422,
      'validation_error',
      message,
    )
  })

  test('the operator may set a URL that an admin may not', async () => {
    const [tenant, git] = [await admin(), createRemote()]
    const { id } = await connect(tenant, git)
    const server = await serverOf(git)
    Object.assign(service.syncContext, { allowPrivateAddresses: false })
    try {
      const update = { url: server.url('/acme/prompts.git') }
      await service.repositories.update(await rowOf(id), update, operator)
      assert.equal((await rowOf(id)).connectedByOperator, true)
      await syncOnce(service.syncContext, id)
      assert.equal((await rowOf(id)).lastError, null)
    } finally {
      Object.assign(service.syncContext, { allowPrivateAddresses: true })
    }
  })

  test('only an admin of the organisation can change a repository, and only a connected one', async () => {
    const [tenant, other, git] = [await admin(), await admin(), createRemote()]
    const { id } = await connect(tenant, git)
    assertError(await patch(other, id, { url: git.remote }), 404, 'not_found')
    const standard = await service.key(tenant.organisation, 'standard')
    const headers = { authorization: `Bearer ${standard}` }
    assertError(await request({ headers }, 'PATCH', `/${id}`, { url: git.remote }), 403, 'forbidden')
    assertError(await patch(tenant, id, {}), 422, 'validation_error', /must (NOT )?have|properties|at least/i)
    assertError(await patch(tenant, id, { url: 'ext::sh -c id' }), 422, 'validation_error', /^url must be an https:/)
    assertError(await patch(tenant, id, { token: 5 }), 422, 'validation_error', /^token must be a string or null/)
    assertError(
      await patch(tenant, id, { ssh_host_key: 'x' }),
      422,
      'validation_error',
      /^ssh_host_key needs a deploy key/,
    )
    const { id: second } = await connect(tenant, createRemote(), { path: 'prompts/p.md' })
    await request(tenant, 'DELETE', `/${second}`)
    assertError(await patch(tenant, second, { url: git.remote }), 409, 'conflict', /^This repository is disconnected/)
  })

  test('a URL that another repository of the organisation has with the same path is rejected', async () => {
    const [tenant, git] = [await admin(), createRemote()]
    const copy = `${git.folder}/copy.git`
    git.git('clone', '--quiet', '--bare', git.remote, copy)
    const first = await connect(tenant, git)
    const second = await connect(tenant, git, { url: copy })
    const taken = new RegExp(`^Repository ${first.id} already has this URL, with the same path`)
    assertError(await patch(tenant, second.id, { url: git.remote }), 409, 'conflict', taken)
    assertError(await patch(tenant, second.id, { url: `file://${git.remote}` }), 409, 'conflict', taken)
    assert.equal((await rowOf(second.id)).url, copy)
  })

  test('a repository that is being synced for long is not changed', async () => {
    const [tenant, git] = [await admin(), createRemote()]
    const { id } = await connect(tenant, git)
    await service.store.repositories.lease(id, 'another process', service.now, service.now + 10_000)
    assertError(await patch(tenant, id, { url: `${git.remote}/` }), 409, 'conflict', /^This repository is being synced/)
    assert.equal((await rowOf(id)).url, git.remote)
  })

  test('another ssh server is asked for its own host key, and a key that the server replaced can be recorded', {
    skip: noSshd,
  }, async () => {
    const [tenant, git, key] = [await admin(), createRemote(), createSshKey()]
    const [first, second] = [new Sshd(), new Sshd()]
    for (const sshd of [first, second]) {
      await sshd.start()
      sshd.authorise(key.publicKey)
    }
    const { id } = await connect(tenant, git, { url: first.url(git.remote), ssh_key: key.privateKey })
    const moved = await patch(tenant, id, { url: second.url(git.remote) })
    assert.equal(moved.statusCode, 200, moved.body)
    assert.deepEqual(
      [moved.json().data.ssh_host_key, moved.json().data.ssh_public_key],
      [second.hostKey.publicKey, key.publicKey],
    )
    await second.replaceHostKey()
    const differs = /^url cannot be read: the ssh host key of the server differs from the recorded one/
    assertError(await patch(tenant, id, { url: `${second.url(git.remote)}/` }), 422, 'validation_error', differs)
    const recorded = await patch(tenant, id, { ssh_host_key: second.hostKey.publicKey })
    assert.equal(recorded.statusCode, 200, recorded.body)
    await syncOnce(service.syncContext, id)
    const renewed = createSshKey()
    const rejected = /^ssh_key does not give read access: the server rejected the ssh key/
    assertError(await patch(tenant, id, { ssh_key: renewed.privateKey }), 422, 'validation_error', rejected)
    second.authorise(renewed.publicKey)
    assert.equal(
      (await patch(tenant, id, { ssh_key: renewed.privateKey })).json().data.ssh_public_key,
      renewed.publicKey,
    )
    const local = await patch(tenant, id, { url: git.remote })
    assert.deepEqual([local.json().data.ssh_public_key, local.json().data.ssh_host_key], [null, null])
    assert.equal((await rowOf(id)).sealedSshKey, null)
  })
})
