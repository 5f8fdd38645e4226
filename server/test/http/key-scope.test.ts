import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onOneEngine } from '../../../testing/engines.ts'
import {
  type DocumentedOperation,
  documentedOperations,
  type PreparedRequest,
  prepareRequest,
  sendRequest,
} from '../../../testing/operations.ts'
import { allRows } from '../../../testing/rows.ts'
import { connectedScenario } from '../../../testing/scenario.ts'
import { type Tenant, useService } from '../../../testing/service.ts'
import { generateSecret, newApiKey, type Role, requestRoles } from '../../src/domain/access/api-key.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { newPrompt, type Prompt } from '../../src/domain/prompt.ts'

onOneEngine('A key that is limited to prompts', (engine) => {
  const service = useService(engine)

  async function limitedKey({ organisation }: Pick<Tenant, 'organisation'>, prompts: string, role: Role = 'standard') {
    const secret = generateSecret()
    const terms = {
      organisationId: organisation.id,
      name: 'limited',
      role,
      prompts,
      createdAt: service.now,
      expiresAt: null,
    }
    await service.store.keys.create(newApiKey(secret, terms), operator)
    return { authorization: `Bearer ${secret}` }
  }

  const get = (url: string, headers: Record<string, string>) => service.app.inject({ url: `/api/v1${url}`, headers })

  const createPrompt = ({ organisation }: Tenant, name: string): Promise<Prompt> =>
    service.store.prompts.create(newPrompt(organisation.id, name, service.now), operator)

  test('gets the same 404 for every other prompt as for an unknown one, on every operation and with every role', async (t) => {
    const operations = documentedOperations((await service.app.inject('/openapi.json')).json())
    const roles = requestRoles.filter((role) => role !== 'admin')
    const cases: { documented: DocumentedOperation; prepared: PreparedRequest; hidden: Record<string, string>[] }[] = []
    for (const documented of operations.filter(({ path }) => path.includes('{prompt_id}'))) {
      const prepared = await prepareRequest(service, documented)
      const hidden = await Promise.all(roles.map((role) => limitedKey(prepared.tenant, 'other/**', role)))
      cases.push({ documented, prepared, hidden })
    }
    const state = await allRows(service.url)
    const visible: (() => Promise<void>)[] = []
    for (const { documented, prepared, hidden } of cases) {
      const send = (headers: Record<string, string>, promptId = prepared.parameters.prompt_id as string) =>
        sendRequest(service, documented, {
          ...prepared,
          headers: { ...prepared.headers, ...headers },
          parameters: { ...prepared.parameters, prompt_id: promptId },
        })
      await t.test(documented.name, async () => {
        for (const [i, role] of roles.entries()) {
          const response = await send(hidden[i] as Record<string, string>)
          if (response.statusCode === 403) continue
          const unknown = await send(hidden[i] as Record<string, string>, `pmt_${'0'.repeat(24)}`)
          assert.deepEqual([response.statusCode, response.body], [404, unknown.body], role)
          assert.deepEqual(Object.keys(response.headers), Object.keys(unknown.headers))
          visible.push(async () => {
            const { statusCode, body } = await send(await limitedKey(prepared.tenant, 'prompts/*', role))
            assert.equal(statusCode, documented.success.status, `${documented.name}, ${role}: ${body}`)
          })
        }
      })
    }
    assert.deepEqual(await allRows(service.url), state, 'a rejected request changed the database')
    for (const check of visible) await check()
    const tried = visible.length
    assert.ok(tried >= 20, `only ${tried} combinations of operation and role reached the prompt`)
  })

  test('lists its own prompts only, with the right totals, in every order and search', async () => {
    const tenant = await service.tenant()
    for (const name of ['support/a', 'support/b', 'support/deep/c', 'billing/a']) await createPrompt(tenant, name)
    const names = async (query: string, headers: Record<string, string>) => {
      const { data, pagination } = (await get(`/prompts${query}`, headers)).json()
      return [data.map(({ name }: Prompt) => name), pagination.total_count, pagination.total_pages]
    }
    const headers = await limitedKey(tenant, 'support/**', 'reader')
    assert.deepEqual(await names('', headers), [['support/a', 'support/b', 'support/deep/c'], 3, 1])
    assert.deepEqual(await names('?limit=2&page=2', headers), [['support/deep/c'], 3, 2])
    assert.deepEqual(await names('?sort=-name', headers), [['support/deep/c', 'support/b', 'support/a'], 3, 1])
    assert.deepEqual(await names('?q=A', headers), [['support/a'], 1, 1])
    assert.deepEqual(await names('?q=billing', headers), [[], 0, 0])
    assert.deepEqual(await names('', await limitedKey(tenant, 'support/*')), [['support/a', 'support/b'], 2, 1])
    assert.deepEqual(await names('', await limitedKey(tenant, 'nothing')), [[], 0, 0])
    const all = (await get('/prompts', tenant.headers)).json()
    assert.equal(all.pagination.total_count, 5)
  })

  test('sees a prompt by its path as well as by its name, and from the next request after a rename', async () => {
    const scenario = await connectedScenario(service)
    const { tenant } = scenario
    const id = await scenario.promptId('prompts/p.md')
    const [byPath, byName] = [await limitedKey(tenant, 'prompts/**'), await limitedKey(tenant, 'Support *')]
    const rename = (name: string) =>
      service.app.inject({ method: 'PATCH', url: `/api/v1/prompts/${id}`, headers: tenant.headers, payload: { name } })
    const statuses = async () =>
      Promise.all([byPath, byName].map(async (headers) => (await get(`/prompts/${id}/history`, headers)).statusCode))
    await rename('Billing answers')
    assert.deepEqual(await statuses(), [200, 404])
    await rename('Support answers')
    assert.deepEqual(await statuses(), [200, 200])
    await rename('Billing answers')
    assert.deepEqual(await statuses(), [200, 404])
  })

  test('gives its sessions the same limit', async () => {
    const tenant = await service.tenant()
    const other = await createPrompt(tenant, 'other/b.md')
    const signedIn = await service.app.inject({
      method: 'POST',
      url: '/api/v1/session',
      headers: await limitedKey(tenant, 'other/*', 'reader'),
    })
    assert.equal(signedIn.json().data.key.prompts, 'other/*')
    const [cookie = ''] = String(signedIn.headers['set-cookie']).split(';')
    assert.equal((await get(`/prompts/${tenant.prompt.publicId}`, { cookie })).statusCode, 404)
    assert.equal((await get(`/prompts/${other.publicId}`, { cookie })).statusCode, 200)
    assert.equal((await get('/prompts', { cookie })).json().pagination.total_count, 1)
  })

  test('cannot tell a hidden prompt from an unknown one by the lookups they cause', async () => {
    const tenant = await service.tenant()
    const headers = await limitedKey(tenant, 'other/**')
    const { caches } = service.store.stats()
    const missesOf = async (id: string) => {
      await get(`/prompts/${id}/history`, headers)
      const before = caches.prompts.misses
      await get(`/prompts/${id}/history`, headers)
      return caches.prompts.misses - before
    }
    assert.deepEqual([await missesOf(tenant.prompt.publicId), await missesOf(`pmt_${'0'.repeat(24)}`)], [1, 1])
  })

  test('keeps its limit when it is rotated, and an admin key cannot have one', async () => {
    const tenant = await service.tenant('free', 'admin')
    const send = (path: string, payload: object) =>
      service.app.inject({ method: 'POST', url: `/api/v1/keys${path}`, headers: tenant.headers, payload })
    const { id, prompts } = (await send('', { role: 'recorder', prompts: 'a/*' })).json().data
    assert.equal(prompts, 'a/*')
    assert.equal((await send(`/${id}/rotate`, {})).json().data.prompts, 'a/*')
    assert.equal((await send('', { role: 'admin', prompts: 'a/*' })).statusCode, 422)
    const listed = (await get('/keys', tenant.headers)).json().data
    assert.deepEqual(
      listed.map((key: { prompts: string | null }) => key.prompts),
      [null, 'a/*', 'a/*'],
    )
    const [entry] = (await get('/audit?action=key.created', tenant.headers)).json().data
    assert.deepEqual(entry.details, { role: 'recorder', prompts: 'a/*' })
  })
})
