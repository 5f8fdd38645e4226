import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import pino from 'pino'
import { onEachEngine } from '../../../testing/engines.ts'
import { type Tenant, useService } from '../../../testing/service.ts'
import { addSource, secret } from '../../../testing/sources.ts'
import { versionSha } from '../../src/adapters/poll-langfuse.ts'
import { createSourcePolls } from '../../src/service/source-poller.ts'

// The shapes are those of https://api.reference.langfuse.com. Nothing was recorded from a live project.
function score(id: string, more: object = {}) {
  return {
    id,
    traceId: `trace-of-${id}`,
    observationId: null,
    name: 'user-feedback',
    source: 'API',
    dataType: 'NUMERIC',
    value: 1,
    comment: null,
    timestamp: '2026-11-15T11:30:00.000Z',
    createdAt: '2026-11-15T11:30:01.000Z',
    updatedAt: '2026-11-15T11:30:01.000Z',
    trace: { userId: 'u-1', tags: [], environment: 'default' },
    ...more,
  }
}

interface Project {
  promptName: string
  scores: ReturnType<typeof score>[]
  /** Answers instead of the project. */
  status?: number
}

/** A server that answers like the public API of Langfuse. */
async function startLangfuse(t: TestContext, project: Project) {
  const requests: { path: string; query: URLSearchParams; authorization: string | undefined }[] = []
  function answer({ url = '', headers }: IncomingMessage): unknown {
    const { pathname, searchParams: query } = new URL(url, 'http://langfuse')
    requests.push({ path: pathname, query, authorization: headers.authorization })
    const { promptName, scores } = project
    const prompt = { promptName, promptVersion: 2 }
    const page = Number(query.get('page') ?? 1)
    const limit = Number(query.get('limit') ?? 50)
    if (pathname === '/api/public/v2/scores') {
      const until = query.get('toTimestamp') ?? ''
      const matching = scores.filter(
        ({ timestamp }) => timestamp >= (query.get('fromTimestamp') ?? '') && timestamp < until,
      )
      const meta = { page, limit, totalItems: matching.length, totalPages: Math.ceil(matching.length / limit) }
      return { data: matching.slice((page - 1) * limit, page * limit), meta }
    }
    if (pathname === '/api/public/observations') {
      return {
        data: [
          { id: 'o-1', promptName: null, promptVersion: null },
          { id: 'o-2', ...prompt },
        ],
        meta: {},
      }
    }
    if (pathname.startsWith('/api/public/observations/')) return { id: 'o-3', ...prompt }
    if (pathname === '/api/public/v2/prompts') {
      return {
        data: [
          { name: promptName, versions: [1, 2], labels: ['production'] },
          { name: 'unknown', versions: [1] },
        ],
      }
    }
    const version = Number(query.get('version'))
    return { name: promptName, version, createdAt: `2026-11-1${version}T08:00:00.000Z`, createdBy: 'Ada', prompt: 'Hi' }
  }
  const server = createServer((request, response) => {
    const { status = 200 } = project
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer(request)))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
}

