import assert from 'node:assert/strict'
import { test } from 'node:test'
import { foundEntrySchema } from '../../../contract/history.ts'
import { assertError, assertMatchesSchema } from '../../../testing/assertions.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { useService } from '../../../testing/service.ts'
import { generateSecret, newApiKey } from '../../src/domain/access/api-key.ts'
import { operator } from '../../src/domain/access/audit.ts'

onOneEngine('A history entry by its ID alone', (engine) => {
  const service = useService(engine)
  const get = (headers: Record<string, string>, id: number | string) =>
    service.app.inject({ url: `/api/v1/history/${id}`, headers })

  test('it is returned with its prompt', async () => {
    const tenant = await service.tenant()
    const { id } = await tenant.recordEntry()
    const response = await get(tenant.headers, id)
    assert.equal(response.statusCode, 200, response.body)
    assertMatchesSchema(foundEntrySchema, response)
    const [listed] = (await tenant.history()).json().data
    const prompt = { id: tenant.prompt.publicId, name: tenant.prompt.name }
    assert.deepEqual(response.json(), { data: { prompt, entry: listed } })
  })

  test('entries of another organisation, of a deleted prompt, of one hidden from the key, and unknown ones are not found', async () => {
    const [tenant, other] = [await service.tenant(), await service.tenant()]
    const { id } = await tenant.recordEntry()
    const secret = generateSecret()
    const { id: organisationId } = tenant.organisation
    const limited = {
      organisationId,
      name: 'limited',
      role: 'reader' as const,
      prompts: 'elsewhere/**',
      expiresAt: null,
    }
    await service.store.keys.create(newApiKey(secret, { ...limited, createdAt: service.now }), operator)
    const notFound = [
      await get(other.headers, id),
      await get({ authorization: `Bearer ${secret}` }, id),
      await get(tenant.headers, id + 1_000_000),
      await get(tenant.headers, 'x'),
      await get(tenant.headers, 0),
    ]
    await service.store.prompts.delete(tenant.prompt, service.now, operator)
    notFound.push(await get(tenant.headers, id))
    for (const response of notFound) assertError(response, 404, 'not_found', /./)
  })
})
