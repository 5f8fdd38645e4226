import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertError, assertMatchesSchema } from '../../../testing/assertions.ts'
import { onEachEngine } from '../../../testing/engines.ts'
import { inPortions, signalOf } from '../../../testing/recording.ts'
import { connected, type Entry } from '../../../testing/scenario.ts'
import { deployed, openTestStore, type Tenant, useService } from '../../../testing/service.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { type Action, newHistoryEntry } from '../../src/domain/history/entry.ts'
import { newPrompt, type Prompt } from '../../src/domain/prompt.ts'
import type { SignalValue } from '../../src/domain/signals/signal.ts'
import { onePromptSchema, promptPageSchema } from '../../src/http/prompts/schema.ts'

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

interface PromptBody {
  id: string
  name: string
  path: string | null
  created_at: string
  last_change: Entry | null
  verdict: string | null
  signals: { positive: number; negative: number; days: { start: string; positive: number; negative: number }[] }
}

const day = 24 * 3_600_000
const pull = { prNumber: 7, prUrl: 'https://example.com/7' }
const unknown = `pmt_${'0'.repeat(24)}`

onEachEngine('Prompts over HTTP', (engine) => {
  const service = useService(engine)
  const admin = () => service.tenant('free', 'admin')

  function ask(tenant: Pick<Tenant, 'headers'>, method: Method, path: string, body?: object | string) {
    return service.app.inject({
      method,
      url: `/api/v1/prompts${path}`,
      headers: { ...tenant.headers, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
  }

  async function create(tenant: Tenant, name: string): Promise<PromptBody> {
    const response = await ask(tenant, 'POST', '', { name })
    assert.equal(response.statusCode, 201, response.body)
    return response.json().data
  }

  async function list(tenant: Tenant, query = ''): Promise<PromptBody[]> {
    const response = await ask(tenant, 'GET', query)
    assert.equal(response.statusCode, 200, response.body)
    assertMatchesSchema(promptPageSchema, response)
    return response.json().data
  }

  async function found(tenant: Tenant, q: string): Promise<string[]> {
    return (await list(tenant, `?q=${encodeURIComponent(q)}`)).map(({ name }) => name)
  }

  /** An organisation with these prompts and no others. */
  async function tenantWith(...names: string[]): Promise<Tenant> {
    const tenant = await admin()
    await service.store.prompts.delete(tenant.prompt, service.now, operator)
    for (const name of names) await create(tenant, name)
    return tenant
  }

  const namesOf = (prompts: PromptBody[]) => prompts.map(({ name }) => name)

  test('a created prompt is there at once: in the list, by its id, for history and for signals', async () => {
    const tenant = await tenantWith()
    const response = await ask(tenant, 'POST', '', { name: 'Greeting', ignored: 1 })
    assert.equal(response.statusCode, 201)
    assert.equal(response.headers['content-type'], 'application/json; charset=utf-8')
    assertMatchesSchema(onePromptSchema, response)
    const { data } = response.json()
    assert.match(data.id, /^pmt_[0-9A-Za-z]{24}$/)
    const { days, ...sums } = data.signals
    assert.deepEqual(
      { ...data, signals: sums },
      {
        id: data.id,
        name: 'Greeting',
        path: null,
        created_at: '2026-11-15T12:00:00.000Z',
        last_change: null,
        verdict: null,
        signals: { positive: 0, negative: 0 },
      },
    )
    assert.equal(days.length, 30)
    assert.deepEqual(await list(tenant), [data])
    const one = await ask(tenant, 'GET', `/${data.id}`)
    assertMatchesSchema(onePromptSchema, one)
    assert.deepEqual(one.json(), { data })
    assert.equal((await ask(tenant, 'GET', `/${data.id}/history`)).statusCode, 200)
    assert.equal((await ask(tenant, 'POST', `/${data.id}/signals`, { value: 'positive' })).statusCode, 201)
  })

  test('names of any characters come back as they were sent, and two prompts may have the same', async () => {
    const names = [
      "Robert'); drop table prompts; --",
      '"; select 1',
      '<script>alert(1)</script>',
      '{"data": []}',
      '%_\\',
      ' spaces around ',
      '../../etc/passwd',
      '__proto__',
      '👩‍👩‍👧 Grüße עברית \u202e\u2028',
      '😀'.repeat(500),
    ]
    const tenant = await tenantWith(...names, '__proto__')
    assert.deepEqual(namesOf(await list(tenant)).sort(), [...names, '__proto__'].sort())
    for (const name of names) assert.ok((await found(tenant, name)).includes(name), name)
  })

  test('the list is ordered by name, then by id, in the same order on every engine', async () => {
    const names = ['b', 'B', 'a', 'ä', 'a b', 'a-b', 'Z', '_', '10', '9', '😀', '\uffee']
    const tenant = await tenantWith(...names)
    const [first, second] = [await create(tenant, 'same'), await create(tenant, 'same')]
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

  test('pages hold each prompt once and say how many there are, also past the end and where something is searched', async () => {
    const tenant = await tenantWith(...Array.from({ length: 7 }, (_, i) => `p${i}`), 'other')
    const seen: string[] = []
    for (const page of [1, 2, 3]) {
      const { data, pagination } = (await ask(tenant, 'GET', `?page=${page}&limit=3`)).json()
      assert.deepEqual(pagination, { current_page: page, total_pages: 3, total_count: 8, per_page: 3 })
      seen.push(...namesOf(data))
    }
    assert.deepEqual(seen, ['other', 'p0', 'p1', 'p2', 'p3', 'p4', 'p5', 'p6'])
    const searched = (await ask(tenant, 'GET', '?q=P&page=2&limit=5')).json()
    assert.deepEqual(namesOf(searched.data), ['p5', 'p6'])
    assert.deepEqual(searched.pagination, { current_page: 2, total_pages: 2, total_count: 7, per_page: 5 })
    for (const [query, total] of [
      ['', 8],
      ['q=p&', 7],
    ] as const) {
      const beyond = await ask(tenant, 'GET', `?${query}page=${'9'.repeat(30)}`)
      assert.match(beyond.body, new RegExp(`"current_page":${'9'.repeat(30)},"total_pages":1,"total_count":${total},`))
      assert.deepEqual(beyond.json().data, [])
    }
    const odd = (await ask(tenant, 'GET', '?page=-1&limit=1.5')).json().pagination
    assert.deepEqual([odd.current_page, odd.per_page], [1, 25])
    const empty = (await ask(await tenantWith(), 'GET', '')).json()
    assert.deepEqual(empty, {
      data: [],
      pagination: { current_page: 1, total_pages: 0, total_count: 0, per_page: 25 },
    })
  })

  test('a search finds parts of names, whatever their case, and takes every character for itself', async () => {
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
    for (const [q, expected] of searches) assert.deepEqual(await found(tenant, q), expected, q)
    assert.equal((await found(tenant, '')).length, names.length)
    assert.deepEqual(namesOf(await list(tenant, '?q=sure&q=percent')), ['100 percent'])
    assert.equal((await ask(tenant, 'GET', '?q=%zz%ff')).statusCode, 200)
  })

  test('prompts that come from a repository show their path, are found by it, and are renamed without it', async () => {
    const scenario = await connected(service, {
      prepare(git) {
        git.commit('Start', { 'prompts/Deep_folder/p.md': 'Be kind.\n', 'prompts/q.md': 'Be brief.\n' })
        git.push()
      },
    })
    const { tenant } = scenario
    const id = await scenario.promptId('prompts/Deep_folder/p.md')
    const renamed = await ask(tenant, 'PATCH', `/${id}`, { name: 'Kindness' })
    assert.equal(renamed.statusCode, 200, renamed.body)
    for (const q of ['deep_F', 'KIND']) {
      const [prompt, ...others] = await list(tenant, `?q=${q}`)
      assert.deepEqual(prompt, renamed.json().data)
      assert.deepEqual(
        [prompt?.id, prompt?.name, prompt?.path, others.length],
        [id, 'Kindness', 'prompts/Deep_folder/p.md', 0],
      )
    }
    assert.deepEqual(await found(tenant, 'deep%folder'), [])
    const [entry] = await scenario.historyOf(id)
    assert.deepEqual(renamed.json().data.last_change, entry)
    scenario.git.git('mv', 'prompts/Deep_folder/p.md', 'prompts/flat.md')
    scenario.git.commit('Move')
    await scenario.push()
    const [moved] = await list(tenant, '?q=flat')
    assert.deepEqual([moved?.id, moved?.name], [id, 'Kindness'])
    assert.deepEqual(moved?.last_change, (await scenario.historyOf(id)).at(-1))
  })

  test('the last change is the newest that went live, of each prompt its own', async () => {
    const tenant = await admin()
    const at = (minutes: number, action: Action) => ({
      createdAt: service.now - day + minutes * 60_000,
      action,
      ...(action === 'deployed' ? {} : pull),
    })
    const lastOf = async () => (await ask(tenant, 'GET', `/${tenant.prompt.publicId}`)).json().data.last_change
    await tenant.record(at(1, 'pr_opened'))
    assert.equal(await lastOf(), null)
    const deployed = await tenant.record(at(2, 'deployed'))
    assert.equal((await lastOf()).id, deployed.id)
    const merged = await tenant.record(at(5, 'pr_merged'))
    await tenant.record(at(4, 'deployed'))
    await tenant.record(at(6, 'pr_closed'))
    const last = await lastOf()
    assert.equal(last.id, merged.id)
    assert.deepEqual(last, (await tenant.history()).json().data[1])
    await create(tenant, 'without')
    const [first, second] = await list(tenant)
    assert.deepEqual([first?.last_change, second?.last_change], [last, null])
  })

  test('of two changes in the same millisecond the last is the one that the history shows first', async () => {
    const tenant = await admin()
    await tenant.record({ commitSha: 'b'.repeat(40) })
    await tenant.record({ commitSha: 'a'.repeat(40) })
    const [first] = (await tenant.history()).json().data
    assert.deepEqual((await list(tenant))[0]?.last_change, first)
  })

  test('signals are those of the last 30 days, today included, by day, of each prompt its own', async () => {
    const [tenant, other] = [await admin(), await admin()]
    const now = service.now
    const second = await service.store.prompts.create(newPrompt(tenant.organisation.id, 'second', now), operator)
    await other.signal({ value: 'positive' })
    for (const value of ['positive', 'positive', 'negative']) await tenant.signal({ value })
    const told = (createdAt: number, promptId = tenant.prompt.id) =>
      signalOf(tenant, { createdAt, promptId, value: 'negative' })
    const edge = Date.UTC(2026, 9, 17)
    await service.store.signals.import(
      inPortions([told(edge - 1), told(edge), told(edge + day - 1), told(now - 60 * day), told(now, second.id)]),
    )
    const [first, last] = await list(tenant)
    const one = await ask(tenant, 'GET', `/${tenant.prompt.publicId}`)
    assert.deepEqual(one.json().data.signals, first?.signals)
    const { days = [], ...sums } = first?.signals ?? {}
    assert.deepEqual(sums, { positive: 2, negative: 3 })
    assert.deepEqual(
      days.map(({ start }) => start),
      Array.from({ length: 30 }, (_, i) => new Date(edge + i * day).toISOString()),
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

  test('the verdict is that of the last change, as the impact tells it, of each prompt its own', async () => {
    const tenant = await admin()
    const now = service.now
    const second = await service.store.prompts.create(newPrompt(tenant.organisation.id, 'second', now), operator)
    await tenant.record({ createdAt: now - 20 * day })
    await tenant.record({ createdAt: now - 10 * day - 1_234 })
    assert.deepEqual(
      (await list(tenant)).map(({ verdict }) => verdict),
      ['too_little_data', null],
    )
    const told = (at: number, positive: number, promptId = tenant.prompt.id) =>
      Array.from({ length: 300 }, (_, i) =>
        signalOf(tenant, { createdAt: at + i, promptId, value: i < positive ? 'positive' : 'negative' }),
      )
    await service.store.signals.import(
      inPortions([...told(now - 15 * day, 270), ...told(now - 5 * day, 150), ...told(now, 300, second.id)]),
    )
    const [impact] = (await ask(tenant, 'GET', `/${tenant.prompt.publicId}/impact`)).json().data
    assert.deepEqual([impact.verdict, (await list(tenant))[0]?.verdict], ['worse', 'worse'])
  })

  test('lists come sorted as asked, what cannot be told last, and an order that is none is refused', async () => {
    const tenant = await tenantWith('b', 'a', 'c', 'd')
    const now = service.now
    const prompts = await service.store.prompts.list(tenant.organisation.id)
    const idOf = (name: string) => prompts.find((prompt) => prompt.name === name)?.id as number
    const told = (name: string, value: SignalValue, count: number) =>
      Array.from({ length: count }, () => signalOf(tenant, { createdAt: now, promptId: idOf(name), value }))
    await service.store.signals.import(
      inPortions([
        ...told('a', 'positive', 1),
        ...told('b', 'positive', 3),
        ...told('b', 'negative', 1),
        ...told('c', 'negative', 2),
        signalOf(tenant, { createdAt: now - 40 * day, promptId: idOf('d'), value: 'positive' }),
      ]),
    )
    for (const [name, at] of [
      ['c', now - 2 * day],
      ['a', now - 3 * day],
      ['d', now - day],
    ] as const) {
      const prompt = prompts.find((each) => each.name === name) as Prompt
      await service.store.history.record(prompt, newHistoryEntry(deployed(at)))
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
    assertError(await ask(tenant, 'GET', '?sort=size'), 422, 'validation_error', /^sort must be one of name, -name/)
  })

  test('a renamed prompt has its new name at once, keeps the rest, and another process sees it after refresh', async () => {
    const tenant = await admin()
    await tenant.record()
    await tenant.signal({ value: 'positive' })
    const id = tenant.prompt.publicId
    const other = await openTestStore(service.url, () => service.now)
    const seenByOther = () => other.prompts.find(tenant.organisation.id, id)
    try {
      const before = (await ask(tenant, 'GET', `/${id}`)).json().data
      assert.equal((await seenByOther())?.name, 'prompts/a.md')
      const response = await ask(tenant, 'PATCH', `/${id}`, { name: 'New' })
      assert.equal(response.statusCode, 200)
      assertMatchesSchema(onePromptSchema, response)
      assert.deepEqual(response.json().data, { ...before, name: 'New' })
      assert.deepEqual((await ask(tenant, 'GET', `/${id}`)).json(), response.json())
      assert.deepEqual(await list(tenant), [response.json().data])
      await passingTime()
      await other.refresh()
      assert.equal((await seenByOther())?.name, 'New')
      await other.prompts.rename(tenant.prompt, 'By another process', 1, operator)
      await passingTime()
      assert.equal((await ask(tenant, 'GET', `/${id}`)).json().data.name, 'By another process')
    } finally {
      await other.close()
    }
  })

  test('a deleted prompt is not found from then on, by nobody and in no way, while its signals stay counted', async () => {
    const tenant = await admin()
    const kept = await create(tenant, 'kept')
    await tenant.signal({ value: 'positive' })
    const id = tenant.prompt.publicId
    const other = await openTestStore(service.url, () => service.now)
    try {
      assert.ok(await other.prompts.find(tenant.organisation.id, id))
      const response = await ask(tenant, 'DELETE', `/${id}`)
      assert.deepEqual([response.statusCode, response.body], [204, ''])
      assertError(await ask(tenant, 'GET', `/${id}`), 404, 'not_found')
      assertError(await ask(tenant, 'PATCH', `/${id}`, { name: 'x' }), 404, 'not_found')
      assertError(await ask(tenant, 'DELETE', `/${id}`), 404, 'not_found')
      assertError(await tenant.history(), 404, 'not_found')
      assertError(await tenant.signal({ value: 'positive' }), 404, 'not_found')
      assert.deepEqual(await list(tenant), [kept])
      assert.deepEqual(await list(tenant, '?q=prompts'), [])
      assert.equal(await tenant.used(), 1)
      await passingTime()
      await other.refresh()
      assert.equal(await other.prompts.find(tenant.organisation.id, id), null)
    } finally {
      await other.close()
    }
  })

  test('who renames a prompt that another process has just deleted is told that there is none', async () => {
    const tenant = await admin()
    await service.store.prompts.delete(tenant.prompt, service.now, operator)
    assert.equal(await service.store.prompts.rename(tenant.prompt, 'Too late', service.now, operator), null)
    assert.equal(await service.store.prompts.findAnywhere(tenant.prompt.publicId), null)
  })

  test('refuses a name that is wrong or missing by its name, and changes nothing', async () => {
    const tenant = await admin()
    const before = await list(tenant)
    const wrong: [object | string, RegExp][] = [
      [{}, /^name must be given/],
      [{ name: '' }, /^name must not be empty/],
      [{ name: ' \u00a0' }, /^name must not be empty/],
      [{ name: null }, /^name must be a string/],
      [{ name: 5 }, /^name must be a string/],
      [{ name: ['a'] }, /^name must be a string/],
      [{ name: 'x'.repeat(1_001) }, /^name must be at most 1000 characters/],
      [{ name: 'a\nb' }, /^name must not contain control characters/],
      [{ name: 'a\u0000' }, /^name must not contain control characters/],
      ['{"name":"\\ud800"}', /^name must be valid Unicode/],
      ['nonsense', /^The body is not valid JSON/],
      ['"name"', /^The body must be a JSON object/],
      ['', /^The body is empty/],
    ]
    for (const [body, message] of wrong) {
      assertError(await ask(tenant, 'POST', '', body), 422, 'validation_error', message)
      assertError(await ask(tenant, 'PATCH', `/${tenant.prompt.publicId}`, body), 422, 'validation_error', message)
    }
    assert.deepEqual(await list(tenant), before)
  })

  test("another organisation's prompts do not exist", async () => {
    const [tenant, other] = [await admin(), await admin()]
    const before = await list(other)
    const answers = new Set<string>()
    for (const id of [other.prompt.publicId, unknown, 'pmt_', 'nonsense', '%00', 'x'.repeat(5_000)]) {
      for (const method of ['GET', 'PATCH', 'DELETE'] as const) {
        const response = await ask(tenant, method, `/${id}`, method === 'PATCH' ? { name: 'Mine' } : undefined)
        assertError(response, 404, 'not_found')
        answers.add(response.body)
      }
    }
    assert.equal(answers.size, 1)
    assert.deepEqual(await list(other), before)
    assert.deepEqual(
      (await list(tenant, `?q=prompts`)).map(({ id }) => id),
      [tenant.prompt.publicId],
    )
  })

  test('reading is for standard and admin keys, everything else for admin keys', async () => {
    const tenant = await admin()
    const path = `/${tenant.prompt.publicId}`
    const rules: [Method, string, object | undefined, string[]][] = [
      ['GET', '', undefined, ['standard', 'admin']],
      ['GET', path, undefined, ['standard', 'admin']],
      ['POST', '', { name: 'x' }, ['admin']],
      ['PATCH', path, { name: 'x' }, ['admin']],
      ['DELETE', path, undefined, ['admin']],
    ]
    for (const [method, path, body, allowed] of rules) {
      for (const role of ['ingest', 'standard', 'admin'] as const) {
        const headers = { authorization: `Bearer ${await service.key(tenant.organisation, role)}` }
        const response = await ask({ headers }, method, path, body)
        if (allowed.includes(role)) assert.ok(response.statusCode < 300, `${role} ${method}: ${response.body}`)
        else assertError(response, 403, 'forbidden')
      }
      assertError(await ask({ headers: {} }, method, path, body), 401, 'unauthorized')
    }
  })
})

/** PostgreSQL is asked what is new at most every 5 ms. */
function passingTime(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 10))
}
