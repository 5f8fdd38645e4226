import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertError } from '../../../testing/assertions.ts'
import { databaseWorkOf } from '../../../testing/database-work.ts'
import { onEachEngine } from '../../../testing/engines.ts'
import { collectGarbage } from '../../../testing/garbage.ts'
import { queryRows } from '../../../testing/rows.ts'
import { connectedScenario } from '../../../testing/scenario.ts'
import { deployedEntry, useService } from '../../../testing/service.ts'
import { inBatches, signalFor } from '../../../testing/signals.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { type Action, newHistoryEntry } from '../../src/domain/history/entry.ts'
import { newPrompt, type Prompt } from '../../src/domain/prompt.ts'
import type { SignalValue } from '../../src/domain/signals/signal.ts'
import { namesOf, promptRequests } from './prompt-requests.ts'

const day = 24 * 3_600_000
const pull = { prNumber: 7, prUrl: 'https://example.com/7' }

onEachEngine('The list of prompts', (engine) => {
  const service = useService(engine)
  const { admin, request, create, list, search, tenantWith } = promptRequests(service)

  test('prompts are sorted by name, then ID, in the same order on every engine', async () => {
    const names = ['b', 'B', 'a', 'ä', 'a b', 'a-b', 'Z', '_', '10', '9', '😀', '\uffee']
    const tenant = await tenantWith(...names)
    const [first, second] = [await create(tenant, 'same'), await create(tenant, 'other')]
    // As two prompts of an earlier version could be named.
    const shareName = `update prompts set name = 'same', has_unique_name = null where public_id = '${second.id}'`
    await queryRows(service.url, shareName)
    const expected = [...names, 'same', 'same'].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    const prompts = await list(tenant)
    assert.deepEqual(namesOf(prompts), expected)
    const same = prompts.filter(({ name }) => name === 'same').map(({ id }) => id)
    assert.deepEqual(same, [first.id, second.id])
    assert.deepEqual(
      (await list(tenant, '?q=same')).map(({ id }) => id),
      [first.id, second.id],
    )
  })

  test('prompt pages contain each prompt once with correct totals, also past the end and in a search', async () => {
    const tenant = await tenantWith(...Array.from({ length: 7 }, (_, i) => `p${i}`), 'other')
    const seen: string[] = []
    for (const page of [1, 2, 3]) {
      const { data, pagination } = (await request(tenant, 'GET', `?page=${page}&limit=3`)).json()
      assert.deepEqual(pagination, { current_page: page, total_pages: 3, total_count: 8, per_page: 3 })
      seen.push(...namesOf(data))
    }
    assert.deepEqual(seen, ['other', 'p0', 'p1', 'p2', 'p3', 'p4', 'p5', 'p6'])
    const searched = (await request(tenant, 'GET', '?q=P&page=2&limit=5')).json()
    assert.deepEqual(namesOf(searched.data), ['p5', 'p6'])
    assert.deepEqual(searched.pagination, { current_page: 2, total_pages: 2, total_count: 7, per_page: 5 })
    for (const [query, total] of [
      ['', 8],
      ['q=p&', 7],
    ] as const) {
      const beyond = await request(tenant, 'GET', `?${query}page=${'9'.repeat(30)}`)
      assert.match(beyond.body, new RegExp(`"current_page":${'9'.repeat(30)},"total_pages":1,"total_count":${total},`))
      assert.deepEqual(beyond.json().data, [])
    }
    const odd = (await request(tenant, 'GET', '?page=-1&limit=1.5')).json().pagination
    assert.deepEqual([odd.current_page, odd.per_page], [1, 25])
    const empty = (await request(await tenantWith(), 'GET', '')).json()
    assert.deepEqual(empty, {
      data: [],
      pagination: { current_page: 1, total_pages: 0, total_count: 0, per_page: 25 },
    })
  })

  test('a search matches part of a name, ignoring case, without wildcards', async () => {
    const names = [
      '100% sure',
      '100 percent',
      'snake_case',
      'snakeXcase',
      'back\\slash',
      'ÜBER uns',
      "it's",
      'cafe\u0301',
      '[a-z]*',
    ]
    const tenant = await tenantWith(...names)
    const searches: [string, string[]][] = [
      ['100', ['100 percent', '100% sure']],
      ['%', ['100% sure']],
      ['_', ['snake_case']],
      ['\\', ['back\\slash']],
      ['SNAKE', ['snakeXcase', 'snake_case']],
      ['keXc', ['snakeXcase']],
      ['über', ['ÜBER uns']],
      ['ÜBER', ['ÜBER uns']],
      ['CAFÉ', ['cafe\u0301']],
      ["'", ["it's"]],
      ['[a', ['[a-z]*']],
      ['.', []],
      ['\0', []],
      ['\ufffd', []],
      ['nothing', []],
      [' ', ['100 percent', '100% sure', 'ÜBER uns']],
    ]
    for (const [q, expected] of searches) assert.deepEqual(await search(tenant, q), expected, q)
    assert.equal((await search(tenant, '')).length, names.length)
    assert.deepEqual(namesOf(await list(tenant, '?q=sure&q=percent')), ['100 percent'])
    assert.equal((await request(tenant, 'GET', '?q=%zz%ff')).statusCode, 200)
  })

  test('prompts are sorted as requested with unknown values last, and an unknown sort key is rejected', async () => {
    const tenant = await tenantWith('b', 'a', 'c', 'd')
    const now = service.now
    const prompts = await service.store.prompts.list(tenant.organisation.id)
    const idOf = (name: string) => prompts.find((prompt) => prompt.name === name)?.id as number
    const signals = (name: string, value: SignalValue, count: number) =>
      Array.from({ length: count }, () => signalFor(tenant, { createdAt: now, promptId: idOf(name), value }))
    await service.store.signals.import(
      inBatches([
        ...signals('a', 'positive', 1),
        ...signals('b', 'positive', 3),
        ...signals('b', 'negative', 1),
        ...signals('c', 'negative', 2),
        signalFor(tenant, { createdAt: now - 40 * day, promptId: idOf('d'), value: 'positive' }),
      ]),
    )
    for (const [name, at] of [
      ['c', now - 2 * day],
      ['a', now - 3 * day],
      ['d', now - day],
    ] as const) {
      const prompt = prompts.find((prompt) => prompt.name === name) as Prompt
      await service.store.history.record(prompt, newHistoryEntry(deployedEntry(at)), at, operator)
    }
    const sorted = async (sort: string) => namesOf(await list(tenant, `?sort=${sort}`)).join('')
    assert.equal(await sorted('name'), 'abcd')
    assert.equal(await sorted('-name'), 'dcba')
    assert.equal(await sorted('last_change'), 'acdb')
    assert.equal(await sorted('-last_change'), 'dcab')
    assert.equal(await sorted('signals'), 'acbd')
    assert.equal(await sorted('-signals'), 'bcad')
    assert.equal(await sorted('positive_share'), 'cbad')
    assert.equal(await sorted('-positive_share'), 'abcd')
    assert.equal(await sorted('-signals&limit=2&page=2'), 'ad')
    assert.equal(await sorted('-signals&q=A'), 'a')
    assertError(await request(tenant, 'GET', '?sort=size'), 422, 'validation_error', /^sort must be one of name, -name/)
  })

  test('a prompt from a repository has a path, is found by it, and keeps it when renamed', async () => {
    const scenario = await connectedScenario(service, {
      prepare(git) {
        git.commit('Start', { 'prompts/Deep_folder/p.md': 'Be kind.\n', 'prompts/q.md': 'Be brief.\n' })
        git.push()
      },
    })
    const { tenant } = scenario
    const id = await scenario.promptId('prompts/Deep_folder/p.md')
    const renamed = await request(tenant, 'PATCH', `/${id}`, { name: 'Kindness' })
    assert.equal(renamed.statusCode, 200, renamed.body)
    for (const q of ['deep_F', 'KIND']) {
      const [prompt, ...others] = await list(tenant, `?q=${q}`)
      assert.deepEqual(prompt, renamed.json().data)
      assert.deepEqual(
        [prompt?.id, prompt?.name, prompt?.path, others.length],
        [id, 'Kindness', 'prompts/Deep_folder/p.md', 0],
      )
    }
    assert.deepEqual(await search(tenant, 'deep%folder'), [])
    const [entry] = await scenario.historyOf(id)
    assert.deepEqual(renamed.json().data.last_change, entry)
    scenario.git.git('mv', 'prompts/Deep_folder/p.md', 'prompts/flat.md')
    scenario.git.commit('Move')
    await scenario.push()
    const [moved] = await list(tenant, '?q=flat')
    assert.deepEqual([moved?.id, moved?.name], [id, 'Kindness'])
    assert.deepEqual(moved?.last_change, (await scenario.historyOf(id)).at(-1))
  })

  test('a page by name is read again only once a prompt has changed, and one past the end each time', async () => {
    const tenant = await tenantWith('a', 'b')
    const { caches } = service.store.stats()
    const readsOf = async (query = '') => {
      const before = caches.prompt_pages.misses
      const names = namesOf(await list(tenant, query))
      return { names, reads: caches.prompt_pages.misses - before }
    }
    const past = `?page=${'9'.repeat(15)}`
    assert.deepEqual(await readsOf(), { names: ['a', 'b'], reads: 1 })
    assert.deepEqual(await readsOf(), { names: ['a', 'b'], reads: 0 })
    for (let i = 0; i < 2; i++) assert.deepEqual(await readsOf(past), { names: [], reads: 1 })
    const { id } = await create(tenant, 'c')
    assert.deepEqual(await readsOf(), { names: ['a', 'b', 'c'], reads: 1 })
    const renamed = await request(tenant, 'PATCH', `/${id}`, { name: '0' })
    assert.equal(renamed.statusCode, 200, renamed.body)
    assert.deepEqual(await readsOf(), { names: ['0', 'a', 'b'], reads: 1 })
    const deleted = await request(tenant, 'DELETE', `/${id}`)
    assert.equal(deleted.statusCode, 204, deleted.body)
    assert.deepEqual(await readsOf(), { names: ['a', 'b'], reads: 1 })
  })

  test('the last change of a prompt is the newest one that went live', async () => {
    const tenant = await admin()
    const at = (minutes: number, action: Action) => ({
      createdAt: service.now - day + minutes * 60_000,
      action,
      ...(action === 'deployed' ? {} : pull),
    })
    const lastChange = async () => (await request(tenant, 'GET', `/${tenant.prompt.publicId}`)).json().data.last_change
    await tenant.recordEntry(at(1, 'pr_opened'))
    assert.equal(await lastChange(), null)
    const deployed = await tenant.recordEntry(at(2, 'deployed'))
    assert.equal((await lastChange()).id, deployed.id)
    const merged = await tenant.recordEntry(at(5, 'pr_merged'))
    await tenant.recordEntry(at(4, 'deployed'))
    await tenant.recordEntry(at(6, 'pr_closed'))
    const last = await lastChange()
    assert.equal(last.id, merged.id)
    assert.deepEqual(last, (await tenant.history()).json().data[1])
    await create(tenant, 'unchanged')
    const [first, second] = await list(tenant)
    assert.deepEqual([first?.last_change, second?.last_change], [last, null])
  })

  test('of two changes with the same timestamp, the last change is the one the history lists first', async () => {
    const tenant = await admin()
    await tenant.recordEntry({ commitSha: 'b'.repeat(40) })
    await tenant.recordEntry({ commitSha: 'a'.repeat(40) })
    const [first] = (await tenant.history()).json().data
    assert.deepEqual((await list(tenant))[0]?.last_change, first)
  })

  test("a prompt's signals cover the last 30 days including today, by day", async () => {
    const [tenant, other] = [await admin(), await admin()]
    const now = service.now
    const second = await service.store.prompts.create(newPrompt(tenant.organisation.id, 'second', now), operator)
    await other.signal({ value: 'positive' })
    for (const value of ['positive', 'positive', 'negative']) await tenant.signal({ value })
    const negativeAt = (createdAt: number, promptId = tenant.prompt.id) =>
      signalFor(tenant, { createdAt, promptId, value: 'negative' })
    const firstDay = Date.UTC(2026, 9, 17)
    await service.store.signals.import(
      inBatches([
        negativeAt(firstDay - 1),
        negativeAt(firstDay),
        negativeAt(firstDay + day - 1),
        negativeAt(now - 60 * day),
        negativeAt(now, second.id),
      ]),
    )
    const [first, last] = await list(tenant)
    const single = await request(tenant, 'GET', `/${tenant.prompt.publicId}`)
    assert.deepEqual(single.json().data.signals, first?.signals)
    const { days = [], ...sums } = first?.signals ?? {}
    assert.deepEqual(sums, { positive: 2, negative: 3 })
    assert.deepEqual(
      days.map(({ start }) => start),
      Array.from({ length: 30 }, (_, i) => new Date(firstDay + i * day).toISOString()),
    )
    assert.deepEqual(
      days.filter(({ positive, negative }) => positive + negative > 0),
      [
        { start: '2026-10-17T00:00:00.000Z', positive: 0, negative: 2 },
        { start: '2026-11-15T00:00:00.000Z', positive: 2, negative: 1 },
      ],
    )
    assert.deepEqual([last?.signals.positive, last?.signals.negative], [0, 1])
  })

  test("a prompt's verdict is the one of its last change", async () => {
    const tenant = await admin()
    const now = service.now
    const second = await service.store.prompts.create(newPrompt(tenant.organisation.id, 'second', now), operator)
    await tenant.recordEntry({ createdAt: now - 20 * day })
    await tenant.recordEntry({ createdAt: now - 10 * day - 1_234 })
    assert.deepEqual(
      (await list(tenant)).map(({ verdict }) => verdict),
      ['too_little_data', null],
    )
    const signals = (at: number, positive: number, promptId = tenant.prompt.id) =>
      Array.from({ length: 300 }, (_, i) =>
        signalFor(tenant, { createdAt: at + i, promptId, value: (i * 113) % 300 < positive ? 'positive' : 'negative' }),
      )
    await service.store.signals.import(
      inBatches([...signals(now - 15 * day, 270), ...signals(now - 5 * day, 150), ...signals(now, 300, second.id)]),
    )
    const [impact] = (await request(tenant, 'GET', `/${tenant.prompt.publicId}/impact`)).json().data
    assert.deepEqual([impact.verdict, (await list(tenant))[0]?.verdict], ['worse', 'worse'])
  })

  test('a page of prompts takes as many statements as one prompt, and reads the hours of earlier days once', async () => {
    const tenant = await tenantWith(...Array.from({ length: 30 }, (_, i) => `p${i}`))
    const { id: organisationId } = tenant.organisation
    const prompts = await service.store.prompts.list(organisationId)
    for (const prompt of prompts) {
      for (const days of [20, 10]) {
        const entry = newHistoryEntry(deployedEntry(service.now - days * day))
        await service.store.history.record(prompt, entry, service.now, operator)
      }
    }
    const votes = prompts.flatMap(({ id: promptId }) =>
      Array.from({ length: 200 }, (_, i) => ({
        organisationId,
        promptId,
        value: i % 4 === 0 ? ('negative' as const) : ('positive' as const),
        metadata: null,
        createdAt: service.now - i * 0.1 * day,
      })),
    )
    await service.store.signals.import(inBatches(votes))
    const read = (limit: number) => databaseWorkOf(() => request(tenant, 'GET', `?limit=${limit}`))
    const first = await read(30)
    await read(1)
    const [page, one] = [await read(30), await read(1)]
    assert.equal(page.statements.length, one.statements.length)
    // PostgreSQL is asked whether another process has changed anything.
    const most = engine.name === 'SQLite' ? 7 : 8
    assert.ok(page.statements.length <= most, `It took ${page.statements.length} statements`)
    assert.ok(page.characters < first.characters / 2, `It read ${page.characters} of ${first.characters} characters`)
    // When the changes were live, their entries and what is expected of the votes are known from the reads before.
    const bytes = Array.from({ length: 11 }, () => 0)
    for (const i of bytes.keys()) {
      collectGarbage('minor')
      const before = process.memoryUsage().heapUsed
      await request(tenant, 'GET', '?limit=30')
      bytes[i] = (process.memoryUsage().heapUsed - before) / prompts.length
    }
    // A collection during a read makes it look cheaper than it was, and timers of the service make others dearer.
    const typical = bytes.sort((a, b) => a - b)[3] as number
    assert.ok(typical < 65_000, `A prompt took ${typical} bytes`)
  })
})
