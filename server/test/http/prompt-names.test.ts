import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertError } from '../../../testing/assertions.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { queryRows } from '../../../testing/rows.ts'
import { connectedScenario } from '../../../testing/scenario.ts'
import { openTestStore, type Tenant, useService } from '../../../testing/service.ts'
import { generateSecret, newApiKey } from '../../src/domain/access/api-key.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { namesForPath, newPrompt, validPromptName } from '../../src/domain/prompt.ts'
import { connectRepository } from '../../src/follow/connect.ts'
import { syncWithLease } from '../../src/follow/worker.ts'
import { promptRequests } from './prompt-requests.ts'

const unknownId = `pmt_${'0'.repeat(24)}`

onOneEngine('Prompts by name', (engine) => {
  const service = useService(engine)
  const { admin, request, create } = promptRequests(service)

  const byName = (tenant: Pick<Tenant, 'headers'>, name: string, rest = '') =>
    request(tenant, 'GET', `/${encodeURIComponent(name)}${rest}`)

  async function limited({ organisation }: Tenant, prompts: string): Promise<Pick<Tenant, 'headers'>> {
    const secret = generateSecret()
    const terms = { organisationId: organisation.id, name: 'limited', role: 'standard', prompts } as const
    await service.store.keys.create(newApiKey(secret, { ...terms, createdAt: service.now, expiresAt: null }), operator)
    return { headers: { authorization: `Bearer ${secret}` } }
  }

  /** As an earlier version could create them. */
  async function insertOld({ organisation }: Tenant, name: string, suffix: string): Promise<string> {
    const id = `pmt_${suffix.padEnd(24, 'x')}`
    await queryRows(
      service.url,
      `insert into prompts (organisation_id, public_id, name, created_at) values (${organisation.id}, '${id}', '${name}', 1)`,
    )
    return id
  }

  test('a signal and the history of a prompt are reached by its URL-encoded name', async () => {
    const tenant = await admin()
    const { publicId, name } = tenant.prompt
    const recorded = await request(tenant, 'POST', `/${encodeURIComponent(name)}/signals`, { value: 'positive' })
    assert.equal(recorded.statusCode, 201)
    assert.deepEqual(Object.keys(recorded.json().data), ['id', 'value', 'created_at'])
    assert.equal((await byName(tenant, name, '/history')).statusCode, 200)
    assert.equal((await byName(tenant, name)).json().data.id, publicId)
    assertError(await request(tenant, 'GET', `/${name}`), 404, 'not_found')
  })

  test('names are compared exactly: another case, another normalisation or a part of the name is a 404', async () => {
    const tenant = await admin()
    await create(tenant, 'Caf\u00e9')
    assert.equal((await byName(tenant, 'Caf\u00e9')).statusCode, 200)
    for (const name of ['caf\u00e9', 'Cafe\u0301', 'Caf', 'Caf%', ' Caf\u00e9']) {
      assertError(await byName(tenant, name), 404, 'not_found')
    }
  })

  test('an unknown name gets the body of an unknown ID, and costs the same lookups as a hidden prompt', async () => {
    const tenant = await admin()
    const other = await admin()
    const ofOther = await create(other, 'of another organisation')
    const scoped = await limited(tenant, 'nothing/**')
    const { caches } = service.store.stats()
    const misses = () => caches.prompts.misses + caches.named_prompts.misses
    const bodies = new Set<string>()
    const costs = new Set<number>()
    const references = [
      unknownId,
      tenant.prompt.publicId,
      tenant.prompt.name,
      ofOther.id,
      ofOther.name,
      'unknown name',
      'pmt_',
      'nul \0',
      'x'.repeat(1_001),
      '\u{1F600}'.repeat(1_000),
    ]
    for (const reference of references) {
      await byName(scoped, reference, '/history')
      const before = misses()
      const response = await byName(scoped, reference, '/history')
      assertError(response, 404, 'not_found')
      bodies.add(response.body)
      costs.add(misses() - before)
    }
    assert.deepEqual([bodies.size, [...costs]], [1, [2]])
  })

  test('a name that several prompts have gets 422 with their IDs, and each is still reached by its ID', async () => {
    const tenant = await admin()
    const ids = [await insertOld(tenant, 'shared', 'a'), await insertOld(tenant, 'shared', 'b')]
    const response = await byName(tenant, 'shared')
    assertError(response, 422, 'validation_error', /^Several prompts have this name or path/)
    assert.deepEqual(response.json().error.prompt_ids, ids)
    for (const id of ids) {
      assert.ok(response.json().error.message.includes(id))
      assert.equal((await byName(tenant, id)).statusCode, 200)
    }
    await request(tenant, 'DELETE', `/${ids[0]}`)
    assert.equal((await byName(tenant, 'shared')).json().data.id, ids[1])
  })

  test('the response to an ambiguous name lists at most 20 IDs', async () => {
    const tenant = await admin()
    for (let i = 0; i < 25; i++) await insertOld(tenant, 'crowded', `c${i}y`)
    const { error } = (await byName(tenant, 'crowded')).json()
    assert.equal(error.prompt_ids.length, 20)
    assert.match(error.message, / and 5 more\.$/)
  })

  test('an existing ID takes precedence over a prompt that has it as its name', async () => {
    const tenant = await admin()
    const { publicId } = tenant.prompt
    const impostor = await create(tenant, publicId)
    assert.equal((await byName(tenant, publicId)).json().data.id, publicId)
    await request(tenant, 'DELETE', `/${publicId}`)
    assert.equal((await byName(tenant, publicId)).json().data.id, impostor.id)
  })

  test('a prompt that is hidden from a key neither makes a name ambiguous nor appears among its IDs', async () => {
    const scenario = await connectedScenario(service)
    const { tenant } = scenario
    const file = await scenario.promptId('prompts/p.md')
    await request(tenant, 'PATCH', `/${file}`, { name: 'Support' })
    const named = await create(tenant, 'prompts/p.md')
    const both = await byName(tenant, 'prompts/p.md')
    assert.deepEqual(both.json().error.prompt_ids.toSorted(), [file, named.id].toSorted())
    // The name of the one and the path of the other match this glob, and only the name of the file matches the next.
    assert.equal((await byName(await limited(tenant, 'prompts/*'), 'prompts/p.md')).statusCode, 422)
    const scoped = await limited(tenant, 'Support')
    assert.equal((await byName(scoped, 'prompts/p.md')).json().data.id, file)
    assertError(await byName(scoped, named.id), 404, 'not_found')
  })

  test('a file is found by its path even after it was renamed', async () => {
    const scenario = await connectedScenario(service)
    const id = await scenario.promptId('prompts/p.md')
    assert.equal((await byName(scenario.tenant, 'prompts/p.md')).json().data.id, id)
    await request(scenario.tenant, 'PATCH', `/${id}`, { name: 'Support' })
    assert.equal((await byName(scenario.tenant, 'prompts/p.md')).json().data.id, id)
    assert.equal((await byName(scenario.tenant, 'Support')).json().data.id, id)
  })

  test('a rename is visible by name immediately, and in other processes after a refresh', async (t) => {
    const tenant = await admin()
    const other = await openTestStore(service.url, () => service.now)
    t.after(() => other.close())
    const { organisation, prompt } = tenant
    const inOther = async (name: string) => (await other.prompts.named(organisation.id, name)).length
    assert.equal(await inOther(prompt.name), 1)
    await request(tenant, 'PATCH', `/${prompt.publicId}`, { name: 'After' })
    assertError(await byName(tenant, prompt.name), 404, 'not_found')
    assert.equal((await byName(tenant, 'After')).statusCode, 200)
    await eventually(async () => {
      await other.refresh()
      assert.deepEqual([await inOther(prompt.name), await inOther('After')], [0, 1])
    })
  })
})

