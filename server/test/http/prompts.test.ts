import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onePromptSchema } from '../../../contract/prompts.ts'
import { assertError, assertMatchesSchema } from '../../../testing/assertions.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { openTestStore, useService } from '../../../testing/service.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { type Method, namesOf, promptRequests } from './prompt-requests.ts'

const unknown = `pmt_${'0'.repeat(24)}`

onOneEngine('Prompts', (engine) => {
  const service = useService(engine)
  const { admin, request, create, list, search, tenantWith } = promptRequests(service)

  test('a created prompt is immediately available in the list, by ID, for history and for signals', async () => {
    const tenant = await tenantWith()
    const response = await request(tenant, 'POST', '', { name: 'Greeting', ignored: 1 })
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
        first_version: false,
        regression: null,
        signals: { positive: 0, negative: 0 },
      },
    )
    assert.equal(days.length, 30)
    assert.deepEqual(await list(tenant), [data])
    const one = await request(tenant, 'GET', `/${data.id}`)
    assertMatchesSchema(onePromptSchema, one)
    assert.deepEqual(one.json(), { data })
    assert.equal((await request(tenant, 'GET', `/${data.id}/history`)).statusCode, 200)
    assert.equal((await request(tenant, 'POST', `/${data.id}/signals`, { value: 'positive' })).statusCode, 201)
  })

  test('prompt names of any characters are returned as sent, and find their prompt', async () => {
    const names = [
      "Robert'); drop table prompts; --",
      '"; select 1',
      '<script>alert(1)</script>',
      '{"data": []}',
      '%_\\',
      ' spaces around ',
      '../../etc/passwd',
      '__proto__',
      '👩‍👩‍👧 Grüße עברית \u2028',
      '😀'.repeat(500),
    ]
    const tenant = await tenantWith(...names)
    assert.deepEqual(namesOf(await list(tenant)).sort(), names.toSorted())
    for (const name of names) {
      assert.ok((await search(tenant, name)).includes(name), name)
      const found = await request(tenant, 'GET', `/${encodeURIComponent(name)}`)
      assert.equal(found.json().data?.name, name, found.body)
    }
  })

  test('a renamed prompt has its new name immediately, in other processes after a refresh, and nothing else changes', async (t) => {
    const tenant = await admin()
    await tenant.recordEntry()
    await tenant.signal({ value: 'positive' })
    const id = tenant.prompt.publicId
    const other = await openTestStore(service.url, () => service.now)
    t.after(() => other.close())
    const nameInOther = async () => (await other.prompts.find(tenant.organisation.id, id))?.name
    const before = (await request(tenant, 'GET', `/${id}`)).json().data
    assert.equal(await nameInOther(), 'prompts/a.md')
    const response = await request(tenant, 'PATCH', `/${id}`, { name: 'New' })
    assert.equal(response.statusCode, 200)
    assertMatchesSchema(onePromptSchema, response)
    assert.deepEqual(response.json().data, { ...before, name: 'New' })
    assert.deepEqual((await request(tenant, 'GET', `/${id}`)).json(), response.json())
    assert.deepEqual(await list(tenant), [response.json().data])
    await eventually(async () => {
      await other.refresh()
      assert.equal(await nameInOther(), 'New')
    })
    await other.prompts.rename(tenant.prompt, 'By another process', 1, operator)
    await eventually(async () => {
      assert.equal((await request(tenant, 'GET', `/${id}`)).json().data.name, 'By another process')
    })
  })

  test('a deleted prompt gets 404 everywhere, and its signals still count towards the limit', async (t) => {
    const tenant = await admin()
    const remaining = await create(tenant, 'remaining')
    await tenant.signal({ value: 'positive' })
    const id = tenant.prompt.publicId
    const other = await openTestStore(service.url, () => service.now)
    t.after(() => other.close())
    assert.ok(await other.prompts.find(tenant.organisation.id, id))
    const response = await request(tenant, 'DELETE', `/${id}`)
    assert.deepEqual([response.statusCode, response.body], [204, ''])
    assertError(await request(tenant, 'GET', `/${id}`), 404, 'not_found')
    assertError(await request(tenant, 'PATCH', `/${id}`, { name: 'x' }), 404, 'not_found')
    assertError(await request(tenant, 'DELETE', `/${id}`), 404, 'not_found')
    assertError(await tenant.history(), 404, 'not_found')
    assertError(await tenant.signal({ value: 'positive' }), 404, 'not_found')
    assert.deepEqual(await list(tenant), [remaining])
    assert.deepEqual(await list(tenant, '?q=prompts'), [])
    assert.equal(await tenant.used(), 1)
    await eventually(async () => {
      await other.refresh()
      assert.equal(await other.prompts.find(tenant.organisation.id, id), null)
    })
  })

  test('renaming a prompt that another process has just deleted finds nothing', async () => {
    const tenant = await admin()
    await service.store.prompts.delete(tenant.prompt, service.now, operator)
    assert.equal(await service.store.prompts.rename(tenant.prompt, 'Too late', service.now, operator), null)
    assert.equal(await service.store.prompts.findInAnyOrganisation(tenant.prompt.publicId), null)
  })

  test('an invalid or missing prompt name is rejected by field name, and nothing changes', async () => {
    const tenant = await admin()
    const before = await list(tenant)
    const invalid: [object | string, RegExp][] = [
      [{}, /^name is required/],
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
    for (const [body, message] of invalid) {
      assertError(await request(tenant, 'POST', '', body), 422, 'validation_error', message)
      assertError(await request(tenant, 'PATCH', `/${tenant.prompt.publicId}`, body), 422, 'validation_error', message)
    }
    assert.deepEqual(await list(tenant), before)
  })

  test('prompts of another organisation get 404', async () => {
    const [tenant, other] = [await admin(), await admin()]
    const before = await list(other)
    const bodies = new Set<string>()
    for (const id of [other.prompt.publicId, unknown, 'pmt_', 'nonsense', '%00', 'x'.repeat(5_000)]) {
      for (const method of ['GET', 'PATCH', 'DELETE'] as const) {
        const response = await request(tenant, method, `/${id}`, method === 'PATCH' ? { name: 'Mine' } : undefined)
        assertError(response, 404, 'not_found')
        bodies.add(response.body)
      }
    }
    assert.equal(bodies.size, 1)
    assert.deepEqual(await list(other), before)
    assert.deepEqual(
      (await list(tenant, `?q=prompts`)).map(({ id }) => id),
      [tenant.prompt.publicId],
    )
  })

  test('standard and admin keys can read prompts; only admin keys can change them', async () => {
    const tenant = await admin()
    const path = `/${tenant.prompt.publicId}`
    const rules: [Method, string, object | undefined, string[]][] = [
      ['GET', '', undefined, ['standard', 'admin']],
      ['GET', path, undefined, ['standard', 'admin']],
      ['POST', '', { name: 'x' }, ['admin']],
      ['PATCH', path, { name: 'y' }, ['admin']],
      ['DELETE', path, undefined, ['admin']],
    ]
    for (const [method, path, body, allowed] of rules) {
      for (const role of ['ingest', 'standard', 'admin'] as const) {
        const headers = { authorization: `Bearer ${await service.key(tenant.organisation, role)}` }
        const response = await request({ headers }, method, path, body)
        if (allowed.includes(role)) assert.ok(response.statusCode < 300, `${role} ${method}: ${response.body}`)
        else assertError(response, 403, 'forbidden')
      }
      assertError(await request({ headers: {} }, method, path, body), 401, 'unauthorized')
    }
  })
})