onEachEngine('Polling Langfuse', (engine) => {
  const service = useService(engine)

  /** A function that polls the sources that are due, one of each organisation. */
  const rounds = (allowPrivate = true) => {
    const polls = createSourcePolls({
      store: service.store,
      vault: service.syncContext.vault,
      voters: service.voters,
      planLimits: service.planLimits,
      clock: () => service.now,
      log: pino({ level: 'warn' }, { write: (line: string) => service.log.push(line) }),
      network: { allowPrivate, allowHttp: allowPrivate },
    })
    return async () => {
      await polls.start()
      await polls.idle()
    }
  }

  const signalsOf = async (tenant: Tenant) =>
    (await service.app.inject({ url: `${tenant.path}/signals`, headers: tenant.headers })).json().data

  async function sourceOf({ organisation }: Tenant) {
    const [source] = await service.store.sources.list(organisation.id)
    return source ?? assert.fail('there is no source')
  }

  test('scores become signals of their prompt and version, versions become changes, and a second poll changes nothing', async (t) => {
    const tenant = await service.tenant('free', 'admin')
    const promptName = tenant.prompt.name
    const project: Project = {
      promptName,
      scores: [
        score('up'),
        score('down', { value: 0, dataType: 'BOOLEAN', stringValue: 'False', observationId: 'o-3', comment: 'Wrong' }),
        score('judged', { source: 'EVAL', value: 0.2 }),
      ],
    }
    const langfuse = await startLangfuse(t, project)
    await addSource(service, tenant.organisation.id, 'langfuse', { baseUrl: langfuse.url, score: 'user-feedback' })
    await rounds()()
    const signals = await signalsOf(tenant)
    const sha = versionSha(promptName, 2)
    assert.deepEqual(
      signals.map(({ subject, value, version }: Record<string, string>) => [subject, value, version]).sort(),
      [
        ['down', 'negative', sha],
        ['up', 'positive', sha],
      ],
      'a judge is no person',
    )
    const { entries } = await service.store.history.page(tenant.prompt, { page: '1', limit: 10 })
    assert.deepEqual(
      entries.map(({ commitSha, user, createdAt }) => [commitSha, user.name, createdAt]),
      [2, 1].map((version) => [versionSha(promptName, version), 'Ada', Date.parse(`2026-11-1${version}T08:00:00Z`)]),
    )
    const [first] = langfuse.requests
    assert.equal(first?.authorization, `Basic ${Buffer.from(secret).toString('base64')}`)
    const asked = langfuse.requests.find(({ path }) => path.endsWith('/scores'))?.query
    assert.equal(asked?.get('name'), 'user-feedback')
    const { readUntil, counts } = await sourceOf(tenant)
    assert.equal(readUntil, service.now)
    assert.partialDeepStrictEqual(counts, { received: 3, recorded: 2, rejected: 0 })

    project.scores.push(score('late', { timestamp: '2026-11-15T11:55:00.000Z', value: 0 }))
    const before = langfuse.requests.length
    await rounds()()
    assert.equal(langfuse.requests.length, before, 'it is polled once a minute')
    service.now += 60_000
    await rounds()()
    assert.equal((await signalsOf(tenant)).length, 3)
    assert.equal(await tenant.used(), 3)
    assert.equal((await service.store.history.page(tenant.prompt, { page: '1', limit: 10 })).totalCount, 2)
  })

  test('a project with more scores than one poll may read is read in parts, and none is left out', async (t) => {
    const tenant = await service.tenant('team', 'admin')
    const at = (i: number) => new Date(service.now - 600_000 + i * 1_000).toISOString()
    const scores = Array.from({ length: 450 }, (_, i) => score(`s-${i}`, { timestamp: at(i), traceId: 'one' }))
    const langfuse = await startLangfuse(t, { promptName: tenant.prompt.name, scores })
    const { source } = await addSource(service, tenant.organisation.id, 'langfuse', { baseUrl: langfuse.url })
    const { now } = service
    await service.store.sources.continueAt(source, { readUntil: now - 660_000, pollAt: now })
    const poll = rounds()
    for (let round = 0; round < 5 && (await sourceOf(tenant)).readUntil !== now; round++) await poll()
    assert.equal((await sourceOf(tenant)).readUntil, now, service.log.at(-1))
    assert.ok(langfuse.requests.some(({ query }) => Number(query.get('page')) > 1))
    assert.equal(await tenant.used(), 450)
  })

  test('rejected keys, a failing server and a private address are shown, and tried again after ten minutes', async (t) => {
    const tenant = await service.tenant('free', 'admin')
    const project: Project = { promptName: tenant.prompt.name, scores: [score('one')], status: 401 }
    const langfuse = await startLangfuse(t, project)
    await addSource(service, tenant.organisation.id, 'langfuse', { baseUrl: langfuse.url })
    const reasonAfter = async (allowPrivate: boolean) => {
      service.now += 600_000
      // Each with a memory of its own: a process that has seen more failures waits for longer.
      await rounds(allowPrivate)()
      return (await sourceOf(tenant)).counts.lastRejection
    }
    assert.equal(await reasonAfter(true), 'Langfuse rejects the keys: set them as public:secret')
    project.status = 500
    assert.equal(await reasonAfter(true), 'Langfuse responded with 500 instead of 200')
    const sent = langfuse.requests.length
    assert.match(String(await reasonAfter(false)), /^Langfuse cannot be read: /)
    assert.equal(langfuse.requests.length, sent, 'no request is sent to a private address')
    assert.deepEqual(await signalsOf(tenant), [])
    project.status = 200
    await reasonAfter(true)
    assert.equal((await signalsOf(tenant)).length, 1)
  })

  test('a source that is claimed by one process is not polled by another', async () => {
    const tenant = await service.tenant('free', 'admin')
    await addSource(service, tenant.organisation.id, 'langfuse')
    const { now } = service
    const due = await service.store.sources.duePolls(now, 1_000)
    const own = due.find(({ organisationId }) => organisationId === tenant.organisation.id) ?? assert.fail()
    const claims = await Promise.all([1, 2].map(() => service.store.sources.claimPoll(own, now, now + 1_000)))
    assert.equal(claims.filter((claimed) => claimed !== null).length, 1)
  })
})
