import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { assertError } from '../../../testing/assertions.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { GitHttpServer } from '../../../testing/git-http.ts'
import type { GitRepository } from '../../../testing/git-repository.ts'
import { queryRows } from '../../../testing/rows.ts'
import { useService } from '../../../testing/service.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { syncOnce } from '../../src/follow/worker.ts'
import { createRemote, repositoryClient } from '../http/repository-client.ts'

const token = 'ghp_SECRETTOKEN0123456789'

onOneEngine('Mistakes while connecting', (engine) => {
  const service = useService(engine)
  const { admin, connect, historyOf, request } = repositoryClient(service)
  let git: GitRepository
  let server: GitHttpServer
  const spellings = ['/acme/prompts', '/acme/prompts/', '/acme/prompts.git', '/acme/prompts.git/']
  before(async () => {
    git = createRemote()
    server = await new GitHttpServer().start()
    for (const spelling of spellings) server.folders.set(spelling.replace(/\/$/, ''), git.remote)
  })
  const body = (spelling: string, more: object = {}) => ({
    forge: 'github',
    url: server.url(spelling),
    path: 'prompts/**',
    ...more,
  })
  const allow = (settings: object) => Object.assign(service.syncContext, settings)

  test('spellings of one URL are one repository, also if they are connected at the same time', async () => {
    allow({ allowHttp: true, allowPrivateAddresses: true })
    const tenant = await admin()
    const responses = await Promise.all(spellings.slice(1, 3).map((url) => request(tenant, 'POST', '', body(url))))
    const statuses = responses.map(({ statusCode }) => statusCode).sort()
    assert.deepEqual(statuses, [201, 409], responses.map((response) => response.body).join('\n'))
    for (const spelling of spellings) {
      const again = await request(tenant, 'POST', '', body(spelling))
      assertError(again, 409, 'conflict', /^This repository is already connected with the same path/)
    }
    const upper = { ...body(''), url: server.url('/acme/prompts', 'LOCALHOST') }
    assert.equal((await request(tenant, 'POST', '', upper)).statusCode, 201, 'another host is another repository')
    assertError(
      await request(tenant, 'POST', '', { ...upper, url: server.url('/acme/prompts', 'localhost') }),
      409,
      'conflict',
    )
    assert.equal((await request(await admin(), 'POST', '', body('/acme/prompts'))).statusCode, 201)
  })

  test('reconnecting under another spelling of the URL resumes with the same prompts', async () => {
    allow({ allowHttp: true, allowPrivateAddresses: true })
    const tenant = await admin()
    const first = await connect(tenant, git, body('/acme/prompts.git'))
    const before = await historyOf(tenant, first)
    await request(tenant, 'DELETE', `/${first.id}`)
    const second = await connect(tenant, git, body('/acme/prompts/'))
    assert.deepEqual([second.id, second.prompts, second.entries], [first.id, first.prompts, 3])
    assert.equal((await request(tenant, 'GET', `/${second.id}`)).json().data.url, server.url('/acme/prompts/'))
    assert.deepEqual(await historyOf(tenant, second), before)
  })

  test('two rows for one repository from an earlier version still work, and no third one is added', async () => {
    allow({ allowHttp: true, allowPrivateAddresses: true })
    const tenant = await admin()
    const one = await connect(tenant, git, body('/acme/prompts', { path: 'prompts/p.md' }))
    const two = await connect(tenant, git, body('/acme/prompts.git', { path: 'prompts/q.md' }))
    // As an earlier version could have stored it.
    await queryRows(service.url, `update repositories set path = 'prompts/p.md' where id = ${two.id} returning id`)
    for (const { id } of [one, two]) {
      await request(tenant, 'POST', `/${id}/sync`)
      await syncOnce(service.syncContext, id)
      assert.equal((await request(tenant, 'PATCH', `/${id}`, { token: 'any' })).statusCode, 200)
    }
    assertError(await request(tenant, 'POST', '', body('/acme/prompts/', { path: 'prompts/p.md' })), 409, 'conflict')
  })

  test('prompt files that overlap with those of the same repository lead to a warning, and others do not', async () => {
    allow({ allowHttp: true, allowPrivateAddresses: true })
    const tenant = await admin()
    const connectPath = (spelling: string, path: string) => connect(tenant, git, body(spelling, { path }))
    const first = await connectPath('/acme/prompts', 'prompts/p.md')
    assert.deepEqual(first.warnings, [])
    assert.deepEqual((await connectPath('/acme/prompts.git', 'prompts/q.md')).warnings, [])
    const third = await connectPath('/acme/prompts.git', 'prompts/p*')
    assert.deepEqual(third.warnings, [
      `Repository ${first.id} is the same repository, and its prompt files prompts/p.md overlap with prompts/p*. ` +
        'A file that matches both becomes two prompts.',
    ])
    await request(tenant, 'DELETE', `/${first.id}`)
    const { warnings } = (await request(tenant, 'PATCH', `/${third.id}`, { token })).json().data
    assert.deepEqual(warnings, ['The token is sent over plain http: anyone on the way to the server can read it.'])
  })

  test('a forge that the host certainly is not is rejected before git runs', async () => {
    const tenant = await admin()
    for (const [forge, url] of [
      ['gitlab', 'https://github.com/acme/prompts.git'],
      ['github', 'git@gitlab.com:acme/prompts.git'],
    ]) {
      const response = await request(tenant, 'POST', '', { forge, url, path: '**' })
      assertError(
        response,
        422,
        'validation_error',
        /^forge must be git(hub|lab) for a repository on git(hub|lab)\.com$/,
      )
    }
  })

  test('plain http needs the setting over HTTP, and a repository connected with it stops when it is turned off', async () => {
    allow({ allowHttp: false, allowPrivateAddresses: true })
    const tenant = await admin()
    const received = server.received.length
    const rejected = await request(tenant, 'POST', '', body('/acme/prompts', { token }))
    const message = /^url must not be plain http:\/\/.+ --allow-http for the CLI, ALLOW=http-repositories for the API$/
    assertError(rejected, 422, 'validation_error', message)
    assert.equal(server.received.length, received, 'the server was contacted')
    allow({ allowHttp: true })
    const { id } = await connect(tenant, git, body('/acme/prompts'))
    allow({ allowHttp: false })
    await request(tenant, 'POST', `/${id}/sync`)
    const before = server.received.length
    await assert.rejects(
      syncOnce(service.syncContext, id),
      /plain http:\/\/ is not allowed\. Use https:\/\/, or set ALLOW=http/,
    )
    assert.equal(server.received.length, before)
  })

  test('what the operator allowed with --allow-http stays allowed without the setting', async () => {
    allow({ allowHttp: true, allowPrivateAddresses: false })
    const { organisation } = await admin()
    const facts = { organisationId: organisation.id, ...body('/acme/prompts'), forge: 'github' as const }
    const connection = { ...facts, similarity: 100, token: null, secret: null }
    const { repository } = await service.repositories.connect(connection, operator, {})
    allow({ allowHttp: false })
    await service.repositories.sync(repository, { wait: true })
    assert.equal((await service.store.repositories.find(repository.id))?.lastError, null)
  })
})