onOneEngine('Names of prompts', (engine) => {
  const service = useService(engine)
  const { admin, request, create, list } = promptRequests(service)

  test('a name that another prompt has gets 409, also for a rename, until that prompt is deleted', async () => {
    const tenant = await admin()
    const first = await create(tenant, 'Greeting')
    const second = await create(tenant, 'Farewell')
    const message = new RegExp(`^Another prompt, ${first.id}, already has this name`)
    const before = await list(tenant)
    assertError(await request(tenant, 'POST', '', { name: 'Greeting' }), 409, 'conflict', message)
    assertError(await request(tenant, 'PATCH', `/${second.id}`, { name: 'Greeting' }), 409, 'conflict', message)
    assert.deepEqual(await list(tenant), before)
    assert.equal((await request(tenant, 'PATCH', `/${first.id}`, { name: 'Greeting' })).statusCode, 200)
    await request(tenant, 'DELETE', `/${first.id}`)
    assert.equal((await request(tenant, 'PATCH', `/${second.id}`, { name: 'Greeting' })).statusCode, 200)
    assert.equal((await request(tenant, 'POST', '', { name: 'Farewell' })).statusCode, 201)
  })

  test('two organisations can use the same name', async () => {
    const [one, other] = [await admin(), await admin()]
    for (const tenant of [one, other]) {
      assert.equal((await request(tenant, 'POST', '', { name: 'Greeting' })).statusCode, 201)
    }
  })

  test('prompts of earlier versions may keep a name that they share, but no other prompt gets it', async () => {
    const tenant = await admin()
    const { organisation } = tenant
    const ids = ['1', '2'].map((digit) => `pmt_${digit.repeat(24)}`)
    for (const id of ids) {
      await queryRows(
        service.url,
        `insert into prompts (organisation_id, public_id, name, created_at) values (${organisation.id}, '${id}', 'old', 1)`,
      )
    }
    for (const id of ids) assert.equal((await request(tenant, 'PATCH', `/${id}`, { name: 'old' })).statusCode, 200)
    assertError(await request(tenant, 'POST', '', { name: 'old' }), 409, 'conflict')
    assertError(await request(tenant, 'PATCH', `/${tenant.prompt.publicId}`, { name: 'old' }), 409, 'conflict')
    assert.equal((await request(tenant, 'PATCH', `/${ids[0]}`, { name: 'new' })).statusCode, 200)
    assertError(await request(tenant, 'PATCH', `/${ids[0]}`, { name: 'old' }), 409, 'conflict')
  })

  test('of two processes that assign a name at the same time, exactly one succeeds', async (t) => {
    const tenant = await admin()
    const { organisation, prompt } = tenant
    const other = await openTestStore(service.url, () => service.now)
    t.after(() => other.close())
    for (let i = 0; i < 10; i++) {
      const name = `contested ${i} ${'\u{10FFFF}'.repeat(400)}`.slice(0, 900).toWellFormed()
      const outcomes = await Promise.allSettled([
        service.store.prompts.create({ ...newPrompt(organisation.id, 'x', service.now), name }, operator),
        other.prompts.create({ ...newPrompt(organisation.id, 'x', service.now), name }, operator),
        other.prompts.rename(prompt, name, service.now, operator),
      ])
      assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') assert.equal(outcome.reason.code, 'conflict', String(outcome.reason))
      }
      await other.prompts.rename(prompt, `free ${i}`, service.now, operator)
    }
  })

  test('the database itself rejects a second prompt with a unique name', async () => {
    const tenant = await admin()
    await create(tenant, 'Greeting')
    const insert = `insert into prompts (organisation_id, public_id, name, created_at, has_unique_name)
      values (${tenant.organisation.id}, 'pmt_${'9'.repeat(24)}', 'Greeting', 1, 1)`
    await assert.rejects(queryRows(service.url, insert), /unique/i)
  })

  test('a file whose path is taken as a name gets a name that says where it is, and follows the file', async () => {
    // Every test organisation has a prompt with this name.
    const path = 'prompts/a.md'
    const scenario = await connectedScenario(service, {
      prepare(git) {
        git.commit('Start', { [path]: 'Be kind.\n' })
        git.push()
      },
    })
    const { tenant, git } = scenario
    const nameOf = async (path: string) => (await list(tenant)).find((prompt) => prompt.path === path)?.name
    assert.match((await nameOf(path)) ?? '', /^prompts\/a\.md \(\/.+\)$/)
    assertError(await request(tenant, 'GET', `/${encodeURIComponent(path)}`), 422, 'validation_error')
    git.git('mv', path, 'prompts/b.md')
    git.commit('Move')
    await scenario.push()
    assert.equal(await nameOf('prompts/b.md'), 'prompts/b.md')
    git.git('mv', 'prompts/b.md', path)
    git.commit('Move back')
    await scenario.push()
    assert.match((await nameOf(path)) ?? '', /^prompts\/a\.md \(\/.+\)$/)
  })

  test('files that swap their paths swap their names, and two repositories can have the same path', async () => {
    const scenario = await connectedScenario(service)
    const { tenant, git } = scenario
    const [p, q] = [await scenario.promptId('prompts/p.md'), await scenario.promptId('prompts/q.md')]
    git.git('mv', 'prompts/p.md', 'prompts/t.md')
    git.git('mv', 'prompts/q.md', 'prompts/p.md')
    git.git('mv', 'prompts/t.md', 'prompts/q.md')
    git.commit('Swap')
    await scenario.push()
    const names = new Map((await list(tenant)).map(({ id, name, path }) => [id, [name, path]]))
    const expected = new Set([p, q].map((id) => names.get(id)?.join()))
    assert.deepEqual(expected, new Set(['prompts/p.md,prompts/p.md', 'prompts/q.md,prompts/q.md']))
    const { url } = scenario.repository
    const { lease } = await connectRepository(
      service.syncContext,
      {
        organisationId: tenant.organisation.id,
        forge: 'github',
        url,
        path: 'prompts/p.md',
        similarity: 100,
        token: null,
        secret: null,
      },
      operator,
    )
    await syncWithLease(service.syncContext, lease)
    const again = (await list(tenant)).filter(({ path }) => path === 'prompts/p.md').map(({ name }) => name)
    assert.equal(again.length, 2)
    assert.equal(new Set(again).size, 2)
  })

  test('a second prompt for the same path and place is named after its ID', () => {
    const names = namesForPath('prompts/a.md', unknownId, 'git@GitHub.com:Acme/Prompts.git')
    assert.deepEqual(names, ['prompts/a.md', 'prompts/a.md (github.com/acme/prompts)', `prompts/a.md (${unknownId})`])
    for (const name of namesForPath('x'.repeat(5_000), unknownId, `https://h.example/${'y'.repeat(1_500)}`)) {
      assert.ok(name.length <= 1_000)
      assert.equal(validPromptName(name), name)
    }
  })
})
