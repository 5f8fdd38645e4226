import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { InjectOptions } from 'fastify'
import { assertError } from '../../../testing/assertions.ts'
import { onEachEngine } from '../../../testing/engines.ts'
import { openRegression } from '../../../testing/regressions.ts'
import { type Tenant, useService } from '../../../testing/service.ts'
import { generateSecret, hashSecret, isActive, newApiKey, type Role } from '../../src/domain/access/api-key.ts'
import { operator } from '../../src/domain/access/audit.ts'
import type { NewPerson, Person, PersonRole } from '../../src/domain/access/person.ts'
import { startSession } from '../../src/domain/access/session.ts'
import { archiveTables } from '../../src/store/sql/archive-tables.ts'
import { cookieWith, sameOrigin } from './session-requests.ts'

onEachEngine('People', (engine) => {
  const service = useService(engine)

  function join(
    tenant: Pick<Tenant, 'organisation'>,
    role: PersonRole,
    more: Partial<NewPerson> = {},
  ): Promise<Person> {
    const { id: organisationId } = tenant.organisation
    const person = { organisationId, email: 'ada@example.com', name: 'Ada', subject: null, role, roleFrom: 'default' }
    return service.store.people.add({ ...person, createdAt: service.now, ...more } as NewPerson)
  }

  /** A signed-in browser. */
  async function browserOf(person: Person) {
    const { token } = await startSession(service.store.sessions, person, { endsBy: null, client: 'Test' }, service.now)
    let cookie = cookieWith(service, token)
    return {
      token,
      async send(method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, payload?: object) {
        const options: InjectOptions = { method, url: `/api/v1${path}`, headers: { ...sameOrigin, cookie } }
        const response = await service.app.inject(payload === undefined ? options : { ...options, payload })
        const [changed] = /^__Host-[^;]+/.exec(String(response.headers['set-cookie'] ?? '')) ?? []
        if (changed !== undefined) cookie = changed
        return response
      },
    }
  }

  const createKey = async (browser: Awaited<ReturnType<typeof browserOf>>, role: string, more = {}) =>
    (await browser.send('POST', '/keys', { name: 'mine', role, ...more })).json()

  test('a session of a person has the rights of their role, by the same rules as a key', async () => {
    const tenant = await service.tenant('free', 'admin')
    const roles = { viewer: [200, 403, 403], member: [200, 201, 403], admin: [200, 201, 200] }
    for (const [role, expected] of Object.entries(roles)) {
      const browser = await browserOf(await join(tenant, role as PersonRole, { email: `${role}@example.com` }))
      const path = tenant.path.slice('/api/v1'.length)
      const statuses = [
        (await browser.send('GET', `${path}/history`)).statusCode,
        (await browser.send('POST', `${path}/shares`, {})).statusCode,
        (await browser.send('GET', '/alerts')).statusCode,
      ]
      assert.deepEqual(statuses, expected, role)
      const other = await service.tenant()
      assertError(await browser.send('GET', `${other.path.slice('/api/v1'.length)}/history`), 404, 'not_found')
    }
  })

  test('a disabled person loses their sessions and their keys at once, and enabling brings back neither', async () => {
    const tenant = await service.tenant('free', 'admin')
    const person = await join(tenant, 'member')
    const browser = await browserOf(person)
    const { data: key } = await createKey(browser, 'standard')
    const withKey = () =>
      service.app.inject({ url: '/api/v1/prompts', headers: { authorization: `Bearer ${key.key}` } })
    assert.equal((await withKey()).statusCode, 200)
    const change = (disabled: boolean) =>
      service.app.inject({
        method: 'PATCH',
        url: `/api/v1/people/${person.id}`,
        headers: tenant.headers,
        payload: { disabled },
      })
    assert.equal((await change(true)).json().data.disabled_at, new Date(service.now).toISOString())
    assert.deepEqual([(await browser.send('GET', '/session')).statusCode, (await withKey()).statusCode], [401, 401])
    assert.equal((await change(false)).json().data.disabled_at, null)
    assert.deepEqual([(await browser.send('GET', '/session')).statusCode, (await withKey()).statusCode], [401, 401])
    assert.equal((await (await browserOf(person)).send('GET', '/session')).statusCode, 200)
  })

  test('a deleted person loses their sessions and keys, and is named only by the audit log', async () => {
    const tenant = await service.tenant('free', 'admin')
    const { organisation, prompt } = tenant
    const person = await join(tenant, 'member', { email: 'eve@example.com', name: 'Eve' })
    const browser = await browserOf(person)
    const { data: key } = await createKey(browser, 'standard')
    const { id, entry } = await openRegression(tenant, service.now)
    const path = `/prompts/${prompt.publicId}/regressions/${id}`
    const triage = { acknowledged: true, owner: 'Eve@example.com', comment: 'Looking into it.' }
    assert.equal((await browser.send('PATCH', path, triage)).statusCode, 200)
    const moved = { at: service.now, between: [service.now, service.now] as [number, number], foundAt: service.now }
    const rates = { rateBefore: 0.9, rateAfter: 0.6, entryId: null, sharedWith: null, candidates: null }
    await service.store.shifts.replace(prompt, [{ ...moved, ...rates }])
    const [shift] = await service.store.shifts.ofPrompt(prompt)
    const shiftPath = `/prompts/${prompt.publicId}/shifts/${shift?.id}`
    assert.equal((await browser.send('PATCH', shiftPath, triage)).statusCode, 200)
    assert.equal((await browser.send('POST', `${shiftPath}/dismiss`, { note: 'Expected.' })).statusCode, 200)
    const remove = () =>
      service.app.inject({ method: 'DELETE', url: `/api/v1/people/${person.id}`, headers: tenant.headers })
    assert.equal((await remove()).statusCode, 204)
    assertError(await remove(), 404, 'not_found')
    const withKey = await service.app.inject({ url: '/api/v1/usage', headers: { authorization: `Bearer ${key.key}` } })
    assert.deepEqual([(await browser.send('GET', '/session')).statusCode, withKey.statusCode], [401, 401])
    const read = async (url: string) =>
      (await service.app.inject({ url: `/api/v1${url}`, headers: tenant.headers })).json().data
    assert.deepEqual(await read('/people'), [])
    const { owner, acknowledged_by, steps } = await read(path)
    assert.deepEqual([owner, acknowledged_by], [entry.user.email, 'Deleted person'])
    assert.deepEqual(
      steps.map(({ by, text }: { by: string; text: string | null }) => [by, text]),
      [
        ['Deleted person', 'Deleted person'],
        ['Deleted person', null],
        ['Deleted person', 'Looking into it.'],
      ],
    )
    const left = await read(shiftPath)
    assert.deepEqual([left.owner, left.acknowledged_by, left.dismissed_by], [null, 'Deleted person', 'Deleted person'])
    assert.ok(left.steps.every(({ by }: { by: string }) => by === 'Deleted person'))
    const naming = await service.store.archive.read(organisation.id, async (snapshot) => {
      const found = new Set<string>()
      for (const table of archiveTables) {
        for await (const rows of snapshot.rows(table)) {
          if (rows.flat().some((value) => /^eve(@example\.com)?$/i.test(String(value)))) found.add(table.name)
        }
      }
      return [...found]
    })
    assert.deepEqual(naming, ['audit'])
    // They may join again, as someone new.
    assert.notEqual((await join(tenant, 'viewer', { email: 'eve@example.com' })).id, person.id)
  })

  test('people manage their own keys only, which may do no more than they may, and only while signed in', async () => {
    const tenant = await service.tenant('free', 'admin')
    const member = await browserOf(await join(tenant, 'member'))
    const viewer = await browserOf(await join(tenant, 'viewer', { email: 'v@example.com' }))
    for (const role of ['admin', 'signing', 'recorder'])
      assert.equal((await createKey(member, role)).error.code, 'validation_error')
    for (const role of ['standard', 'delivery', 'ingest'])
      assert.equal((await createKey(viewer, role)).error.code, 'validation_error')
    const { data: own } = await createKey(member, 'reader')
    const list = async (browser: typeof member) =>
      (await browser.send('GET', '/keys')).json().data.map(({ id }: { id: number }) => id)
    assert.deepEqual([await list(member), await list(viewer)], [[own.id], []])
    assertError(await viewer.send('DELETE', `/keys/${own.id}`), 404, 'not_found')
    const organisationKey = await service.store.keys.findAccess(hashSecret(tenant.key))
    assertError(await member.send('DELETE', `/keys/${organisationKey?.keyId}`), 404, 'not_found')
    // One of their keys is no session: it could create one that may do more than itself.
    const payload = { name: 'more', role: 'standard' }
    const headers = { authorization: `Bearer ${own.key}` }
    assertError(await service.app.inject({ method: 'POST', url: '/api/v1/keys', headers, payload }), 403, 'forbidden')
    assert.equal((await member.send('POST', `/keys/${own.id}/rotate`)).json().data.person_id, own.person_id)
    assert.equal((await member.send('DELETE', `/keys/${own.id}`)).statusCode, 204)
  })

  test('a key of a person whose role was lowered or who was disabled meanwhile is not created', async () => {
    const tenant = await service.tenant('free', 'admin')
    const person = await join(tenant, 'admin')
    const { id: personId, organisationId } = person
    const terms = { organisationId, personId, name: 'late', createdAt: service.now, expiresAt: null }
    const create = (role: Role) =>
      service.store.keys.create(newApiKey(generateSecret(), { ...terms, role }), { keyId: person.keyId })
    const old = await create('standard')
    const rotate = () => {
      const replacement = newApiKey(generateSecret(), { ...terms, role: old.role })
      return service.store.keys.rotate(old.id, replacement, service.now, operator)
    }
    const lower = service.store.people.setRole(person, 'viewer', 'admin', service.now, operator)
    const results = await Promise.allSettled([lower, create('admin'), create('standard'), rotate()])
    assert.equal(results[0].status, 'fulfilled')
    await assert.rejects(create('delivery'), /may not have a key with the role delivery/)
    const usable = async () =>
      (await service.store.keys.list(organisationId, personId)).filter((key) => isActive(key, service.now))
    assert.deepEqual(await usable(), [])
    await Promise.allSettled([service.store.people.disable(person, service.now, operator), create('reader')])
    assert.deepEqual(await usable(), [])
  })

  test('the key of a person’s sessions is in no list, and cannot be rotated or revoked as a key', async () => {
    const tenant = await service.tenant('free', 'admin')
    const person = await join(tenant, 'member')
    const admin = { headers: tenant.headers }
    const { data } = (await service.app.inject({ url: '/api/v1/keys', ...admin })).json()
    assert.ok(!data.some(({ id }: { id: number }) => id === person.keyId))
    const url = `/api/v1/keys/${person.keyId}`
    assertError(await service.app.inject({ method: 'DELETE', url, ...admin }), 404, 'not_found')
    assertError(await service.app.inject({ method: 'POST', url: `${url}/rotate`, ...admin }), 404, 'not_found')
  })

  test('a lower role takes effect on the next request, and revokes the keys that may do more', async () => {
    const tenant = await service.tenant('free', 'admin')
    const person = await join(tenant, 'admin')
    const browser = await browserOf(person)
    const [adminKey, readerKey] = [
      (await createKey(browser, 'admin', { personal: true })).data,
      (await createKey(browser, 'reader', { personal: true })).data,
    ]
    await browser.send('PATCH', `/people/${person.id}`, { role: 'viewer' })
    assertError(await browser.send('GET', '/alerts'), 403, 'forbidden')
    const isUsable = async (key: string) => {
      const access = await service.store.keys.findAccess(hashSecret(key))
      return access !== null && isActive(access, service.now)
    }
    assert.deepEqual([await isUsable(adminKey.key), await isUsable(readerKey.key)], [false, true])
  })

  test('the audit log names the person, in the console and with each of their keys', async () => {
    const tenant = await service.tenant('free', 'admin')
    const person = await join(tenant, 'admin')
    const browser = await browserOf(person)
    const { data: key } = await createKey(browser, 'admin', { personal: true })
    const headers = { authorization: `Bearer ${key.key}` }
    await service.app.inject({ method: 'POST', url: '/api/v1/prompts', headers, payload: { name: 'By key' } })
    await browser.send('POST', '/prompts', { name: 'By browser' })
    const { data } = (await browser.send('GET', `/audit?person=${person.id}`)).json()
    const found = data.map(({ action, actor }: { action: string; actor: { name: string; person_id: number } }) => [
      action,
      actor.name,
      actor.person_id,
    ])
    assert.deepEqual(found, [
      ['prompt.created', 'Ada', person.id],
      ['prompt.created', 'mine', person.id],
      ['key.created', 'Ada', person.id],
      ['person.added', 'Ada', person.id],
    ])
    assert.equal((await service.store.audit.verify(tenant.organisation.id)).brokenAt, null)
  })

  test('a person switches between their organisations, and into no other', async () => {
    const email = 'in-several@example.com'
    const [first, second, third] = [await service.tenant(), await service.tenant(), await service.tenant()]
    const browser = await browserOf(await join(first, 'admin', { email, subject: 'https://issuer 1' }))
    await join(second, 'viewer', { email })
    // The same address, but another account of the provider.
    await join(third, 'viewer', { email, subject: 'https://issuer 2' })
    const { person } = (await browser.send('GET', '/session')).json().data
    const ids = person.organisations.map(({ id }: { id: number }) => id)
    assert.deepEqual(ids.toSorted(), [first.organisation.id, second.organisation.id].toSorted())
    const switchTo = (id: number) => browser.send('PUT', '/session/organisation', { organisation_id: id })
    assertError(await switchTo(third.organisation.id), 422, 'validation_error')
    const switched = await switchTo(second.organisation.id)
    assert.equal(switched.json().data.organisation.id, second.organisation.id)
    const { data } = (await browser.send('GET', '/session')).json()
    assert.deepEqual([data.organisation.id, data.person.role], [second.organisation.id, 'viewer'])
    assert.deepEqual(
      (await service.store.sessions.page(first.organisation.id, null, service.now, { page: '1', limit: 1 })).sessions,
      [],
    )
  })

  test('people see and end their own sessions, and admins everyone’s', async () => {
    const tenant = await service.tenant('free', 'admin')
    const person = await join(tenant, 'member')
    const [laptop, phone] = [await browserOf(person), await browserOf(person)]
    const admin = await browserOf(await join(tenant, 'admin', { email: 'admin@example.com' }))
    const list = async (browser: typeof laptop, query = '') =>
      (await browser.send('GET', `/sessions${query}`)).json().data
    const own = await list(laptop)
    assert.deepEqual(
      own.map(({ name, client }: Record<string, string>) => [name, client]),
      [
        ['Ada', 'Test'],
        ['Ada', 'Test'],
      ],
    )
    assertError(await laptop.send('GET', '/sessions?everyone=true'), 403, 'forbidden')
    assert.equal((await list(admin, '?everyone=true')).length, 3)
    const [ofAdmin] = await list(admin)
    assertError(await laptop.send('DELETE', `/sessions/${ofAdmin.id}`), 404, 'not_found')
    const other = own.find(({ is_current }: { is_current: boolean }) => !is_current)
    assert.equal((await laptop.send('DELETE', `/sessions/${other.id}`)).statusCode, 204)
    const statuses = async () => [
      (await laptop.send('GET', '/session')).statusCode,
      (await phone.send('GET', '/session')).statusCode,
    ]
    assert.deepEqual(await statuses(), [200, 401])
    assert.equal((await admin.send('DELETE', `/sessions/${(await list(laptop))[0].id}`)).statusCode, 204)
    assert.deepEqual(await statuses(), [401, 401])
  })

  test('a key that is limited to prompts does not see who the people are', async () => {
    const tenant = await service.tenant('free', 'admin')
    await join(tenant, 'viewer')
    const payload = { role: 'reader', prompts: 'prompts/**' }
    const created = await service.app.inject({ method: 'POST', url: '/api/v1/keys', headers: tenant.headers, payload })
    const headers = { authorization: `Bearer ${created.json().data.key}` }
    assertError(await service.app.inject({ url: '/api/v1/people', headers }), 403, 'forbidden')
  })

  test('an address joins an organisation once, also if two sign in at the same time', async () => {
    const tenant = await service.tenant()
    const results = await Promise.allSettled([join(tenant, 'viewer'), join(tenant, 'viewer')])
    assert.deepEqual(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
    const people = await service.store.people.list(tenant.organisation.id)
    assert.equal(people.length, 1)
    await service.store.people.disable(people[0] as Person, service.now, operator)
    assert.deepEqual(await service.store.keys.list(tenant.organisation.id, people[0]?.id), [])
  })
})
